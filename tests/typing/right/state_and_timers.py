"""State has the type that its descriptor has; a keyed function knows the type of its key."""

from collections.abc import Iterator
from typing import assert_type

from penstock.common import Types
from penstock.datastream import AggregateFunction, DataStream, KeyedProcessFunction, OutputTag, RuntimeContext
from penstock.datastream.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from tests.typing.records import Order, orders


class Mean(AggregateFunction[int, tuple[int, int], float]):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


late: OutputTag[Order] = OutputTag("late")


class Totals(KeyedProcessFunction[str, Order, tuple[str, int]]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        assert_type(self.total, ValueState[int])
        self.seen = runtime_context.get_list_state(ListStateDescriptor[Order]("seen"))
        assert_type(self.seen, ListState[Order])
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.STRING(), Types.INT()))
        assert_type(self.counts, MapState[str, int])
        self.most = runtime_context.get_reducing_state(ReducingStateDescriptor[int]("most", max))
        assert_type(self.most, ReducingState[int])
        self.mean = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean()))
        assert_type(self.mean, AggregatingState[int, float])

    def process_element(
        self, value: Order, ctx: KeyedProcessFunction.Context[str]
    ) -> Iterator[tuple[str, int] | tuple[OutputTag[Order], Order]]:
        assert_type(ctx.get_current_key(), str)
        assert_type(ctx.timestamp(), int | None)
        total = (self.total.value() or 0) + value.cents
        self.total.update(total)
        self.seen.add(value)
        for seen in self.seen:
            assert_type(seen, Order)
        for name, count in self.counts.items():
            assert_type((name, count), tuple[str, int])
        ctx.timer_service().register_event_time_timer(value.at_ms + 1)
        ctx.output(late, value)
        yield late, value
        yield ctx.get_current_key(), total

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[str]) -> Iterator[tuple[str, int]]:
        assert_type(ctx.get_current_key(), str)
        yield ctx.get_current_key(), self.total.value() or 0


totals = orders.key_by(lambda order: order.user).process(Totals())
assert_type(totals, DataStream[tuple[str, int]])
assert_type(totals.uid("totals").get_side_output(late), DataStream[Order])
