"""Sources that run by themselves: order, watermarks, back-pressure, cancelling, what a failure takes (T8, F7, F13)."""

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration
from penstock.core.contracts.source import ACTIVE, IDLE, Position
from penstock.core.errors import TimestampError, UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.core.time.watermarks import Watermark
from penstock.datastream import (
    ParallelSourceFunction,
    ProcessFunction,
    RichParallelSourceFunction,
    RichSourceFunction,
    SourceContext,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.runtime.source_function_buffer import SourceCanceledError, SourceFunctionBuffer
from penstock.testing import LocalJob, collect, local_job
from tests.effort import HANG_S

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot rewind.*:RuntimeWarning")

PATIENCE_S = HANG_S


class Script(SourceFunction):
    """Emits what it is told to: a record, (record, timestamp), or a Watermark."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events

    def run(self, ctx: SourceContext) -> None:
        for event in self.events:
            if isinstance(event, Watermark):
                ctx.emit_watermark(event)
            elif isinstance(event, tuple):
                ctx.collect_with_timestamp(*event)
            else:
                ctx.collect(event)

    def cancel(self) -> None:
        pass


class Clock(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        now = ctx.timer_service().current_watermark()
        yield value, ctx.timestamp(), None if now == MIN_WATERMARK else now


def job_of(source: SourceFunction, parallelism: int = 1, **settings: Any) -> LocalJob:
    env = StreamExecutionEnvironment()
    collect(env.add_source(source).process(Clock()), "out")
    return local_job(env, parallelism, settings=RuntimeSettings(**settings))


def run_out(job: LocalJob, limit: int) -> None:
    """Batches of a few events, until the source has ended."""
    while not job.finished:
        job.run_batch(limit)
        job._live.wait()


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_records_timestamps_and_watermarks_arrive_as_they_were_emitted(limit: int) -> None:
    """T8, T2: a watermark stands between the records it was emitted between, however they are cut into batches."""
    job = job_of(Script([("a", 5), Watermark(4), ("b", 9), "c", Watermark(9), ("d", 12)]))
    run_out(job, limit)
    assert job.results["out"] == [("a", 5, None), ("b", 9, 4), ("c", None, 4), ("d", 12, 9)]


events = st.lists(
    st.one_of(
        st.integers(0, 99),
        st.tuples(st.integers(0, 99), st.integers(0, 50)),
        st.builds(Watermark, st.integers(0, 50)),
    ),
    max_size=30,
)


@given(events, st.lists(st.integers(1, 7), min_size=1, max_size=5), st.booleans())
def test_any_cut_into_batches_gives_the_same(events: list[Any], limits: list[int], retried: bool) -> None:
    """T8, P4: against an oracle that walks the list; each batch may also be run and thrown away first."""
    job = job_of(Script(events))
    count = 0
    while not job.finished:
        limit = limits[count % len(limits)]
        if retried:
            job.run_batch(limit, commit=False)
        job.run_batch(limit)
        count += 1
    assert job.results.get("out", []) == list(oracle(events))


def oracle(events: list[Any]) -> Iterator[Any]:
    clock = None
    for event in events:
        if isinstance(event, Watermark):
            clock = event.timestamp if clock is None else max(clock, event.timestamp)
        elif isinstance(event, tuple):
            yield event[0], event[1], clock
        else:
            yield event, None, clock


def test_a_source_that_returns_has_ended() -> None:
    """T4: +∞ follows its last record."""
    job = job_of(Script([1]))
    job.run()
    assert job.finished
    assert [m["watermark"] for m in job.metrics if "watermark" in m] == [MAX_WATERMARK]


class PerSubtask(RichParallelSourceFunction):
    def open(self, runtime_context: Any) -> None:
        self.opened = runtime_context.get_index_of_this_subtask()

    def run(self, ctx: SourceContext) -> None:
        context = self.get_runtime_context()
        ctx.collect((self.opened, context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()))

    def cancel(self) -> None:
        pass


def test_a_parallel_source_runs_in_every_subtask() -> None:
    """P6: each with a function object of its own."""
    job = job_of(PerSubtask(), 3)
    job.run()
    assert sorted(v for v, _, _ in job.results["out"]) == [(0, 0, 3), (1, 1, 3), (2, 2, 3)]


def test_a_source_that_is_not_parallel_runs_once() -> None:
    job = job_of(Script([1]), 3)
    job.run()
    assert len(job.results["out"]) == 1


class OneIdle(RichParallelSourceFunction):
    """Subtask 0 is idle from the start, and in the end speaks once more; subtask 1 tells the time."""

    def run(self, ctx: SourceContext) -> None:
        if self.get_runtime_context().get_index_of_this_subtask() == 1:
            ctx.emit_watermark(Watermark(10))
            ctx.collect("after 10")
            return
        ctx.mark_as_temporarily_idle()
        ctx.mark_as_temporarily_idle()
        ctx.collect("awake")

    def cancel(self) -> None:
        pass


@pytest.mark.parametrize("limit", [1, 100])
def test_an_idle_source_holds_nothing_back(limit: int) -> None:
    """T6, T8: the clock moves with the others alone."""
    env = StreamExecutionEnvironment()
    collect(env.add_source(OneIdle()).global_().process(Clock()).set_parallelism(1), "out")
    job = local_job(env, 2)
    job.run_batch(0)
    wait_until(lambda: buffered(job) == 5)
    job.run_batch(1)
    job.run_batch(limit)
    run_out(job, limit)
    assert ("after 10", None, 10) in job.results["out"]


def test_idleness_ends_with_the_next_record() -> None:
    """T6: said once, and taken back."""
    buffer = SourceFunctionBuffer(10)
    buffer.mark_as_temporarily_idle()
    buffer.mark_as_temporarily_idle()
    buffer.collect("a")
    buffer.collect("b")
    end = buffer.seal(0, 10)
    assert buffer.between(0, end.at).batches == [(["a", "b"], None, [(0, IDLE), (0, ACTIVE)])]


class Endless(SourceFunction):
    """Looks at no flag: only the context can end it."""

    def __init__(self) -> None:
        self.emitted = 0

    def run(self, ctx: SourceContext) -> None:
        while True:
            ctx.collect(self.emitted)
            self.emitted += 1

    def cancel(self) -> None:
        pass


def wait_until(true: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(PATIENCE_S * 100):
        if true():
            return
        waiting.wait(0.01)
    pytest.fail("it did not come to pass")


def test_a_full_buffer_holds_the_source_back() -> None:
    """F13: memory stays bounded; every batch makes room."""
    job = job_of(Endless(), source_buffer_records=10)
    job.run_batch(4)
    (running,) = job._live._splits.values()
    buffer = running.buffer
    wait_until(lambda: len(buffer._events) == 10)
    assert len(buffer._events) == 10
    before = running._function.emitted
    job.run_batch(4)
    wait_until(lambda: len(buffer._events) == 10)
    assert running._function.emitted == before + 4
    job._live.close()
    assert not running._thread.is_alive()


def test_a_job_without_end_can_be_stopped() -> None:
    """P8"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)
    assert env.add_source(Endless()).execute_and_collect(limit=3) == [0, 1, 2]


class UntilCanceled(SourceFunction):
    log: list[str] = []  # noqa: RUF012 - shared by the copies on purpose

    def open(self, runtime_context: Any) -> None:
        self.stop = threading.Event()

    def run(self, ctx: SourceContext) -> None:
        ctx.collect("up")
        self.stop.wait(PATIENCE_S)
        self.log.append("returned")

    def cancel(self) -> None:
        self.log.append("canceled")
        self.stop.set()

    def close(self) -> None:
        self.log.append("closed")


def test_cancel_is_called_when_the_job_stops() -> None:
    UntilCanceled.log.clear()
    job = job_of(UntilCanceled())
    for _ in job.steps():
        if "out" in job.results:
            job.stop()
    assert UntilCanceled.log == ["canceled", "returned", "closed"]


class Deaf(SourceFunction):
    released = threading.Event()

    def run(self, ctx: SourceContext) -> None:
        self.released.wait(PATIENCE_S)

    def cancel(self) -> None:
        raise ValueError("not me")

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def test_a_source_that_does_not_return_is_left_behind_with_a_warning() -> None:
    """P12"""
    job = job_of(Deaf(), source_cancel_timeout_ms=20)
    job.run_batch(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        job._live.close()
    Deaf.released.set()
    texts = [str(w.message) for w in caught]
    assert texts[0].startswith("cancel() of source 'Source: Custom Source' (uid auto-1-")
    assert texts[0].endswith("raised ValueError: not me")
    assert "has not returned from run() within 20 ms of cancel(): it is left behind" in texts[1]


class Failing(SourceFunction):
    def run(self, ctx: SourceContext) -> None:
        ctx.collect(1)
        raise OSError("the line is dead")

    def cancel(self) -> None:
        pass


def test_a_failing_source_fails_the_job_with_its_traceback() -> None:
    """P9"""
    with pytest.raises(UserFunctionError) as caught:
        job_of(Failing()).run()
    text = str(caught.value)
    assert text.startswith("run() of operator 'Source: Custom Source' (uid auto-1-Source: Custom Source) failed\nTrace")
    assert text.endswith("OSError: the line is dead")
    assert "runtime/source_function_runner.py" not in text


class BadOpen(RichSourceFunction):
    def open(self, runtime_context: Any) -> None:
        raise OSError("no")

    def run(self, ctx: SourceContext) -> None:
        raise AssertionError("never")

    def cancel(self) -> None:
        pass


def test_a_source_that_cannot_be_opened_is_not_run() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"^open\(\) of operator 'Source: Custom Source'"):
        job_of(BadOpen()).run()


class Once(SourceFunction):
    """Emits three records, then waits to be told."""

    starts = 0

    def __init__(self) -> None:
        self.running = True

    def run(self, ctx: SourceContext) -> None:
        type(self).starts += 1
        for i in range(3):
            ctx.collect((type(self).starts, i))
        wait_until(lambda: not self.running)

    def cancel(self) -> None:
        self.running = False


def test_what_a_restart_takes_is_counted_and_never_delivered_twice() -> None:
    """F7: at-most-once."""
    Once.starts = 0
    job = job_of(Once())
    job.run_batch(1)
    wait_until(lambda: buffered(job) >= 2)
    job.run_batch(1)
    job.run_batch(1, commit=False)
    with pytest.warns(RuntimeWarning, match=r"lost 1 record\(s\) in a restart: it cannot rewind, so delivery is at-mo"):
        job.restart()
    assert job.commits.lost_records == 1
    job.run_batch(0)
    wait_until(lambda: buffered(job) == 3)
    job.run_batch(100)
    job._live.close()
    found = [value for value, _, _ in job.results["out"]]
    assert found[-3:] == [(2, 0), (2, 1), (2, 2)]
    assert len(set(found)) == len(found)
    assert (1, 2) not in found


def buffered(job: LocalJob) -> int:
    return sum(len(s.buffer._events) for s in job._live._splits.values())


def test_ranges_that_are_no_longer_held_read_as_empty() -> None:
    """F7: a batch planned by a run that has died."""
    buffer = SourceFunctionBuffer(10, first=5)
    assert buffer.between(3, 5) == ([], 2)
    buffer.collect("a")
    assert buffer.seal(5, 10) == Position(6)
    assert buffer.between(5, 6).lost == 0
    buffer.release(6)
    assert buffer.between(5, 6).lost == 1


def test_a_batch_planned_again_reads_what_it_read_before() -> None:
    """F1"""
    buffer = SourceFunctionBuffer(10)
    buffer.collect("a")
    assert buffer.seal(0, 10) == Position(1)
    buffer.collect("b")
    assert buffer.seal(0, 10) == Position(1)
    assert buffer.seal(1, 10) == Position(2)
    assert [b.values for b in buffer.between(0, 2).batches] == [["a"], ["b"]]


def test_what_is_emitted_under_the_lock_enters_one_batch() -> None:
    """F2: also where it is more than the buffer takes."""
    buffer = SourceFunctionBuffer(2)
    inside, seal_now = threading.Event(), threading.Event()

    def run() -> None:
        with buffer.get_checkpoint_lock():
            buffer.collect(1)
            inside.set()
            seal_now.wait(0.2)
            for i in range(2, 5):
                buffer.collect(i)

    thread = threading.Thread(target=run)
    thread.start()
    assert inside.wait(PATIENCE_S)
    assert buffer.seal(0, 100) == Position(4)
    thread.join()


def test_the_lock_cannot_be_taken_while_the_buffer_is_full() -> None:
    """F13"""
    buffer = SourceFunctionBuffer(1)
    buffer.collect(1)
    entered = threading.Event()

    def run() -> None:
        with buffer.get_checkpoint_lock(), buffer.get_checkpoint_lock():
            entered.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert not entered.wait(0.05)
    buffer.seal(0, 1)
    assert entered.wait(PATIENCE_S)
    thread.join()


def test_a_record_is_fixed_when_it_is_emitted() -> None:
    """S7"""
    buffer = SourceFunctionBuffer(10)
    record = [1]
    buffer.collect(record)
    record.append(2)
    buffer.seal(0, 1)
    assert buffer.between(0, 1).batches[0].values == [[1]]


def test_a_watermark_that_does_not_advance_is_dropped() -> None:
    """T2"""
    buffer = SourceFunctionBuffer(10)
    for mark in (5, 3, 5, 6):
        buffer.emit_watermark(Watermark(mark))
    assert buffer.seal(0, 10) == Position(2)


@pytest.mark.parametrize("wrong", [1.5, None, True, "7", 2**63])
def test_a_timestamp_that_is_none_is_refused(wrong: Any) -> None:
    """P9, T8"""
    with pytest.raises(TimestampError, match=r"collect_with_timestamp\(\) got the timestamp .* for record 'a'"):
        SourceFunctionBuffer(1).collect_with_timestamp("a", wrong)


def test_a_watermark_is_a_watermark() -> None:
    """P9"""
    with pytest.raises(TypeError, match=r"emit_watermark\(\) takes a Watermark, got int"):
        SourceFunctionBuffer(1).emit_watermark(5)  # type: ignore[arg-type]


def test_emitting_after_the_end_unwinds() -> None:
    buffer = SourceFunctionBuffer(1)
    buffer.cancel()
    with pytest.raises(SourceCanceledError):
        buffer.collect(1)


def test_a_source_that_cannot_rewind_is_said_to_be_at_most_once() -> None:
    """F7: when the program is planned, and in what is shown of the plan."""
    env = StreamExecutionEnvironment()
    env.add_source(Script([]), "ticks").print()
    with pytest.warns(RuntimeWarning, match=r"'Source: ticks' cannot rewind: after a failure .* \(at-most-once\)"):
        text = env.explain()
    assert "'Source: ticks' -> 'Print to Std. Out': at-most-once (the source cannot rewind)" in text


def test_only_source_functions_are_sources() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    with pytest.raises(TypeError, match=r"add_source\(\) takes a SourceFunction, got function"):
        env.add_source(test_only_source_functions_are_sources)  # type: ignore[arg-type]


def test_kinds() -> None:
    assert issubclass(RichParallelSourceFunction, ParallelSourceFunction)
    assert issubclass(RichParallelSourceFunction, RichSourceFunction)
