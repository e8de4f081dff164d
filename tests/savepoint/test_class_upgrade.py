"""F4: a job goes on though the class of its records has changed, wherever state holds them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.cep import CEP, Pattern
from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.core.errors import StateError
from penstock.datastream import (
    AggregateFunction,
    CheckpointedFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.testing import collect, local_job

Thing: Any = None

OLD_FIELDS = ["low", "high"]
NEW_FIELDS = ["high", ("low", int), ("more", list, field(default_factory=list))]


class OldTuple(NamedTuple):
    low: int
    high: int


class NewTuple(NamedTuple):
    high: int
    low: int
    more: tuple[int, ...] = ()


CLASSES: dict[str, tuple[type, type]] = {
    "frozen slots": (
        make_dataclass("Thing", OLD_FIELDS, frozen=True, slots=True),
        make_dataclass("Thing", NEW_FIELDS, frozen=True, slots=True),
    ),
    "slots": (make_dataclass("Thing", OLD_FIELDS, slots=True), make_dataclass("Thing", NEW_FIELDS, slots=True)),
    "plain": (make_dataclass("Thing", OLD_FIELDS), make_dataclass("Thing", NEW_FIELDS)),
    "named tuple": (OldTuple, NewTuple),
}


@pytest.fixture(params=CLASSES)
def versions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the old or the new class the one that is called `Thing`."""

    def use(number: int) -> None:
        cls: Any = CLASSES[request.param][number]
        cls.__module__, cls.__qualname__, cls.__name__ = __name__, "Thing", "Thing"
        monkeypatch.setattr(sys.modules[__name__], "Thing", cls)

    use(0)
    return use


def told(thing: Any) -> tuple[int, int, int]:
    return thing.low, thing.high, len(getattr(thing, "more", ()))


