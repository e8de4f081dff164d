"""Patterns and asynchronous functions."""

from collections.abc import Iterator
from typing import assert_type

from penstock.cep import (
    CEP,
    IterativeCondition,
    Pattern,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternStream,
    SimpleCondition,
)
from penstock.common import Time
from penstock.datastream import AsyncDataStream, AsyncFunction, DataStream, OutputTag
from tests.typing.records import Order, orders


class Look(AsyncFunction[Order, str]):
    async def async_invoke(self, value: Order) -> list[str]:
        return [value.user]


looked = AsyncDataStream.unordered_wait(orders, Look(), Time.seconds(5), 10)
assert_type(looked, DataStream[str])
assert_type(AsyncDataStream.ordered_wait(orders, Look(), Time.seconds(5)).uid("look"), DataStream[str])


class Large(SimpleCondition[Order]):
    def filter(self, value: Order) -> bool:
        return value.cents > 500


class Larger(IterativeCondition[Order]):
    def filter(self, value: Order, ctx: IterativeCondition.Context[Order]) -> bool:
        return all(value.cents > taken.cents for taken in ctx.get_events_for_pattern("small"))


pattern = Pattern.begin("small").where(lambda order: order.cents < 10).next("large").where(Large()).where(Larger())
found = CEP.pattern(orders.key_by(lambda order: order.user), pattern)
assert_type(found, PatternStream[Order])
assert_type(found.in_processing_time(), PatternStream[Order])


class Cents(PatternSelectFunction[Order, int]):
    def select(self, pattern: dict[str, list[Order]]) -> int:
        return pattern["small"][0].cents


class Matches(PatternProcessFunction[Order, str]):
    def process_match(self, match: dict[str, list[Order]], ctx: PatternProcessFunction.Context) -> Iterator[str]:
        yield match["small"][0].user


expired: OutputTag[int] = OutputTag("expired")
assert_type(found.select(lambda match: match["small"][0].user), DataStream[str])
assert_type(found.select(Cents()), DataStream[int])
assert_type(found.process(Matches()).name("matches"), DataStream[str])
assert_type(found.flat_select(lambda match: match["large"]), DataStream[Order])
timed = found.select(expired, lambda match, until: until, lambda match: match["small"][0].user)
assert_type(timed, DataStream[str])
assert_type(timed.get_side_output(expired), DataStream[int])
