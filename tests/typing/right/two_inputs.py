"""Operators of two streams know the records of both."""

from collections.abc import Iterator
from typing import assert_type

from penstock.common import Time, Types
from penstock.common.types import RowKind
from penstock.datastream import (
    BroadcastConnectedStream,
    BroadcastProcessFunction,
    BroadcastStream,
    CoFlatMapFunction,
    CoMapFunction,
    ConnectedStreams,
    DataStream,
    KeyedCoProcessFunction,
    ProcessJoinFunction,
)
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows
from tests.typing.records import Order, Payment, orders, payments


class Either(CoMapFunction[Order, Payment, str]):
    def map1(self, value: Order) -> str:
        return value.user

    def map2(self, value: Payment) -> str:
        return value.user


class Both(CoFlatMapFunction[Order, Payment, int]):
    def flat_map1(self, value: Order) -> list[int]:
        return [value.at_ms]

    def flat_map2(self, value: Payment) -> Iterator[int]:
        yield value.cents


class Open(KeyedCoProcessFunction[str, Order, Payment, int]):
    def process_element1(self, value: Order, ctx: KeyedCoProcessFunction.Context[str]) -> Iterator[int]:
        assert_type(ctx.get_current_key(), str)
        yield value.cents

    def process_element2(self, value: Payment, ctx: KeyedCoProcessFunction.Context[str]) -> Iterator[int]:
        yield -value.cents


class Paid(ProcessJoinFunction[Order, Payment, tuple[str, int]]):
    def process_element(
        self, left: Order, right: Payment, ctx: ProcessJoinFunction.Context
    ) -> Iterator[tuple[str, int]]:
        yield left.user, left.cents - right.cents


class Unpaid(ProcessJoinFunction[Order, Payment | None, str]):
    def process_element(self, left: Order, right: Payment | None, ctx: ProcessJoinFunction.Context) -> Iterator[str]:
        if right is None:
            yield left.user


connected = orders.connect(payments)
assert_type(connected, ConnectedStreams[Order, Payment])
assert_type(connected.map(Either()), DataStream[str])
assert_type(connected.flat_map(Both()).name("both"), DataStream[int])
by_user = connected.key_by(lambda order: order.user, lambda payment: payment.user)
assert_type(by_user, ConnectedStreams[Order, Payment])
assert_type(by_user.process(Open()), DataStream[int])

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
broadcast = payments.broadcast(rules)
assert_type(broadcast, BroadcastStream[Payment])


class Ruled(BroadcastProcessFunction[Order, Payment, Order]):
    def process_element(self, value: Order, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterator[Order]:
        assert_type(ctx.get_broadcast_state(rules).get(value.user), int | None)
        yield value

    def process_broadcast_element(self, value: Payment, ctx: BroadcastProcessFunction.Context) -> None:
        ctx.get_broadcast_state(rules).put(value.user, value.cents)


assert_type(orders.connect(broadcast), BroadcastConnectedStream[Order, Payment])
assert_type(orders.connect(broadcast).process(Ruled()), DataStream[Order])

met = orders.join(payments).where(lambda order: order.user).equal_to(lambda payment: payment.user)
in_window = met.window(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(in_window.apply(lambda order, payment: order.cents - payment.cents), DataStream[int])

grouped = orders.co_group(payments).where(lambda order: order.user).equal_to(lambda payment: payment.user)
groups = grouped.window(TumblingEventTimeWindows.of(Time.seconds(5)))
assert_type(groups.apply(lambda first, second: [(len(first), second[0].cents)]), DataStream[tuple[int, int]])

left, right = orders.key_by(lambda order: order.user), payments.key_by(lambda payment: payment.user)
near = left.interval_join(right).between(Time.seconds(0), Time.seconds(5))
assert_type(near.process(Paid()), DataStream[tuple[str, int]])
assert_type(near.left_outer().process(Unpaid()), DataStream[str])
assert_type(left.regular_join(right).inner(lambda order, payment: payment.cents), DataStream[int])
assert_type(
    left.regular_join(right).left(lambda order, payment: payment.cents if payment else 0),
    DataStream[tuple[RowKind, int]],
)
