"""U16: a day's window whose figures are shown every 10 s: a shop's orders and revenue of today, so far.

The window is a day of event time, by the calendar of a place eight hours ahead of UTC. A continuous trigger makes it
give its figures every ten seconds; the last ones shown are in the window's own state, so that a quiet time is quiet.

    penstock run examples/daily_revenue.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from penstock.common import Configuration, Duration, Time, Types, WatermarkStrategy
from penstock.datastream import AggregateFunction, DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import ContinuousEventTimeTrigger, TimeWindow, TumblingEventTimeWindows

DAY_MS, EVERY_MS, AHEAD_MS, DELAY_MS = 86_400_000, 10_000, 8 * 3_600_000, 2_000
MIDNIGHT_MS = 20_454 * DAY_MS - AHEAD_MS  # of 2026-01-01, eight hours ahead of UTC
PER_DAY = TumblingEventTimeWindows.of(Time.days(1), Time.hours(-8))
SHOWN = ValueStateDescriptor[tuple[int, int]]("shown", Types.TUPLE([Types.INT(), Types.INT()]))
REPRODUCIBLE = Configuration().set_boolean("penstock.watermark.per-record", True)  # what is known at a tick


class Order(NamedTuple):
    shop: str
    cents: int
    at_ms: int


class Today(NamedTuple):
    shop: str
    day: int
    orders: int
    cents: int


def generated(minutes: int = 6, seed: int = 16) -> list[Order]:
    """Orders of two shops in the minutes around midnight; up to two seconds out of order."""
    random, at_ms, made = Random(seed), MIDNIGHT_MS - minutes * 30_000, []
    while at_ms < MIDNIGHT_MS + minutes * 30_000:
        made.append(Order(random.choice(["north", "south"]), random.randint(199, 9_999), at_ms))
        at_ms += random.choice([random.randint(200, 6_000), random.randint(200, 6_000), 40_000])
    return sorted(made, key=lambda order: order.at_ms + random.randint(0, DELAY_MS))


class Sum(AggregateFunction[Order, tuple[int, int], tuple[int, int]]):
    """(orders, cents) of a window so far."""

    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Order, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value.cents

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class IfChanged(ProcessWindowFunction[tuple[int, int], Today, str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple[int, int]]
    ) -> Iterator[Today]:
        (figures,), shown = elements, context.window_state().get_state(SHOWN)
        if figures != shown.value():
            shown.update(figures)
            yield Today(key, (context.window().start + AHEAD_MS) // DAY_MS, *figures)

    def clear(self, context: ProcessWindowFunction.Context[TimeWindow]) -> None:
        context.window_state().get_state(SHOWN).clear()


def today(orders: DataStream[Order]) -> DataStream[Today]:
    """Every shop's figures of the day so far, every ten seconds if they changed."""
    event_time = WatermarkStrategy[Order].for_bounded_out_of_orderness(Duration.of_millis(DELAY_MS))
    event_time = event_time.with_timestamp_assigner(lambda order, _: order.at_ms)
    timed = orders.assign_timestamps_and_watermarks(event_time).set_parallelism(1)
    windows = timed.key_by(lambda order: order.shop).window(PER_DAY)
    every_ten_seconds = ContinuousEventTimeTrigger.of(Time.milliseconds(EVERY_MS))
    return windows.trigger(every_ten_seconds).aggregate(Sum(), IfChanged()).name("today")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(REPRODUCIBLE)
    today(env.from_collection(generated())).print()
    env.execute("daily revenue")


if __name__ == "__main__":
    main()
