"""Windowed streams know their records, their key and their windows."""

from collections.abc import Iterable, Iterator
from typing import assert_type

from penstock.common import Time, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    OutputTag,
    ProcessWindowFunction,
    WindowedStream,
    WindowFunction,
)
from penstock.datastream.data_stream import AllWindowedStream
from penstock.datastream.functions import ProcessAllWindowFunction
from penstock.datastream.window import (
    CountTrigger,
    CountWindow,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    PurgingTrigger,
    TimeWindow,
    TumblingEventTimeWindows,
)
from tests.typing.records import Order, orders


class Stamp(TimestampAssigner[Order]):
    def extract_timestamp(self, value: Order, record_timestamp: int | None) -> int:
        return value.at_ms


strategy = WatermarkStrategy[Order].for_monotonous_timestamps()
assert_type(strategy, WatermarkStrategy[Order])
assert_type(strategy.with_timestamp_assigner(lambda order, _: order.at_ms), WatermarkStrategy[Order])
assert_type(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp()), WatermarkStrategy[Order])
timed = orders.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Stamp()))
assert_type(timed, DataStream[Order])

keyed = timed.key_by(lambda order: order.user)
windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(windows, WindowedStream[Order, str, TimeWindow])
assert_type(keyed.window(EventTimeSessionWindows.with_gap(Time.seconds(5))), WindowedStream[Order, str, TimeWindow])
assert_type(
    keyed.window(EventTimeSessionWindows.with_dynamic_gap(lambda order: order.cents)),
    WindowedStream[Order, str, TimeWindow],
)
assert_type(keyed.count_window(3), WindowedStream[Order, str, CountWindow])
assert_type(keyed.window(GlobalWindows.create()), WindowedStream[Order, str, GlobalWindow])

late: OutputTag[Order] = OutputTag("late")
assert_type(
    windows.trigger(EventTimeTrigger.create()).allowed_lateness(Time.seconds(1)).side_output_late_data(late),
    WindowedStream[Order, str, TimeWindow],
)
windows.trigger(PurgingTrigger.of(CountTrigger.of(3)))


class Sum(AggregateFunction[Order, int, float]):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Order, accumulator: int) -> int:
        return accumulator + value.cents

    def get_result(self, accumulator: int) -> float:
        return accumulator / 100

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Named(ProcessWindowFunction[float, tuple[str, int, float], str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[float]
    ) -> Iterator[tuple[str, int, float]]:
        for total in elements:
            yield key, context.window().end, total


class Users(WindowFunction[Order, str, str, TimeWindow]):
    def apply(self, key: str, window: TimeWindow, inputs: Iterable[Order]) -> list[str]:
        return [order.user for order in inputs]


class Count(ProcessAllWindowFunction[Order, int, TimeWindow]):
    def process(
        self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[Order]
    ) -> Iterator[int]:
        yield context.window().start


assert_type(windows.reduce(lambda one, two: one), DataStream[Order])
assert_type(windows.reduce(lambda one, two: one, Users()), DataStream[str])
assert_type(windows.aggregate(Sum()), DataStream[float])
assert_type(windows.aggregate(Sum(), Named()), DataStream[tuple[str, int, float]])
assert_type(windows.apply(Users()), DataStream[str])

everything = timed.window_all(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(everything, AllWindowedStream[Order, TimeWindow])
assert_type(everything.process(Count()), DataStream[int])
assert_type(everything.aggregate(Sum()), DataStream[float])
