"""Mistakes in windows and in operators of two streams."""

from collections.abc import Iterable

from penstock.cep import CEP, Pattern
from penstock.common import Time
from penstock.datastream import (
    AggregateFunction,
    AsyncDataStream,
    AsyncFunction,
    CoMapFunction,
    OutputTag,
    WindowFunction,
)
from penstock.datastream.window import CountWindow, TimeWindow, TumblingEventTimeWindows
from tests.typing.records import Order, Payment, orders, payments


class Sum(AggregateFunction[int, int, int]):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + value

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Counted(WindowFunction[Order, int, str, CountWindow]):
    def apply(self, key: str, window: CountWindow, inputs: Iterable[Order]) -> list[int]:
        return [window.id]


class Keyed(WindowFunction[Order, int, int, TimeWindow]):
    def apply(self, key: int, window: TimeWindow, inputs: Iterable[Order]) -> list[int]:
        return [key]


class Swapped(CoMapFunction[Payment, Order, int]):
    def map1(self, value: Payment) -> int:
        return value.cents

    def map2(self, value: Order) -> int:
        return value.cents


class Look(AsyncFunction[Payment, str]):
    async def async_invoke(self, value: Payment) -> list[str]:
        return [value.user]


five = TumblingEventTimeWindows.of(Time.seconds(5))
windows = orders.key_by(lambda order: order.user).window(five)
late: OutputTag[Payment] = OutputTag("late")
# E: arg-type reportArgumentType
windows.aggregate(Sum())
# E: arg-type reportArgumentType
windows.apply(Counted())
# E: arg-type reportArgumentType
windows.apply(Keyed())
# E: attr-defined reportAttributeAccessIssue
windows.reduce(lambda one, two: one).map(lambda order: order.price)
# E: arg-type reportArgumentType
windows.side_output_late_data(late)

# E: arg-type reportArgumentType
orders.connect(payments).map(Swapped())
# E: attr-defined reportAttributeAccessIssue
orders.connect(payments).key_by(lambda order: order.user, lambda payment: payment.at_ms)
met = orders.join(payments).where(lambda order: order.user).equal_to(lambda payment: payment.user).window(five)
# E: attr-defined reportAttributeAccessIssue
met.apply(lambda order, payment: payment.at_ms)
# E: arg-type reportArgumentType
orders.join(payments).where(lambda order: order.user).equal_to(lambda payment: payment.cents)
left, right = orders.key_by(lambda order: order.user), payments.key_by(lambda payment: payment.user)
# E: union-attr reportOptionalMemberAccess
left.regular_join(right).left(lambda order, payment: payment.cents)
# E: arg-type reportArgumentType
left.interval_join(payments)

# E: misc reportArgumentType
AsyncDataStream.unordered_wait(orders, Look(), Time.seconds(5))
# E: attr-defined reportAttributeAccessIssue
CEP.pattern(orders, Pattern.begin("one")).select(lambda match: match["one"][0].price)
