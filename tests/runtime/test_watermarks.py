"""When watermarks leave: at record counts and at the end of a batch, never by the wall clock (T3, T9)."""

from typing import Any

import pytest

from penstock.common import Duration, WatermarkStrategy
from penstock.core.program.job import RuntimeSettings
from penstock.core.time.spans import MIN_WATERMARK
from penstock.core.time.watermarks import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.testing import collect, local_job


class Clock(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        now = ctx.timer_service().current_watermark()
        yield None if now == MIN_WATERMARK else now


class Ten(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int | None) -> int:
        return int(value) * 10


def clocks(batches: list[int], strategy: WatermarkStrategy | None = None, **settings: Any) -> list[Any]:
    env = StreamExecutionEnvironment()
    chosen = strategy or WatermarkStrategy.for_monotonous_timestamps()
    numbers = env.from_sequence(1, 6).assign_timestamps_and_watermarks(chosen.with_timestamp_assigner(Ten()))
    collect(numbers.key_by(lambda v: 0).process(Clock()), "out")
    job = local_job(env, settings=RuntimeSettings(**settings))
    job.run(batches)
    return job.results["out"]


@pytest.mark.parametrize(
    ("batches", "settings", "expected"),
    [
        ([], {}, [None] * 6),
        ([], {"watermark_records": 2}, [None, None, 19, 19, 39, 39]),
        ([], {"per_record_watermarks": True}, [None, 9, 19, 29, 39, 49]),
        ([3], {}, [None, None, None, 29, 29, 29]),
        ([3], {"watermark_records": 2}, [None, None, 19, 29, 29, 49]),
        ([1] * 6, {}, [None, 9, 19, 29, 39, 49]),
        ([1] * 6, {"periodic_watermarks": False}, [None] * 6),
        ([], {"periodic_watermarks": False, "per_record_watermarks": True}, [None, 9, 19, 29, 39, 49]),
    ],
)
def test_watermarks_leave_after_a_number_of_records_and_at_the_end_of_a_batch(
    batches: list[int], settings: Any, expected: list[Any]
) -> None:
    """T9"""
    assert clocks(batches, **settings) == expected


def test_the_delay_holds_the_watermark_back() -> None:
    """T3"""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(15))
    assert clocks([], strategy, per_record_watermarks=True) == [None, -6, 4, 14, 24, 34]


def test_without_watermarks_time_stands_still_until_the_end() -> None:
    """T3, T4"""
    assert clocks([1] * 6, WatermarkStrategy.no_watermarks(), per_record_watermarks=True) == [None] * 6


@pytest.mark.parametrize(
    ("text", "periodic"), [("0", False), ("0 ms", False), ("0 s", False), ("200", True), (None, True)]
)
def test_an_interval_of_zero_switches_periodic_watermarks_off(text: str | None, periodic: bool) -> None:
    """T9"""
    from penstock.common import Configuration
    from penstock.launch import plan_options

    conf = Configuration({} if text is None else {"pipeline.auto-watermark-interval": text})
    assert plan_options(conf, "local", 1, 128).settings.periodic_watermarks is periodic
