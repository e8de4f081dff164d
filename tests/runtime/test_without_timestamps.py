"""Strategies without an assigner: records without a timestamp keep none, and say nothing about time (T3, T8)."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common import Duration, WatermarkStrategy
from penstock.common.errors import TimestampError
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator
from penstock.core.time.clock import ManualClock
from penstock.datastream import ProcessFunction, PythonSource, StreamExecutionEnvironment, Timestamped
from penstock.testing.jobs import collect, local_job

LATE_BY_5 = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))


class Times(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Mixed(PythonSource):
    """Gives what it was made of: records, some of them `Timestamped`."""

    bounded = True

    def __init__(self, *records: Any) -> None:
        self.records = records

    def partitions(self) -> list[int]:
        return [0]

    def latest_offset(self, partition: int, start: int, limit: int) -> int:
        return min(start + limit, len(self.records))

    def is_end(self, partition: int, offset: int) -> bool:
        return offset == len(self.records)

    def read_partition(self, partition: int, start: int, end: int) -> Any:
        return self.records[start:end]


def seen(strategy: WatermarkStrategy, *records: Any, beside: bool = False) -> list[Any]:
    """What a process function sees, with a batch for each record."""
    env = StreamExecutionEnvironment()
    if beside:
        stream = env.from_source(Mixed(*records), strategy, "mixed")
    else:
        plain = env.from_source(Mixed(*records), WatermarkStrategy.no_watermarks(), "mixed")
        stream = plain.assign_timestamps_and_watermarks(strategy)
    collect(stream.process(Times()), "out")
    job = local_job(env, clock=ManualClock())
    job.run([1] * len(records))
    return [(value, time, max(mark, -1)) for value, time, mark in job.results["out"]]


@pytest.mark.parametrize("beside", [False, True], ids=["in a stage", "beside the source"])
@pytest.mark.parametrize("strategy", [WatermarkStrategy.for_monotonous_timestamps(), LATE_BY_5])
def test_records_without_timestamp_pass_and_time_stands_still(strategy: WatermarkStrategy, beside: bool) -> None:
    """T3, T8: as in Flink, whose generator sees the smallest number there is."""
    assert seen(strategy, "a", "b", beside=beside) == [("a", None, -1), ("b", None, -1)]


@pytest.mark.parametrize("beside", [False, True], ids=["in a stage", "beside the source"])
def test_those_with_a_timestamp_make_the_watermark_alone(beside: bool) -> None:
    """T3: largest timestamp − delay − 1."""
    records = ["a", Timestamped("b", 100), "c", Timestamped("d", 50), "e"]
    expected = [("a", None, -1), ("b", 100, -1), ("c", None, 94), ("d", 50, 94), ("e", None, 94)]
    assert seen(LATE_BY_5, *records, beside=beside) == expected


def test_stamped_and_unstamped_records_in_one_batch() -> None:
    """T3"""
    env = StreamExecutionEnvironment()
    collect(env.from_source(Mixed("a", Timestamped("b", 100), "c"), LATE_BY_5, "mixed").process(Times()), "out")
    job = local_job(env, clock=ManualClock())
    job.run()
    assert [(value, time) for value, time, _ in job.results["out"]] == [("a", None), ("b", 100), ("c", None)]


def test_a_timestamp_that_is_none_at_all_is_still_refused() -> None:
    """P9, T8"""
    with pytest.raises(TimestampError, match=r"got the timestamp '7' \(str\) for record 'a': return milliseconds"):
        seen(LATE_BY_5, Timestamped("a", "7"))  # type: ignore[arg-type]


class Smallest(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        output.emit_watermark(Watermark(1 if event_timestamp == -(2**63) else 0))


def test_a_generator_of_ones_own_sees_the_smallest_number() -> None:
    """T7"""
    assert seen(WatermarkStrategy.for_generator(Smallest), "a", "b") == [("a", None, -1), ("b", None, 1)]
