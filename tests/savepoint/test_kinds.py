"""F4: a state that has changed its kind is refused, not started empty (S1)."""

from __future__ import annotations

import sys
from collections import namedtuple
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Time, WatermarkStrategy
from penstock.core.errors import SavepointError, StateError
from penstock.datastream import (
    AggregateFunction,
    CheckpointedFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import CountTrigger, GlobalWindows, TumblingEventTimeWindows
from penstock.state import StateEditor, open_state
from penstock.testing import LocalJob, collect, local_job
from tests.savepoint.test_refusals import changed_metadata


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, one: int, other: int) -> int:
        return one + other


DESCRIPTORS: dict[str, Any] = {
    "value": lambda: ValueStateDescriptor("seen"),
    "list": lambda: ListStateDescriptor("seen"),
    "map": lambda: MapStateDescriptor("seen"),
    "reducing": lambda: ReducingStateDescriptor("seen", max),
    "aggregating": lambda: AggregatingStateDescriptor("seen", Total()),
}


class Seen(KeyedProcessFunction):
    """Puts every record into a state of some kind; asks for it when it opens, or only when it needs it."""

    def __init__(self, kind: str, late: bool = False, ttl: bool = False) -> None:
        self.kind, self.late, self.ttl = kind, late, ttl

    def open(self, runtime_context: Any) -> None:
        self.context = runtime_context
        if not self.late:
            self.state()

    def state(self) -> Any:
        descriptor = DESCRIPTORS[self.kind]()
        if self.ttl:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        return self.context.get_partitioned_state(descriptor)

    def process_element(self, value: int, ctx: Any) -> Any:
        state = self.state()
        if self.kind == "value":
            state.update(value)
        elif self.kind == "map":
            state.put(value, value)
        else:
            state.add(value)
        yield value


def job(function: Seen, savepoint: str | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    numbers = env.from_collection(list(range(20))).uid("numbers")
    collect(numbers.key_by(lambda v: v % 3).process(function).uid("seen"), "out")
    return local_job(env, 2, savepoint=savepoint)


def saved(kind: str, tmp_path: Path, ttl: bool = False) -> str:
    first = job(Seen(kind, ttl=ttl))
    first.run_batch(10)
    return first.savepoint(str(tmp_path / kind)).path


def without_kinds(path: str) -> str:
    """As a version wrote it that did not note the kinds of states."""
    operators = open_state(path).metadata.operators
    changed_metadata(path, operators=[{**asdict(op), "states": {}} for op in operators])
    return path


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "found in pages"])
@pytest.mark.parametrize("late", [False, True], ids=["at once", "when needed"])
@pytest.mark.parametrize(("before", "now"), list(permutations(DESCRIPTORS, 2)))
def test_every_change_of_kind_is_refused(before: str, now: str, late: bool, noted: bool, tmp_path: Path) -> None:
    """F4"""
    path = saved(before, tmp_path)
    second = job(Seen(now, late), path if noted else without_kinds(path))
    with pytest.raises(StateError) as caught:
        second.run()
    assert str(caught.value) == (
        f"Operator 'KeyedProcess' (uid seen) uses the state 'seen' as {now} state, but its checkpoint or savepoint "
        f"holds {before} state under that name, which would be lost: use a {before} state descriptor as before, or "
        f"give the {now} state another name"
    )


@pytest.mark.parametrize("kind", DESCRIPTORS)
@pytest.mark.parametrize(("before", "now"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_time_to_live_is_no_change_of_kind(kind: str, before: bool, now: bool, tmp_path: Path) -> None:
    """S2"""
    second = job(Seen(kind, ttl=now), saved(kind, tmp_path, ttl=before))
    second.run()
    assert sorted(second.results["out"]) == list(range(10, 20))


def test_a_kind_is_remembered_from_batch_to_batch(tmp_path: Path) -> None:
    """Also of a state that the last program did not use, and through several savepoints."""
    other = job(Seen("list"), saved("list", tmp_path))
    other.run_batch(2)
    path = other.savepoint(str(tmp_path / "two")).path
    assert open_state(path).metadata.operator("seen").states == {"seen": "list"}
    with pytest.raises(StateError, match="as value state, but its checkpoint or savepoint holds list state"):
        job(Seen("value"), path).run()


def test_state_that_was_edited_has_the_kinds_that_it_has_then(tmp_path: Path) -> None:
    """F5"""
    editor = StateEditor(open_state(saved("value", tmp_path)))
    with editor.keyed("seen") as state:
        for key in [0, 1, 2]:
            state.set_key(key)
            state.get_state(ValueStateDescriptor("seen")).clear()
            state.get_list_state(ListStateDescriptor("others")).add(1)
    view = editor.write(str(tmp_path / "edited"))
    assert view.metadata.operator("seen").states == {"others": "list"}
    job(Seen("map"), view.savepoint.path).run()


# -- windows --------------------------------------------------------------------------------------


class Listed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield len(list(elements))


FUNCTIONS: dict[str, Any] = {
    "reduce": lambda windowed: windowed.reduce(lambda a, b: a + b),
    "aggregate": lambda windowed: windowed.aggregate(Total()),
    "records": lambda windowed: windowed.process(Listed()),
}
WINDOWS: dict[str, Any] = {
    "time": lambda keyed: keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(1000))),
    "global": lambda keyed: keyed.window(GlobalWindows.create()).trigger(CountTrigger(100)),
}


