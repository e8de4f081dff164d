"""A new kind of state needs a descriptor, a handle and a line in the page of state kinds: here is one (S1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.errors import ProgramError, StateError
from penstock.core.state.keyed import State, StateDescriptor, ValueStateDescriptor
from penstock.datastream import KeyedProcessFunction, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.state import StateTtlConfig
from penstock.datastream.window import CountTumblingWindowAssigner
from penstock.local.local_job import LocalJob
from penstock.runtime.state.handles import PagedValueState
from penstock.runtime.state.registry import STATE_KINDS, StateKind
from penstock.runtime.state.space import StateSpace
from penstock.state import open_state
from penstock.testing import collect, local_job


class TallyStateDescriptor(StateDescriptor):
    """Names a `TallyState`."""

    kind = "tally"


class TallyState(State):
    """How often something was counted."""

    def __init__(self, space: StateSpace, table: str) -> None:
        self._value = PagedValueState(space, table)

    def count(self) -> int:
        total: int = (self._value.value() or 0) + 1
        self._value.update(total)
        return total

    def clear(self) -> None:
        self._value.clear()


@pytest.fixture(autouse=True)
def tally_is_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = StateKind(TallyStateDescriptor, lambda space, table, descriptor: TallyState(space, table))
    monkeypatch.setitem(STATE_KINDS, "tally", kind)


class Counting(KeyedProcessFunction):
    def __init__(self, ttl: bool = False) -> None:
        self.ttl = ttl

    def open(self, runtime_context: Any) -> None:
        descriptor = TallyStateDescriptor("seen")
        if self.ttl:
            descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        self.seen = runtime_context.get_partitioned_state(descriptor)

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        yield ctx.get_current_key(), self.seen.count()


class Remembering(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        yield value


def job(function: KeyedProcessFunction, savepoint: str | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    numbers = env.from_collection(list(range(6))).uid("numbers")
    collect(numbers.key_by(lambda v: v % 2).process(function).uid("seen"), "out")
    return local_job(env, savepoint=savepoint)


def test_it_counts_by_key() -> None:
    run = job(Counting())
    run.run()
    assert sorted(run.results["out"]) == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]


def test_it_survives_in_a_savepoint_and_can_be_looked_at(tmp_path: Path) -> None:
    first = job(Counting())
    first.run_batch(4)
    path = first.savepoint(str(tmp_path / "saved")).path
    view = open_state(path)
    assert {op.uid: dict(op.states) for op in view.metadata.operators if op.keyed} == {"seen": {"seen": "tally"}}
    assert list(view.keyed("seen")["kind"]) == ["tally", "tally"]
    assert list(view.keyed("seen")["value"]) == [2, 2]
    second = job(Counting(), path)
    second.run()
    assert sorted(second.results["out"]) == [(0, 3), (1, 3)]


def test_a_change_of_kind_is_refused(tmp_path: Path) -> None:
    first = job(Counting())
    first.run_batch(4)
    path = first.savepoint(str(tmp_path / "saved")).path
    with pytest.raises(StateError, match=r"uses the state 'seen' as value state, but .* holds tally state"):
        job(Remembering(), path).run()


def test_a_time_to_live_is_refused_where_the_kind_has_none() -> None:
    with pytest.raises(ProgramError, match="the tally state 'seen' cannot have a time to live"):
        job(Counting(ttl=True)).run()


class Tallied(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[tuple[Any, int]]:
        yield key, context.global_state().get_partitioned_state(TallyStateDescriptor("fired")).count()


def test_windows_have_it_too() -> None:
    env = StreamExecutionEnvironment()
    windows = env.from_collection(list(range(8))).key_by(lambda v: v % 2).window(CountTumblingWindowAssigner.of(2))
    collect(windows.process(Tallied()).uid("w"), "out")
    run = local_job(env)
    run.run()
    assert sorted(run.results["out"]) == [(0, 1), (0, 2), (1, 1), (1, 2)]
