"""Replayable sources written by users: partitions, offsets, timestamps (X1, F1, T8)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import WatermarkStrategy
from penstock.core.contracts.source import Position
from penstock.core.errors import SourceError, UserFunctionError
from penstock.core.time.spans import MIN_WATERMARK
from penstock.datastream import (
    KeyedProcessFunction,
    ProcessFunction,
    PythonSource,
    StreamExecutionEnvironment,
    Timestamped,
)
from penstock.testing import LocalJob, collect, local_job


class Lists(PythonSource):
    def __init__(self, rows: dict[str, list[Any]]) -> None:
        self.rows = rows

    def partitions(self) -> Sequence[str]:
        return sorted(self.rows)

    def latest_offset(self, partition: str, start: int, limit: int) -> int:
        return min(start + limit, len(self.rows[partition]))

    def is_end(self, partition: str, offset: int) -> bool:
        return offset == len(self.rows[partition])

    def read_partition(self, partition: str, start: int, end: int) -> Iterator[Any]:
        return iter(self.rows[partition][start:end])


class Clock(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        now = ctx.timer_service().current_watermark()
        yield value, ctx.timestamp(), None if now == MIN_WATERMARK else now


def job_of(source: PythonSource, strategy: WatermarkStrategy | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_source(source, strategy or WatermarkStrategy.no_watermarks(), "lists")
    collect(stream.global_().process(Clock()), "out")
    return local_job(env)


rows = st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), max_size=9), min_size=1)
steps = st.lists(st.sampled_from(["batch", "lost", "restart"]), max_size=12)


@given(rows, st.integers(1, 4), steps)
def test_every_record_once_however_often_the_job_dies(rows: dict[str, list[int]], limit: int, steps: list[str]) -> None:
    """F1, X1: batches that were run but not committed are read again."""
    job = job_of(Lists(rows))
    for step in steps:
        if step == "restart":
            job.restart()
        else:
            job.run_batch(limit, commit=step == "batch")
    job.run()
    assert Counter(v for v, _, _ in job.results.get("out", [])) == Counter(v for part in rows.values() for v in part)


def test_a_batch_run_again_reads_the_same() -> None:
    """F1: also after a restart, while the source has grown."""
    source = Growing(["a", "b"])
    job = job_of(source)
    job.run_batch(10, commit=False)
    source.rows["p"].append("c")
    job.restart()
    job.run_batch(2)
    assert [v for v, _, _ in job.results["out"]] == ["a", "b"]
    job.run_batch(10)
    assert [v for v, _, _ in job.results["out"]] == ["a", "b", "c"]
    assert not job.finished


class Growing(Lists):
    bounded = False

    def __init__(self, rows: list[Any]) -> None:
        super().__init__({"p": rows})

    def is_end(self, partition: str, offset: int) -> bool:
        return False


def test_records_may_carry_timestamps() -> None:
    """T8, T3: watermarks are made of them, in each partition."""
    source = Lists({"p": [Timestamped("a", 10), Timestamped("b", 20)]})
    job = job_of(source, WatermarkStrategy.for_monotonous_timestamps())
    job.run([1])
    assert job.results["out"] == [("a", 10, None), ("b", 20, 9)]


def test_some_records_may_have_none() -> None:
    """T8"""
    job = job_of(Lists({"p": [Timestamped("a", 10), "b"]}))
    job.run()
    assert job.results["out"] == [("a", 10, None), ("b", None, None)]


def test_state_survives_with_the_offsets() -> None:
    """F1, S1"""

    class Count(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            from penstock.common import Types
            from penstock.datastream.state import ValueStateDescriptor

            self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

        def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
            self.count.update((self.count.value() or 0) + 1)
            yield self.count.value()

    env = StreamExecutionEnvironment()
    stream = env.from_source(Lists({"p": [1] * 6}), WatermarkStrategy.no_watermarks(), "lists")
    collect(stream.key_by(lambda v: v).process(Count()), "out")
    job = local_job(env)
    job.run_batch(2)
    job.run_batch(2, commit=False)
    job.restart()
    job.run([1])
    assert job.results["out"] == [1, 2, 3, 4, 5, 6]


def test_other_partitions_than_the_checkpoint_knows_are_refused() -> None:
    """P9, F8"""
    source = Lists({"b": []})
    with pytest.raises(SourceError, match=r"partitions of Lists have changed .*: number 0 was 'a', is 'b'\. Restore"):
        source.advance(0, 1, Position({"partition": "a", "offset": 0}), Position(None), 1, None)  # type: ignore[arg-type]


def test_a_source_without_partitions_is_refused() -> None:
    """P9"""
    with pytest.raises(SourceError, match=r"Lists\.partitions\(\) gave none: a source needs at least one"):
        job_of(Lists({}))


class Endless(Growing):
    bounded = True


def test_a_bounded_source_that_does_not_end_is_refused() -> None:
    """P9"""
    source = Endless([1])
    with pytest.raises(
        SourceError, match=r"Endless is bounded, but partition 'p' stops at offset 1 without is_end\(\)"
    ):
        list(source.read(0, 1, source.initial(0, 1), None))


class Broken(Lists):
    def read_partition(self, partition: str, start: int, end: int) -> Iterator[Any]:
        raise OSError("unplugged")


def test_a_failing_source_is_named() -> None:
    """P9"""
    with pytest.raises(UserFunctionError, match=r"Reading of operator 'Source: lists' \(uid .*\) failed\n"):
        job_of(Broken({"p": [1]})).run()


def test_more_records_than_are_read_at_once() -> None:
    job = job_of(Lists({"p": list(range(20_000))}))
    job.run()
    assert [v for v, _, _ in job.results["out"]] == list(range(20_000))