class Totals(AggregateFunction):
    def create_accumulator(self) -> Any:
        return Thing(low=0, high=0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return Thing(low=accumulator.low + value.low, high=accumulator.high + value.high)

    def get_result(self, accumulator: Any) -> Any:
        return told(accumulator)

    def merge(self, one: Any, other: Any) -> Any:
        return self.add(one, other)


def added(one: Any, other: Any) -> Any:
    return Thing(low=one.low + other.low, high=one.high + other.high)


class EveryState(KeyedProcessFunction):
    """Puts the first record into state of every kind; tells at each later one what is there."""

    def open(self, runtime_context: Any) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value"))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list"))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map"))
        self.reducing = runtime_context.get_reducing_state(ReducingStateDescriptor("reducing", added))
        self.aggregating = runtime_context.get_aggregating_state(AggregatingStateDescriptor("aggregating", Totals()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        kept = self.value.value()
        if kept is None:
            self.value.update({"in": [value]})
            self.list.add(value)
            self.map.put("k", value)
            self.reducing.add(value)
            self.aggregating.add(value)
            return
        yield told(kept["in"][0])
        yield from map(told, self.list.get())
        yield told(self.map.get("k"))
        yield told(self.reducing.get())
        yield self.aggregating.get()


class Kept(MapFunction, CheckpointedFunction):
    """Tells what its operator state holds."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("kept"))
        self.items = list(self.state.get())

    def snapshot_state(self, context: Any) -> None:
        self.state.update(self.items)

    def map(self, value: Any) -> Any:
        self.items = self.items or [value]
        return told(self.items[0])


RULES = MapStateDescriptor("rules")


class Ruled(KeyedBroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        rule = ctx.get_broadcast_state(RULES).get("rule")
        if rule is not None:
            yield told(rule)

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        state = ctx.get_broadcast_state(RULES)
        if not state.contains("rule"):
            state.put("rule", value)


class Listed(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield told(next(iter(elements)))


class Joined(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[Any]:
        if left.low == 1:
            yield told(left)


def stream(env: StreamExecutionEnvironment) -> Any:
    """Two records: the old program reads the first, the new one the second."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda thing, _: thing.low)
    things = env.from_collection([(1, 10), (2, 20)]).uid("numbers").map(lambda p: Thing(low=p[0], high=p[1]))
    return things.assign_timestamps_and_watermarks(strategy).uid("time")


def keyed(env: StreamExecutionEnvironment) -> Any:
    return stream(env).key_by(lambda thing: 0)


def broadcast(env: StreamExecutionEnvironment) -> Any:
    rules = env.from_collection([(1, 10), (2, 20)]).uid("rules").map(lambda p: Thing(low=p[0], high=p[1]))
    return keyed(env).connect(rules.broadcast(RULES)).process(Ruled())


def pattern(env: StreamExecutionEnvironment) -> Any:
    found = Pattern.begin("one").where(lambda t: t.low == 1).next("two").where(lambda t: t.low == 2)
    return CEP.pattern(keyed(env), found).select(lambda match: told(match["one"][0]))


def joined(env: StreamExecutionEnvironment) -> Any:
    both = keyed(env)
    return both.interval_join(both).between(Time.milliseconds(1), Time.milliseconds(5)).process(Joined())


WINDOW = TumblingEventTimeWindows.of(Time.milliseconds(100))
SLIDING = SlidingEventTimeWindows.of(Time.milliseconds(100), Time.milliseconds(100))
SESSION = EventTimeSessionWindows.with_gap(Time.milliseconds(50))
FIRST, BOTH = (1, 10, 0), (3, 30, 0)

PROGRAMS: dict[str, tuple[Any, list[Any]]] = {
    "keyed state": (lambda env: keyed(env).process(EveryState()), [FIRST] * 5),
    "rolling reduce": (lambda env: keyed(env).reduce(added).map(told), [BOTH]),
    "operator state": (lambda env: stream(env).rebalance().map(Kept()), [FIRST]),
    "broadcast state": (broadcast, [FIRST]),
    "window, reduced": (lambda env: keyed(env).window(WINDOW).reduce(added).map(told), [BOTH]),
    "window, aggregated": (lambda env: keyed(env).window(SLIDING).aggregate(Totals()), [BOTH]),
    "window, records": (lambda env: keyed(env).window(WINDOW).process(Listed()), [FIRST]),
    "session, reduced": (lambda env: keyed(env).window(SESSION).reduce(added).map(told), [BOTH]),
    "pattern": (pattern, [FIRST]),
    "interval join": (joined, [FIRST]),
}


def job(name: str, savepoint: str | None = None) -> Any:
    env = StreamExecutionEnvironment()
    collect(PROGRAMS[name][0](env).uid("operator"), "out")
    return local_job(env, savepoint=savepoint)


@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_read_by_the_new_class(name: str, versions: Any, tmp_path: Path) -> None:
    """F4: fields have changed places, and there is one more."""
    first = job(name)
    first.run_batch(1)
    assert first.results.get("out", []) in ([], [FIRST])
    path = first.savepoint(str(tmp_path / "one")).path
    versions(1)
    second = job(name, path)
    second.run()
    assert second.results["out"] == PROGRAMS[name][1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_field_that_is_gone_is_refused_wherever_it_lies(name: str, monkeypatch: Any, tmp_path: Path) -> None:
    """F4"""
    longer = [*OLD_FIELDS, ("gone", int, 0)]
    for fields in (longer, OLD_FIELDS):
        cls = make_dataclass("Thing", fields, frozen=True, slots=True)
        cls.__module__ = __name__
        monkeypatch.setattr(sys.modules[__name__], "Thing", cls)
        if fields is longer:
            first = job(name)
            first.run_batch(1)
            path = first.savepoint(str(tmp_path / "one")).path
    with pytest.raises(StateError, match="it no longer has 'gone'"):
        job(name, path).run()


def test_rows_are_read_by_their_names(tmp_path: Path) -> None:
    """F4: whatever order the program declares now."""

    class Remember(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            self.state = runtime_context.get_state(ValueStateDescriptor("row"))

        def process_element(self, value: Row, ctx: Any) -> Iterator[Any]:
            kept = self.state.value() or value
            self.state.update(kept)
            yield kept["low"], kept["high"]

    def rows(names: list[str], savepoint: str | None = None) -> Any:
        env = StreamExecutionEnvironment()
        made = env.from_collection([1, 2]).uid("numbers")
        typed = Types.ROW_NAMED(names, [Types.INT(), Types.INT()])
        stream = made.map(lambda n: Row(**{name: n * (10 if name == "high" else 1) for name in names}), typed)
        collect(stream.key_by(lambda row: 0).process(Remember()).uid("operator"), "out")
        return local_job(env, savepoint=savepoint)

    first = rows(["low", "high"])
    first.run_batch(1)
    second = rows(["high", "low"], first.savepoint(str(tmp_path / "one")).path)
    second.run()
    assert second.results["out"] == [(1, 10)]