def windowed(windows: str, function: str) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    stream = env.from_collection(list(range(20))).uid("numbers").assign_timestamps_and_watermarks(strategy).uid("time")
    made = FUNCTIONS[function](WINDOWS[windows](stream.key_by(lambda v: v % 3)))
    collect(made.uid("windows"), "out")
    return env


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize(("before", "now"), list(permutations(FUNCTIONS, 2)))
def test_windows_that_kept_something_else_are_refused(windows: str, before: str, now: str, tmp_path: Path) -> None:
    """F4: what was accumulated by one kind of function means nothing to another."""
    first = local_job(windowed(windows, before), 2)
    first.run_batch(10)
    path = first.savepoint(str(tmp_path / "one")).path
    with pytest.raises(SavepointError, match=r"uid windows.* kept .* and would now"):
        local_job(windowed(windows, now), 2, savepoint=path)
    local_job(windowed(windows, before), 2, savepoint=path).run()


# -- operator state -------------------------------------------------------------------------------


class Kept(MapFunction, CheckpointedFunction):
    def __init__(self, union: bool) -> None:
        self.union = union

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        get = store.get_union_list_state if self.union else store.get_list_state
        self.state = get(ListStateDescriptor("kept"))

    def snapshot_state(self, context: Any) -> None:
        self.state.update([1])

    def map(self, value: int) -> int:
        return value


@pytest.mark.parametrize("union", [False, True])
def test_a_list_that_becomes_a_union_list_is_refused(union: bool, tmp_path: Path) -> None:
    """F4, S3: as in Flink."""

    def kept(union: bool) -> StreamExecutionEnvironment:
        env = StreamExecutionEnvironment()
        collect(env.from_collection(list(range(20))).uid("numbers").rebalance().map(Kept(union)).uid("kept"), "out")
        return env

    first = local_job(kept(union), 2)
    first.run_batch(10)
    path = first.savepoint(str(tmp_path / "one")).path
    now, before = ("a list", "a union list") if union else ("a union list", "a list")
    with pytest.raises(StateError, match=rf"\(uid kept\) uses the operator state 'kept' as {now}, .* holds {before}"):
        local_job(kept(not union), 2, savepoint=path).run()


# -- keys -----------------------------------------------------------------------------------------


def test_keys_whose_class_has_changed_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F4: their fields are in another order, so they would be routed elsewhere and find no state."""

    def keyed(cls: Any, savepoint: str | None = None) -> LocalJob:
        cls.__module__, cls.__qualname__ = __name__, "Key"
        monkeypatch.setattr(sys.modules[__name__], "Key", cls, raising=False)
        env = StreamExecutionEnvironment()
        numbers = env.from_collection(list(range(40))).uid("numbers")
        keyed = numbers.key_by(lambda v: cls(low=v % 3, high="x"))
        collect(keyed.process(Seen("value")).uid("seen"), "out")
        return local_job(env, 2, savepoint=savepoint)

    first = keyed(namedtuple("Key", "low high"))
    first.run_batch(20)
    path = first.savepoint(str(tmp_path / "one")).path
    keyed(namedtuple("Key", "low high"), path).run()
    with pytest.raises(StateError, match=r"\(uid seen\) has keyed state of the key Key\(.*, which is routed else"):
        keyed(namedtuple("Key", "high low"), path).run()
