"""S3: list and union-list state of subtasks, in the local host and the harness."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.common.errors import ProgramError, UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.clock import ManualClock
from penstock.datastream import (
    CheckpointedFunction,
    FilterFunction,
    FlatMapFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from penstock.datastream.state import ListStateDescriptor, StateTtlConfig, ValueStateDescriptor
from penstock.datastream.window import CountTumblingWindowAssigner
from penstock.local.local_job import LocalJob
from penstock.runtime.operator_state import BLOCK_BYTES
from penstock.runtime.stage import StageTask
from penstock.runtime.state.store_keys import BlobKind, kind_of
from penstock.testing import KeyedOneInputHarness, OneInputHarness, Snapshot
from penstock.testing.jobs import collect, local_job
from tests.effort import examples


class Running(CheckpointedFunction):
    """A running count of a subtask's records."""

    union = False

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        store = context.get_operator_state_store()
        get = store.get_union_list_state if self.union else store.get_list_state
        self.state = get(ListStateDescriptor("count"))
        self.restored = list(self.state.get())
        self.count = sum(self.restored)
        self.was_restored = context.is_restored()

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        self.state.update([self.count] if self.count else [])

    def step(self, value: Any) -> Any:
        self.count += 1
        return value, self.count


class RunningMap(Running, MapFunction):
    def map(self, value: Any) -> Any:
        return self.step(value)


