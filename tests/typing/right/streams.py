"""Records keep their type from operator to operator."""

from collections.abc import Iterable, Iterator
from typing import Any, assert_type

from penstock.common import Row, Types
from penstock.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedStream,
    MapFunction,
    OutputTag,
    ProcessFunction,
    ReduceFunction,
)
from penstock.datastream.data_stream import CloseableIterator
from tests.typing.records import Order, Payment, env, orders, payments, refunds


class Cents(MapFunction[Order, int]):
    def map(self, value: Order) -> int:
        return value.cents


class Letters(FlatMapFunction[Order, str]):
    def flat_map(self, value: Order) -> Iterator[str]:
        yield from value.user


class Large(FilterFunction[Order]):
    def filter(self, value: Order) -> bool:
        return value.cents > 100


class Largest(ReduceFunction[Order]):
    def reduce(self, value1: Order, value2: Order) -> Order:
        return max(value1, value2, key=lambda order: order.cents)


small: OutputTag[str] = OutputTag("small", Types.STRING())


class Split(ProcessFunction[Order, int]):
    def process_element(self, value: Order, ctx: ProcessFunction.Context) -> Iterable[int | tuple[OutputTag[str], str]]:
        ctx.output(small, value.user)
        yield small, value.user
        yield value.cents


class Anything(MapFunction[object, str]):
    def map(self, value: object) -> str:
        return str(value)


assert_type(env.from_collection([1, 2]), DataStream[int])
assert_type(env.from_collection([(1, "a")], Types.ROW([Types.INT(), Types.STRING()])), DataStream[Row])
assert_type(env.from_sequence(1, 3), DataStream[int])

assert_type(orders.map(lambda order: order.cents), DataStream[int])
assert_type(orders.map(lambda order: (order.user, order.cents)), DataStream[tuple[str, int]])
assert_type(orders.map(lambda order: order.cents, Types.INT()), DataStream[int])
assert_type(orders.map(Cents(), output_type=Types.INT()), DataStream[int])
assert_type(orders.map(Anything()), DataStream[str])
assert_type(orders.flat_map(lambda order: [order.user]), DataStream[str])
assert_type(orders.flat_map(Letters()), DataStream[str])
assert_type(orders.filter(lambda order: order.cents > 0), DataStream[Order])
assert_type(orders.filter(Large()), DataStream[Order])
assert_type(orders.project(0, 1), DataStream[tuple[Any, ...]])

# settings keep the type of the stream
assert_type(orders.map(Cents()).name("cents").uid("cents").set_parallelism(2), DataStream[int])
assert_type(orders.map(Cents()).set_description("…").disable_chaining().start_new_chain(), DataStream[int])
assert_type(orders.map(Cents()).on_poison("skip").set_max_parallelism(4).force_non_parallel(), DataStream[int])

keyed = orders.key_by(lambda order: order.user)
assert_type(keyed, KeyedStream[Order, str])
assert_type(keyed.reduce(lambda one, two: one if one.cents > two.cents else two), DataStream[Order])
assert_type(keyed.reduce(Largest()), DataStream[Order])
assert_type(keyed.map(lambda order: order.cents), DataStream[int])
assert_type(keyed.sum("cents"), DataStream[Order])
assert_type(keyed.key_by(lambda order: order.cents), KeyedStream[Order, int])

# exchanges
assert_type(orders.rebalance(), DataStream[Order])
assert_type(orders.broadcast(), DataStream[Order])
assert_type(orders.partition_custom(lambda key, n: hash(key) % n, lambda order: order.user), DataStream[Order])

# side outputs
split = orders.process(Split())
assert_type(split, DataStream[int])
assert_type(split.get_side_output(small), DataStream[str])

# a stream of a derived class is a stream of its base
assert_type(payments.union(refunds), DataStream[Payment])

# results
assert_type(orders.execute_and_collect(), CloseableIterator[Order])
assert_type(orders.execute_and_collect("job"), CloseableIterator[Order])
assert_type(orders.execute_and_collect("job", 3), list[Order])
assert_type(orders.execute_and_collect(limit=3), list[Order])
assert_type(keyed.execute_and_collect(), CloseableIterator[Row])
with orders.execute_and_collect() as results:
    for order in results:
        assert_type(order, Order)
