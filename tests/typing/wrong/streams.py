"""Mistakes in what is done with a stream's records."""

from penstock.common import Types
from penstock.datastream import (
    FilterFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
)
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from tests.typing.records import Order, Payment, orders, payments


class Length(MapFunction[str, int]):
    def map(self, value: str) -> int:
        return len(value)


class Paid(FilterFunction[Payment]):
    def filter(self, value: Payment) -> bool:
        return value.cents > 0


class Most(ReduceFunction[int]):
    def reduce(self, value1: int, value2: int) -> int:
        return max(value1, value2)


class Longest(MapFunction[str, int]):
    # E: override reportIncompatibleMethodOverride
    def map(self, value: int) -> int:
        return value


class Plain(ProcessFunction[Order, int]):
    # E: override reportIncompatibleMethodOverride
    def process_element(self, value: Order, ctx: ProcessFunction.Context) -> list[str]:
        return [value.user]


class ByNumber(KeyedProcessFunction[int, Order, Order]):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor[Order]("seen"))

    def process_element(self, value: Order, ctx: KeyedProcessFunction.Context[int]) -> list[Order]:
        # E: arg-type reportArgumentType
        self.count.update("one")
        # E: operator reportOptionalOperand
        self.count.value() + 1
        # E: arg-type reportArgumentType
        self.seen.add(value.cents)
        # E: misc reportArgumentType
        ctx.output(late, value.cents)
        # E: attr-defined reportAttributeAccessIssue
        ctx.get_current_key().upper()
        return [value]


late: OutputTag[str] = OutputTag("late")

# E: attr-defined reportAttributeAccessIssue
orders.map(lambda order: order.price)
# E: attr-defined reportAttributeAccessIssue
orders.map(lambda order: order.cents).map(lambda cents: cents.upper())
# E: arg-type reportArgumentType
orders.map(Length())
# E: arg-type reportArgumentType
orders.map(Length)
# E: arg-type reportArgumentType
orders.filter(Paid())
# E: arg-type reportArgumentType
orders.filter(lambda order: order.user)
# E: arg-type reportArgumentType
orders.flat_map(lambda order: order.cents)
# E: attr-defined reportAttributeAccessIssue
orders.map(lambda order: order.cents).name("cents").filter(lambda cents: cents.user)
# E: arg-type reportArgumentType
orders.union(payments)
# E: attr-defined reportAttributeAccessIssue
orders.key_by(lambda order: order.key)
# E: attr-defined reportAttributeAccessIssue
orders.reduce(lambda one, two: one)
# E: arg-type reportArgumentType
orders.key_by(lambda order: order.user).reduce(Most())
# E: arg-type reportArgumentType
orders.key_by(lambda order: order.user).reduce(lambda one, two: one.cents)
# E: arg-type reportArgumentType
orders.key_by(lambda order: order.user).process(ByNumber())
# E: arg-type reportArgumentType
orders.key_by(lambda order: order.user).process(Plain())
# E: arg-type reportArgumentType
orders.process(ByNumber())
# E: arg-type reportArgumentType
orders.uid(3)
# E: arg-type reportArgumentType
orders.set_parallelism("2")
# E: attr-defined reportAttributeAccessIssue
orders.get_side_output(late).map(lambda text: text.cents)
