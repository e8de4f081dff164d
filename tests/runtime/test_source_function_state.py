"""Source functions with operator state: a restart goes on where the last durable batch ended (S3, F1, F7)."""

from __future__ import annotations

import json
import threading
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Row
from penstock.common.errors import ProgramError, SourceError, UserFunctionError
from penstock.core.contracts.source import Position, SourceClock
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.clock import SystemClock
from penstock.core.types.row import _create_row
from penstock.datastream import (
    CheckpointedFunction,
    ParallelSourceFunction,
    SourceContext,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor
from penstock.runtime.source_function_runner import SourceFunctionRunners
from penstock.testing import LocalJob, collect, local_job
from tests.effort import examples
from tests.kill.shuffled import Shuffled

NOW = SourceClock(0, 0)


class Counting(SourceFunction, CheckpointedFunction):
    """The numbers up to `end`; its state is the next one."""

    union = False

    def __init__(self, end: int, locked: bool = True) -> None:
        self.end, self.locked = end, locked

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        get = store.get_union_list_state if self.union else store.get_list_state
        self.state = get(ListStateDescriptor("next"))
        self.next = next(iter(self.state.get()), 0)
        self.restored = context.is_restored()

    def snapshot_state(self, context: Any) -> None:
        self.checkpoint = context.get_checkpoint_id()
        self.state.update([self.next])

    def open(self, runtime_context: Any) -> None:
        self.stopped = threading.Event()

    def run(self, ctx: SourceContext) -> None:
        while self.next < self.end and not self.stopped.is_set():
            if self.locked:
                with ctx.get_checkpoint_lock():
                    ctx.collect(self.next)
                    self.next += 1
            else:
                ctx.collect(self.next)
                self.next += 1

    def cancel(self) -> None:
        self.stopped.set()


class ParallelCounting(Counting, ParallelSourceFunction):
    pass


class Forgetful(Counting):
    """Its state does not say where it reads."""

    def snapshot_state(self, context: Any) -> None:
        self.state.update([id(object()), threading.get_ident(), self.next * 7 + self.restored])


def job_of(source: SourceFunction, parallelism: int = 1, buffer: int = 10) -> LocalJob:
    env = StreamExecutionEnvironment()
    collect(env.add_source(source), "out")
    return local_job(env, parallelism, settings=RuntimeSettings(source_buffer_records=buffer))


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from(["batch", "lost", "restart"]), max_size=12), st.integers(1, 9))
def test_batches_thrown_away_and_restarts_change_nothing(steps: list[str], buffer: int) -> None:
    """S3, F1: every number once, in order; nothing is reported as lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job = job_of(Counting(40), buffer=buffer)
    for step in steps:
        if job.finished:
            break
        if step == "restart":
            job.restart()
        else:
            job.run_batch(1000, commit=step == "batch")
    job.run()
    assert job.results["out"] == list(range(40))
    assert job.commits.lost_records == 0


def test_each_subtask_of_a_parallel_function_has_its_own() -> None:
    """S3"""
    job = job_of(ParallelCounting(20), parallelism=2, buffer=3)
    job.run_batch(1000)
    job.restart()
    job.run()
    assert sorted(job.results["out"]) == sorted([*range(20), *range(20)])


# -- what a host does that has planned a batch, and has then lost the function ---------------------------


def planned(source: SourceFunction, split: int = 0) -> tuple[Any, Position, Position]:
    """A vertex, and two positions through JSON between which a function that is gone has emitted something."""
    job = job_of(source)
    vertex = job.plan.sources[0]
    lost = SourceFunctionRunners(job.plan, SystemClock())
    start = vertex.source.initial(split, 1)
    for _ in range(3):  # the batch in question is not the first one
        end = start
        while end == start:
            end = lost.advance(vertex, split, start, start, 1000, NOW)
        last, start = start, end
    lost.close()
    return job.plan, *(Position.from_json(json.loads(json.dumps(p.to_json()))) for p in (last, start))


@pytest.mark.parametrize("locked", [True, False])
def test_a_batch_planned_before_is_emitted_again(locked: bool) -> None:
    """F1: the same records for it, and then those that follow; none twice."""
    plan, start, end = planned(Counting(10_000, locked))
    vertex = plan.sources[0]
    again = SourceFunctionRunners(plan, SystemClock())
    held = again.held(vertex, 0, start, end)
    assert held is not None
    assert held.lost == 0
    values = [v for batch in held.batches for v in batch.values]
    further = end
    while further == end:
        further = again.advance(vertex, 0, end, end, 1000, NOW)
    following = again.held(vertex, 0, end, further)
    again.close()
    assert following is not None
    values += [v for batch in following.batches for v in batch.values]
    assert values == list(range(values[0], values[0] + len(values)))
    if locked:
        assert values[0] == start.at["events"]


def test_state_that_does_not_say_where_the_function_reads_is_refused() -> None:
    """P9, F8: never silently different."""
    plan, start, end = planned(Forgetful(50))
    with pytest.raises(SourceError, match=r"Source 'Source: Custom Source' .*is not what it was at the end .*lock"):
        SourceFunctionRunners(plan, SystemClock()).held(plan.sources[0], 0, start, end)


class Broken(Counting):
    """Fails after a few numbers."""

    def run(self, ctx: SourceContext) -> None:
        super().run(ctx)
        raise OSError("the line is dead")


def test_a_function_that_fails_is_reported_with_its_own_error() -> None:
    """P9"""
    job = job_of(Broken(5), buffer=100)
    with pytest.raises(UserFunctionError, match=r"(?s)run\(\) of operator .*OSError: the line is dead"):
        job.run()


def test_union_lists_of_parallel_functions_are_refused() -> None:
    """P9"""
    source = ParallelCounting(5)
    source.union = True
    with pytest.raises(ProgramError, match="union list state 'next' at parallelism 2, which this host cannot"):
        job_of(source, parallelism=2).run()


# -- a function that emits in another order each time ----------------------------------------------------


class Keeper:
    """Keeps events in memory, as a checkpoint folder does on disk."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.count = 0

    def keep(self, place: str, events: bytes) -> str:
        self.count += 1
        self.files[f"{place}-{self.count}"] = events
        return f"{place}-{self.count}"

    def kept(self, name: str) -> bytes:
        return self.files[name]

    def forget(self, name: str) -> None:
        del self.files[name]


