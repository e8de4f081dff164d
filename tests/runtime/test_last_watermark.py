"""The watermark of the last record comes before the end of time, whether or not an exchange lies between (T4, T5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common import Configuration, WatermarkStrategy
from penstock.core.time.spans import MAX_WATERMARK
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Clock(KeyedProcessFunction):
    def process_element(self, value: int, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value - 5)
        ctx.timer_service().register_event_time_timer(value + 5)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield timestamp, ctx.timer_service().current_watermark()


@pytest.mark.parametrize("parallelism", [1, 2])
def test_timers_see_the_watermark_of_the_last_record(parallelism: int) -> None:
    """T4, T5, S4: a timer that it passes fires by it, one that it does not pass by the end of time."""
    settings = {"penstock.host": "local", "parallelism.default": "1", "penstock.watermark.per-record": "true"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value)
    stamped = env.from_collection([100]).assign_timestamps_and_watermarks(strategy)
    keyed = stamped.key_by(lambda value: value).process(Clock()).set_parallelism(parallelism)
    with keyed.execute_and_collect() as results:
        assert list(results) == [(95, 99), (105, MAX_WATERMARK)]
