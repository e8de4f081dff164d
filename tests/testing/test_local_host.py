"""The local host: batches, restarts, lost batches, several stages (F1, T4, T5)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.core.errors import ConfigurationError, UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MIN_WATERMARK
from penstock.datastream import (
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.file_system import FileSource, StreamFormat
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.testing import PER_RECORD, At, Mark, ScriptedSource, collect, local_job, scripted_stream


class AtEnd(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key()


class Same(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value


class Clock(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        now = ctx.timer_service().current_watermark()
        yield value, None if now == MIN_WATERMARK else now


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_a_subtask_that_nobody_sends_to_holds_nothing_back(tmp_path: Path, parallelism: int) -> None:
    """T5: one file, several readers: those without a file have ended."""
    file = tmp_path / "words"
    file.write_text("a\nb\nc\n")
    env = StreamExecutionEnvironment()
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(file)).build()
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    collect(lines.process(Same()).key_by(lambda v: v).process(AtEnd()), "out")
    job = local_job(env, parallelism)
    job.run()
    assert sorted(job.results["out"]) == ["a", "b", "c"]


@pytest.mark.parametrize("batch", [1, 2, 10])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_stands_behind_a_watermark_generator_keeps_its_clock_over_batches(batch: int, restarts: bool) -> None:
    """T2, F1"""
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(
        lambda v, _: v
    )
    numbers = env.from_sequence(1, 6).set_parallelism(1).process(Same()).assign_timestamps_and_watermarks(strategy)
    collect(numbers.process(Clock()), "out")
    job = local_job(env, 1, settings=RuntimeSettings(per_record_watermarks=True))
    while not job.finished:
        job.run_batch(batch)
        if restarts:
            job.restart()
    assert job.results["out"] == [(1, None), *((i, i - 2) for i in range(2, 7))]


def test_an_empty_source_ends_also_when_its_first_batch_was_lost() -> None:
    """T4, F1"""
    env = StreamExecutionEnvironment()
    env.get_configuration().set_boolean("penstock.watermark.per-record", True)
    empty = scripted_stream(env, ScriptedSource([[]]))
    full = scripted_stream(env, ScriptedSource([[At(1, "a"), Mark(9), At(10, "b")]]))
    collect(full.union(empty).key_by(lambda v: v).process(AtEnd()), "out")
    job = local_job(env, 2)
    job.run_batch(1, commit=False)
    job.restart()
    job.run()
    assert sorted(job.results["out"]) == ["a", "b"]


def test_a_lost_batch_leaves_nothing_behind() -> None:
    """F1"""
    env = StreamExecutionEnvironment()
    collect(env.from_sequence(1, 9).key_by(lambda v: v % 2).reduce(lambda a, b: a + b), "out")
    job = local_job(env, 1)
    job.run_batch(4)
    before = job.state_blobs()
    job.run_batch(3, commit=False)
    assert job.state_blobs() == before
    assert len(job.results["out"]) == 4
    job.run()
    assert job.results["out"] == [1, 2, 4, 6, 9, 12, 16, 20, 25]


def test_a_failed_batch_can_be_run_again() -> None:
    """F1"""
    failing = [True]

    def once(value: int) -> int:
        if value == 10 and failing:
            failing.clear()
            raise RuntimeError("no luck")
        return value

    env = StreamExecutionEnvironment()
    collect(env.from_sequence(1, 5).set_parallelism(1).key_by(lambda v: 0).reduce(lambda a, b: a + b).map(once), "out")
    job = local_job(env, 2)
    job.run_batch(2)
    with pytest.raises(UserFunctionError, match="no luck"):
        job.run_batch(9)
    assert job.results["out"] == [1, 3]
    job.run()
    assert job.results["out"] == [1, 3, 6, 10, 15]


def test_metrics_count_records_per_subtask() -> None:
    """G6"""
    env = StreamExecutionEnvironment()
    collect(env.from_sequence(0, 99).key_by(lambda v: v).map(lambda v: v), "out")
    job = local_job(env, 4)
    job.run()
    counts = [m["in"] for m in job.metrics if not job.plan.vertex(m["vertex"]).is_source]
    assert sum(counts) == 100
    assert min(counts) > 10


def test_functions_are_told_how_often_the_job_was_restarted() -> None:
    """P6"""

    class Attempt(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.attempt = runtime_context.get_attempt_number()

        def map(self, value: int) -> tuple[int, int]:
            return value, self.attempt

    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2, 3]).rebalance().map(Attempt()), "out")
    job = local_job(env)
    job.run_batch(1)
    job.restart()
    job.run_batch(1)
    job.restart()
    job.run()
    assert job.results["out"] == [(1, 0), (2, 1), (3, 2)]


LATE = [At(1_000, "a"), At(20_000, "b"), At(2_000, "late")]


@pytest.mark.parametrize(("per_record", "late"), [(True, ["late"]), (False, [])])
def test_settings_of_the_environment_are_heeded(per_record: bool, late: list[str]) -> None:
    """T9: as by `execute()`; a stream without records has an empty result."""
    env = StreamExecutionEnvironment(Configuration({PER_RECORD: per_record}))
    event_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda at, _: at.timestamp)
    stamped = env.from_collection(LATE).assign_timestamps_and_watermarks(event_time).map(lambda at: at.value)
    tag: OutputTag[str] = OutputTag("late")
    windows = stamped.window_all(TumblingEventTimeWindows.of(Time.seconds(10))).side_output_late_data(tag)
    joined = windows.reduce(lambda a, b: a + b)
    collect(joined, "windows")
    collect(joined.get_side_output(tag), "late")
    job = local_job(env)
    assert job.results == {"windows": [], "late": []}
    job.run()
    assert job.results["late"] == late


def test_batch_mode_of_the_environment_is_heeded() -> None:
    """P5: a rolling reduce gives its final value only."""
    env = StreamExecutionEnvironment(Configuration({"execution.runtime-mode": "BATCH"}))
    collect(env.from_collection([1, 2, 3]).key_by(lambda v: 0).reduce(lambda a, b: a + b), "sum")
    job = local_job(env)
    job.run()
    assert job.results["sum"] == [6]


def test_a_setting_that_there_is_not_is_refused() -> None:
    env = StreamExecutionEnvironment(Configuration({"penstock.chunk.record": 5}))
    collect(env.from_collection([1]), "out")
    with pytest.raises(ConfigurationError, match=r"did you mean 'penstock\.chunk\.records'"):
        local_job(env)