def through_json(position: Position) -> Position:
    return Position.from_json(json.loads(json.dumps(position.to_json())))


@settings(max_examples=examples(20))
@given(st.lists(st.booleans(), max_size=20), st.integers(1, 9))
def test_a_function_that_emits_in_any_order_recovers_from_its_state_alone(killed: list[bool], buffer: int) -> None:
    """F1, S3: a host plans a batch, dies before it commits, and runs the batch again; every record comes once."""
    job, keeper = job_of(Shuffled(30), buffer=buffer), Keeper()
    vertex = job.plan.sources[0]
    out: list[Any] = []
    start, kills = vertex.source.initial(0, 1), iter(killed)
    live = SourceFunctionRunners(job.plan, SystemClock(), keeper)
    while not start.ended:
        end = live.advance(vertex, 0, start, start, 1000, NOW)
        planned_batch = live.held(vertex, 0, start, end)
        if next(kills, False):
            live.close()
            live = SourceFunctionRunners(job.plan, SystemClock(), keeper)
            start, end = through_json(start), through_json(end)
            again = live.held(vertex, 0, start, end)
            assert again == planned_batch
        assert planned_batch is not None
        out += [v for batch in planned_batch.batches for v in batch.values]
        live.release(vertex.vertex_id, 0, end)
        start = end
    live.close()
    for partition in ("north", "south"):
        assert [n for p, n in out if p == partition] == list(range(30))
    assert keeper.files == {}


class CountingRows(Counting):
    """Its state is a row, whose bytes say how it is made."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("next"))
        self.next = next((row.n for row in self.state.get()), 0)

    def snapshot_state(self, context: Any) -> None:
        self.state.update([Row(n=self.next)])


def test_a_batch_that_an_older_version_planned_is_known_by_its_state_not_by_its_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S3, F1: rows were written under the module that made them."""
    with monkeypatch.context() as older:
        older.setattr(_create_row, "__module__", "penstock.core.row")
        older.setattr(_create_row, "__qualname__", "_create_row")
        plan, start, end = planned(CountingRows(40))
    again = SourceFunctionRunners(plan, SystemClock())
    held = again.held(plan.sources[0], 0, start, end)
    again.close()
    assert held is not None
    assert [v for batch in held.batches for v in batch.values] == list(range(start.at["events"], end.at["events"]))
