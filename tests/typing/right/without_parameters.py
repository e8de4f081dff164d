"""A program in PyFlink's manner, without type parameters, also passes; what it does not say is Any."""

from typing import Any, assert_type

from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessWindowFunction,
    RuntimeContext,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import CountTrigger, TimeWindow, Trigger, TriggerResult, TumblingEventTimeWindows
from tests.typing.records import orders


class Cents(MapFunction):
    def map(self, value):  # type: ignore[no-untyped-def]
        return value.cents


class Annotated(MapFunction):
    def map(self, value: int) -> str:
        return str(value)


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int | None) -> int:
        return int(value.at_ms)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        assert_type(ctx.get_current_key(), Any)
        yield value, count
        yield OutputTag("late", Types.INT()), 3

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        yield timestamp


class Sum(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value.cents)

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Named(ProcessWindowFunction):
    def process(self, key: str, context: ProcessWindowFunction.Context, elements: Any) -> Any:
        yield key, context.window().end, *elements


class Twice(Trigger):
    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: Any, ctx: Trigger.OnMergeContext) -> None: ...
    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None: ...


strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda order, _: order.at_ms)
assert_type(strategy, WatermarkStrategy[Any])
timed = orders.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Stamp()))
assert_type(timed.map(Cents()), DataStream[Any])
assert_type(timed.map(Cents(), output_type=Types.INT()).map(Annotated()).name("text"), DataStream[Any])
keyed = timed.key_by(lambda order: order.user)
assert_type(keyed.process(Count(), Types.TUPLE([Types.STRING(), Types.INT()])), DataStream[Any])
windows = keyed.window(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(windows.trigger(CountTrigger.of(2)).aggregate(Sum(), Named()), DataStream[Any])
windows.trigger(Twice())