class RunningFlatMap(Running, FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        return [self.step(value)]


class RunningFilter(Running, FilterFunction):
    def filter(self, value: Any) -> bool:
        return bool(self.step(value)[1] % 2)


class RunningProcess(Running, ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return [self.step(value)]


def job_of(function: Any, numbers: int = 8, parallelism: int = 1, keyed: bool = False) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream: Any = env.from_sequence(1, numbers)
    stream = stream.key_by(lambda v: v % 3) if keyed else stream
    kind = type(function).__name__
    apply = "flat_map" if "FlatMap" in kind else "map" if "Map" in kind else "filter" if "Filter" in kind else "process"
    collect(getattr(stream, apply)(function), "out")
    return local_job(env, parallelism, clock=ManualClock())


@pytest.mark.parametrize("function", [RunningMap, RunningFlatMap, RunningProcess])
@pytest.mark.parametrize("restart", [False, True])
def test_a_list_survives_batches_and_restarts(function: Any, restart: bool) -> None:
    """S3, F1: the count goes on from what the last durable batch left, in a run or a new one."""
    job = job_of(function())
    for _ in range(4):
        job.run_batch(2, commit=False)
        job.run_batch(2)
        if restart:
            job.restart()
    assert job.results["out"] == [(n, n) for n in range(1, 9)]
    assert [kind_of(key) for key in job.state_blobs()] == [BlobKind.LIST]


def test_a_filter_keeps_operator_state() -> None:
    """S3"""
    job = job_of(RunningFilter())
    job.run_batch(3)
    job.restart()
    job.run()
    assert job.results["out"] == [1, 3, 5, 7]


def test_rich_functions_after_key_by_keep_operator_state_too() -> None:
    """S3, O1: one count for all keys of a subtask."""
    job = job_of(RunningMap(), keyed=True)
    job.run_batch(3)
    job.restart()
    job.run()
    assert sorted(count for _, count in job.results["out"]) == list(range(1, 9))


def test_an_operator_with_state_does_not_run_beside_the_source() -> None:
    """S3, G2: level 0 has no state."""
    assert job_of(RunningMap()).plan.stage_count == 1
    env = StreamExecutionEnvironment()
    collect(env.from_sequence(1, 3).map(lambda v: v), "out")
    assert local_job(env).plan.stage_count == 0


class RunningAllApply(Running, AllWindowFunction):
    def apply(self, window: Any, inputs: Any) -> Any:
        return [self.step(list(inputs))]


class RunningAllProcess(Running, ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        return [self.step(list(elements))]


@pytest.mark.parametrize("kind", ["apply", "process"])
def test_functions_of_window_all_keep_operator_state_too(kind: str) -> None:
    """S3, W1"""
    env = StreamExecutionEnvironment()
    windows = env.from_sequence(1, 6).window_all(CountTumblingWindowAssigner.of(2))
    collect(windows.apply(RunningAllApply()) if kind == "apply" else windows.process(RunningAllProcess()), "out")
    job = local_job(env, clock=ManualClock())
    job.run_batch(2)
    job.restart()
    job.run()
    assert job.results["out"] == [([1, 2], 1), ([3, 4], 2), ([5, 6], 3)]


class Both(Running, KeyedProcessFunction):
    """Operator state and keyed state, got in `initialize_state`."""

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        super().initialize_state(context)
        self.seen = context.get_keyed_state_store().get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.seen.update((self.seen.value() or 0) + 1)
        yield value, self.seen.value(), self.step(value)[1]


def test_keyed_state_beside_operator_state() -> None:
    """S3, S1"""
    first = KeyedOneInputHarness(Both(), lambda v: v)
    first.push_all([("a", None), ("b", None), ("a", None)])
    second = KeyedOneInputHarness(Both(), lambda v: v, snapshot=first.snapshot())
    second.push("a")
    assert second.output() == [("a", 3, 4)]


class Told(Running, ProcessFunction):
    """Yields what it found when it was built."""

    told = False

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.step(value)
        if not self.told:
            self.told = True
            yield sorted(self.restored), self.was_restored


class ToldUnion(Told):
    union = True


def pushed(function: Any, counts: list[int], snapshot: Snapshot | None = None) -> OneInputHarness:
    """Each subtask gets one record a batch, in turn; `counts` batches."""
    harness = OneInputHarness(function, parallelism=3, snapshot=snapshot)
    for batch in counts:
        harness.push_all([(batch, None)] * 3)
    return harness


@pytest.mark.parametrize(("function", "expected"), [(Told, [[2]] * 3), (ToldUnion, [[2, 2, 2]] * 3)])
def test_a_restart_gives_each_its_own_and_of_union_lists_everybodys(function: Any, expected: Any) -> None:
    """S3"""
    first = pushed(function(), [1, 1])
    assert first.output() == [([], False)] * 3
    second = pushed(function(), [1], first.snapshot())
    assert second.output() == [(restored, True) for restored in expected]
    assert len(second.state_blobs()) == 3


def test_a_subtask_rebuilt_within_a_run_gets_its_own_items_of_a_union_list() -> None:
    """S3: the other subtasks are still at work with theirs."""
    harness = pushed(ToldUnion(), [1, 1])
    for task in harness._tasks:
        task.close()
    harness.clear_output()
    harness.push_all([(1, None)] * 3)
    assert harness.output() == [([2], True)] * 3


def test_union_lists_of_restarts_before_the_first_commit_are_the_same() -> None:
    """S3, F1: a batch that was lost is restored from the same state."""
    env = StreamExecutionEnvironment()
    collect(env.from_sequence(1, 90).rebalance().process(ToldUnion()), "out")
    job = local_job(env, 3, clock=ManualClock())
    job.run_batch(10)
    job.results.clear()
    job.restart()
    job.run_batch(10, commit=False)
    job.run_batch(10, commit=False)
    job.run_batch(10)
    assert job.results["out"] == [([10, 10, 10], True)] * 3


def test_a_host_that_cannot_put_union_lists_together_refuses_them() -> None:
    """S3, P9"""
    harness = pushed(ToldUnion(), [])
    task = StageTask(harness.plan, 1, 0, harness.clock)
    with pytest.raises(
        ProgramError, match=r"Operator 'Process' .* asks for the union list state 'count' at parallelism"
    ):
        task._attach(harness._stores[0])
    alone = OneInputHarness(ToldUnion())
    alone.push(1)
    lone_task = StageTask(alone.plan, 1, 0, alone.clock)
    lone_task._attach(alone._stores[0])


class Items(CheckpointedFunction, ProcessFunction):
    """A list that records change: ("add", x), ("clear",), ("mutate", x)."""

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("items"))

    def snapshot_state(self, context: FunctionSnapshotContext) -> None: ...

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        match value:
            case ("add", item):
                self.state.add(item)
            case ("update", items):
                self.state.update(items)
            case ("clear",):
                self.state.clear()
        yield list(self.state.get())


operations = st.one_of(
    st.tuples(st.just("add"), st.one_of(st.integers(), st.lists(st.integers(), max_size=2))),
    st.tuples(st.just("update"), st.lists(st.integers(), max_size=3)),
    st.just(("clear",)),
    st.just(("restart",)),
)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(operations, max_size=20))
def test_lists_are_what_was_put_into_them(script: list[Any]) -> None:
    """S3"""
    harness, model = OneInputHarness(Items()), []
    for operation in script:
        if operation[0] == "restart":
            harness = OneInputHarness(Items(), snapshot=harness.snapshot())
            continue
        model = {"add": lambda o, m: [*m, o[1]], "update": lambda o, _: o[1], "clear": lambda *_: []}[operation[0]](
            operation, model
        )
        harness.clear_output()
        harness.push(operation)
        assert harness.output() == [model]
    harness.push(("clear",))
    harness.assert_no_leaks()


def test_items_are_fixed_when_they_are_added() -> None:
    """S3, S7"""

    class Mutating(Items):
        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            held = [value]
            self.state.add(held)
            held.append("later")
            next(iter(self.state.get())).append("on a copy")
            yield list(self.state.get())

    harness = OneInputHarness(Mutating())
    harness.push(1)
    assert harness.output() == [[[1]]]


def test_only_what_changed_is_written() -> None:
    """S3, F2: long lists are kept in blocks."""
    harness = OneInputHarness(Items())
    harness.push(("update", ["x" * 1000] * 200))
    blocks = len(harness.state_blobs())
    assert blocks == -(-200 * 1008 // BLOCK_BYTES)
    store = harness._stores[0]
    store.writes = 0
    harness.push(("none",))
    assert store.writes == 1  # the root alone
    store.writes = 0
    harness.push(("update", ["x" * 1000] * 200))
    assert store.writes == 1
    store.writes = 0
    harness.push(("update", [*["x" * 1000] * 199, "y"]))
    assert store.writes == 2
    harness.push(("update", ["x" * 1000]))
    assert len(harness.state_blobs()) == 1


class Order(CheckpointedFunction, ProcessFunction):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        self.calls.append("initialize")

    def open(self, runtime_context: RuntimeContext) -> None:
        self.calls.append("open")

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        self.calls.append((context.get_checkpoint_id(), context.get_checkpoint_timestamp()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield list(self.calls)


def test_order_of_calls() -> None:
    """S3, P6: initialised before it is opened; every batch is a checkpoint."""
    harness = OneInputHarness(Order())
    harness.set_processing_time(5)
    harness.set_processing_time(9)
    harness.push(1)
    assert harness.output() == [["initialize", "open", (1, 0), (2, 0), (3, 5)]]


def refused(initialize: Any, keyed: bool = False) -> str:
    class Bad(Items):
        def initialize_state(self, context: FunctionInitializationContext) -> None:
            initialize(context)

    with pytest.raises((ProgramError, UserFunctionError)) as caught:
        OneInputHarness(Bad())
    return str(caught.value)


def test_mistakes_are_named() -> None:
    """S3, P9"""

    def timed(context: FunctionInitializationContext) -> None:
        descriptor = ListStateDescriptor("l")
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
        context.get_operator_state_store().get_list_state(descriptor)

    def twice(context: FunctionInitializationContext) -> None:
        store = context.get_operator_state_store()
        store.get_list_state(ListStateDescriptor("l"))
        assert store.get_registered_state_names() == {"l"}
        store.get_union_list_state(ListStateDescriptor("l"))

    def wrong(context: FunctionInitializationContext) -> None:
        context.get_operator_state_store().get_list_state(ValueStateDescriptor("v"))  # type: ignore[arg-type]

    def keyless(context: FunctionInitializationContext) -> None:
        context.get_keyed_state_store().get_state(ValueStateDescriptor("v"))

    def broken(context: FunctionInitializationContext) -> None:
        raise ZeroDivisionError("no")

    assert "gives the operator state 'l' a time to live: only keyed state can have one" in refused(timed)
    assert "uses the state name 'l' for a list and for a union list: give each a name" in refused(twice)
    assert "ValueStateDescriptor given where a ListStateDescriptor is needed" in refused(wrong)
    assert "asks for keyed state 'v' but its input is not keyed" in refused(keyless)
    assert "initialize_state() of operator 'Process'" in refused(broken)
    assert "ZeroDivisionError: no" in refused(broken)


def test_a_failing_snapshot_is_named() -> None:
    """S3, P9"""

    class Bad(Items):
        def snapshot_state(self, context: FunctionSnapshotContext) -> None:
            raise ZeroDivisionError("no")

    with pytest.raises(UserFunctionError, match=r"snapshot_state\(\) of operator 'Process'"):
        OneInputHarness(Bad())


def test_batch_mode_takes_no_snapshots() -> None:
    """S3, P5"""

    class Bad(Items):
        def snapshot_state(self, context: FunctionSnapshotContext) -> None:
            raise ZeroDivisionError("called")

    env = StreamExecutionEnvironment()
    collect(env.from_collection([("add", 1)]).process(Bad()), "out")
    job = local_job(env, settings=RuntimeSettings(batch_mode=True))
    job.run()
    assert job.results["out"] == [[1]]
