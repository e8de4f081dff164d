"""Custom watermark generators, idleness, ingestion time: when they are called, what is refused (T1, T6, T7, T9)."""

import threading
import warnings
from typing import Any

import pytest

from penstock.common import Duration, WatermarkStrategy
from penstock.common.watermark_strategy import (
    Watermark,
    WatermarkGenerator,
    WatermarkGeneratorSupplier,
    WatermarkOutput,
)
from penstock.core.config import compat
from penstock.core.contracts.source import Position
from penstock.core.errors import ProgramError, UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MIN_WATERMARK
from penstock.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment
from penstock.runtime.chunk import DATA, BatchInfo, decode_payload
from penstock.runtime.source_task import read_split
from penstock.runtime.state.page import NO_TIMER
from penstock.testing import At, LocalJob, ManualClock, ScriptedSource, collect, local_job

CALLS: list[Any] = []


class Calls(WatermarkGenerator):
    """Notes how it is called."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        CALLS.append((event, event_timestamp))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        CALLS.append("periodic")


class Clock(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        now = ctx.timer_service().current_watermark()
        yield value, ctx.timestamp(), None if now == MIN_WATERMARK else now


def job_of(
    strategy: WatermarkStrategy,
    *channels: list[At],
    bounded: bool = True,
    clock: ManualClock | None = None,
    parallelism: int | None = None,
    **settings: Any,
) -> LocalJob:
    env = StreamExecutionEnvironment()
    source = ScriptedSource(channels, bounded=bounded, parallelism=parallelism)
    stream = env.from_source(source, strategy, "script")
    collect(stream.key_by(lambda v: 0).process(Clock()), "out")
    return local_job(env, settings=RuntimeSettings(**settings), clock=clock or ManualClock(1000))


ABC = [At(1, "a"), At(2, "b"), At(3, "c")]


@pytest.mark.parametrize(
    ("settings", "batches", "expected"),
    [
        ({}, [3], ["a", "b", "c", "periodic"]),
        ({"watermark_records": 2}, [3], ["a", "b", "periodic", "c", "periodic"]),
        ({"per_record_watermarks": True}, [3], ["a", "periodic", "b", "periodic", "c", "periodic", "periodic"]),
        ({"periodic_watermarks": False}, [1, 2], ["a", "b", "c"]),
        ({}, [2, 0, 1], ["a", "b", "periodic", "periodic", "c", "periodic"]),
    ],
)
def test_a_generator_is_called_at_record_counts_and_at_the_end_of_every_batch(
    settings: Any, batches: list[int], expected: list[Any]
) -> None:
    """T7, T9: also of one without records; an interval of zero switches it off."""
    CALLS.clear()
    job = job_of(WatermarkStrategy.for_generator(Calls), ABC, bounded=False, **settings)
    for limit in batches:
        job.run_batch(limit)
    assert [c if c == "periodic" else c[0] for c in CALLS] == expected
    assert [c[1] for c in CALLS if c != "periodic"] == [1, 2, 3]


def test_a_strategy_that_needs_state_stands_behind_its_source() -> None:
    """T7: level 0 has none; every split is a channel of its own."""
    job = job_of(WatermarkStrategy.for_generator(Calls), ABC, ABC, ABC, parallelism=2)
    source, made, *_ = job.plan.vertices
    assert [(v.name, v.level, v.parallelism) for v in (source, made)] == [
        ("Source: script", 0, 3),
        ("Source: script: Timestamps/Watermarks", 1, 2),
    ]
    assert made.uid == f"{source.uid}/watermarks"
    assert made.in_edges[0].forward


@pytest.mark.parametrize(
    ("strategy", "levels"),
    [
        (WatermarkStrategy.for_monotonous_timestamps(), 1),
        (WatermarkStrategy.for_ingestion_time(), 1),
        (WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(1)), 2),
        (WatermarkStrategy.no_watermarks().with_idleness(Duration.of_seconds(1)), 2),
        (WatermarkStrategy.for_generator(Calls), 2),
    ],
)
def test_only_a_strategy_that_needs_state_costs_a_stage(strategy: WatermarkStrategy, levels: int) -> None:
    """T6, T7"""
    assert job_of(strategy, ABC).plan.stage_count == levels


def test_the_source_may_feed_several_and_be_assigned_anew() -> None:
    """T7, T8: what a source with a strategy of its own feeds is fed by the strategy."""
    env = StreamExecutionEnvironment()
    stream = env.from_source(ScriptedSource([ABC]), WatermarkStrategy.for_generator(AtOnce), "script")
    collect(stream.map(str.upper), "mapped")
    collect(stream.key_by(lambda v: 0).process(Clock()), "keyed")
    collect(stream.rebalance().filter(lambda v: v != "b"), "filtered")
    job = local_job(env)
    job.run([1])
    assert job.results == {
        "mapped": ["A", "B", "C"],
        "keyed": [("a", 1, None), ("b", 2, 1), ("c", 3, 2)],
        "filtered": ["a", "c"],
    }


class AtOnce(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(Watermark(event_timestamp))


class Keeps(AtOnce):
    def __init__(self, kept: Any) -> None:
        self.kept = kept


class Fails(WatermarkGenerator):
    def __init__(self, where: str) -> None:
        self.where = where

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if self.where == "event" and event == "b":
            raise ValueError("not b")
        if self.where == "number":
            output.emit_watermark(5)  # type: ignore[arg-type]
        if self.where == "float":
            output.emit_watermark(Watermark(5.5))  # type: ignore[arg-type]

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        if self.where == "periodic":
            raise ValueError("not now")


OPERATOR = r"operator 'Source: script: Timestamps/Watermarks' \(uid auto-1-Source: script/watermarks\)"


@pytest.mark.parametrize(
    ("supplier", "error", "message"),
    [
        (lambda: Keeps(threading.Lock()), ProgramError, rf"The watermark generator Keeps of {OPERATOR} cannot be pick"),
        (lambda: Fails("event"), UserFunctionError, rf"on_event of the watermark generator of {OPERATOR} .*record 'b'"),
        (
            lambda: Fails("periodic"),
            UserFunctionError,
            rf"on_periodic_emit of the watermark generator of {OPERATOR} fai",
        ),
        (lambda: Fails("number"), UserFunctionError, r"emit_watermark takes a Watermark, got 5"),
        (lambda: Fails("float"), UserFunctionError, r"a watermark is an int of milliseconds .*, got 5.5"),
        (
            lambda: 7,
            ProgramError,
            rf"The watermark generator supplier of {OPERATOR} made 7 \(int\): it must make a Wat",
        ),
        (lambda: 1 // 0, UserFunctionError, rf"The watermark generator supplier of {OPERATOR} failed"),
    ],
)
def test_what_goes_wrong_in_a_generator_names_the_operator(supplier: Any, error: type, message: str) -> None:
    """T7, P9"""
    with pytest.raises(error, match=message):
        job_of(WatermarkStrategy.for_generator(supplier), ABC).run()


def test_a_generator_may_become_unpicklable_only_to_be_refused() -> None:
    """T7: what it keeps is checked with every batch."""

    class Later(AtOnce):
        def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
            self.lock = threading.Lock()

    with pytest.raises(ProgramError, match="The watermark generator Later of operator"):
        job_of(WatermarkStrategy.for_generator(Later), ABC).run()


def needs_two(first: Any, second: Any) -> WatermarkGenerator:
    raise AssertionError


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: WatermarkStrategy.for_generator(AtOnce()), TypeError, "pass the class AtOnce or a function"),  # type: ignore[arg-type]
        (
            lambda: WatermarkStrategy.for_generator(5),
            TypeError,
            "for_generator takes a WatermarkGenerator class.* got int",
        ),  # type: ignore[arg-type]
        (lambda: WatermarkStrategy.for_generator(needs_two), TypeError, "needs_two wants first, second; a supplier is"),  # type: ignore[arg-type]
        (
            lambda: plain().with_idleness(50),
            TypeError,
            "with_idleness: the idle timeout is a Duration or a timedelta, got int",
        ),  # type: ignore[arg-type]
        (
            lambda: plain().with_idleness(Duration.of_millis(0)),
            ValueError,
            "the idle timeout must be positive, got 0 ms",
        ),
        (lambda: ingested().with_timestamp_assigner(lambda v, _: v), ValueError, "takes timestamps from the clock"),
        (lambda: plain().with_watermark_alignment(1, SECOND), TypeError, "the group is a string, got int"),  # type: ignore[arg-type]
        (
            lambda: plain().with_watermark_alignment("g", 1),
            TypeError,
            "the allowed drift is a Duration or a timedelta, got int",
        ),  # type: ignore[arg-type]
    ],
)
def test_strategies_that_cannot_be(make: Any, error: type[Exception], message: str) -> None:
    """P9, T6, T7: refused where they are written."""
    with pytest.raises(error, match=message):
        make()


SECOND = Duration.of_seconds(1)


def plain() -> WatermarkStrategy:
    return WatermarkStrategy.for_monotonous_timestamps()


def ingested() -> WatermarkStrategy:
    return WatermarkStrategy.for_ingestion_time()


def test_watermark_alignment_is_accepted_and_warns_once() -> None:
    """T6, P12"""
    compat.forget_warnings()
    with pytest.warns(UserWarning, match="with_watermark_alignment has no effect: sources are read"):
        assert plain().with_watermark_alignment("g", SECOND, SECOND) == plain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain().with_watermark_alignment(
            watermark_group="g", max_allowed_watermark_drift=SECOND, update_interval=SECOND
        )


def test_a_supplier_may_want_the_context() -> None:
    """T7"""
    seen: list[WatermarkGeneratorSupplier.Context] = CALLS
    seen.clear()

    def supplier(context: WatermarkGeneratorSupplier.Context) -> WatermarkGenerator:
        CALLS.append(context)
        return AtOnce()

    job_of(WatermarkStrategy.for_generator(supplier), ABC, ABC, ABC, parallelism=2).run()
    assert sorted((c.partition, c.subtask, c.parallelism) for c in seen) == [(0, 0, 2), (1, 1, 2), (2, 0, 2)]


def test_in_the_midst_of_a_stream_a_subtask_has_one_generator() -> None:
    """T7: there are no partitions there, only what the others send, and it may be nothing."""
    CALLS.clear()

    def supplier(context: WatermarkGeneratorSupplier.Context) -> WatermarkGenerator:
        CALLS.append((context.partition, context.subtask))
        return AtOnce()

    env = StreamExecutionEnvironment()
    numbers = env.from_source(ScriptedSource([ABC, []], bounded=False), plain(), "script").rebalance()
    strategy = WatermarkStrategy.for_generator(supplier)
    assigned = numbers.map(lambda v: v).set_parallelism(2).rebalance().process(Same()).set_parallelism(1)
    stream = assigned.assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    collect(stream.key_by(lambda v: 0).process(Clock()), "out")
    job = local_job(env)
    job.run_batch(10)
    assert CALLS == [(None, 0)]
    assert {now for _, _, now in job.results["out"]} <= {None, 1, 2, 3}
    assert max(m.get("watermark", MIN_WATERMARK) for m in job.metrics) == 3


class Same(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


def test_the_driver_is_told_when_a_channel_may_be_idle() -> None:
    """T6, T11: so that there is a batch at that time though nothing comes."""
    clock = ManualClock(1000)
    strategy = plain().with_idleness(Duration.of_millis(50))
    job = job_of(strategy, ABC, ABC[:1], bounded=False, clock=clock, parallelism=1)

    def due() -> int:
        return int(min(m["next_timer_ms"] for m in job.metrics))

    job.run_batch(1)
    assert due() == 1050
    clock.set_ms(1030)
    job.run_batch(1)
    assert due() == 1050
    clock.set_ms(1050)
    job.run_batch(0)
    assert due() == 1080
    assert max(m.get("watermark", MIN_WATERMARK) for m in job.metrics) == 1
    clock.set_ms(1080)
    job.restart()
    job.run_batch(0)
    assert due() == NO_TIMER


def test_ingestion_time_is_the_same_for_a_task_that_is_run_again() -> None:
    """T1: the batch's processing time, whatever the clock says by then."""
    clock = ManualClock(1000)
    job = job_of(ingested(), ABC)
    (source,) = job.plan.sources

    def rows() -> list[Any]:
        clock.advance_ms(77)
        info = BatchInfo("run", 0, 1234)
        made = read_split(job.plan, source, 0, Position(0), None, clock, info)
        return [decode_payload(r.payload) for r in made if r.kind == DATA]

    first = rows()
    assert first == rows()
    assert first[0].timestamps == [1234, 1234, 1234]


def test_a_watermark_for_every_record_needs_a_source_of_one_split() -> None:
    """T9, P9"""
    with pytest.raises(
        ProgramError, match=r"Source 'Source: script' is read in 2 splits, but penstock.watermark.per-record promises"
    ):
        job_of(plain(), ABC, ABC, per_record_watermarks=True)
    env = StreamExecutionEnvironment()
    behind = env.from_source(ScriptedSource([ABC, ABC]), WatermarkStrategy.no_watermarks(), "script")
    collect(behind.map(str).assign_timestamps_and_watermarks(plain()), "out")
    with pytest.raises(ProgramError, match=r"give the source parallelism 1, or set penstock.watermark.records to 1"):
        local_job(env, settings=RuntimeSettings(per_record_watermarks=True))
    job_of(plain(), ABC, ABC, watermark_records=1).run()
    job_of(WatermarkStrategy.no_watermarks(), ABC, ABC, per_record_watermarks=True).run()
    job_of(plain(), ABC, per_record_watermarks=True).run()
