"""The five kinds of keyed state: empty, None, update, clear, iteration; each key its own."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
)
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

from differential.programs.kit import Program

PROGRAM = Program()


def commands(draw, names, count=60):
    """(key, what to do, with which number)"""
    return [(draw.choice("abc"), draw.choice(names), draw.randint(0, 9)) for _ in range(count)]


def keyed(env, draw, *names):
    return env.from_collection(commands(draw, names)).key_by(lambda c: c[0], Types.STRING())


class Values(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_state(ValueStateDescriptor("value", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        key, what, number = value
        before = self.state.value()
        if what == "set":
            self.state.update(number)
        elif what == "add":
            self.state.update((before or 0) + number)
        elif what == "clear":
            self.state.clear()
        yield key, what, before, self.state.value()


@PROGRAM.stream()
def value_state(env, draw):
    return keyed(env, draw, "set", "add", "clear", "read").process(Values())


class Objects(KeyedProcessFunction):
    """Without a type: any object."""

    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_state(ValueStateDescriptor("object", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        seen = self.state.value() or {"numbers": []}
        seen["numbers"].append(value[2])
        if value[1] == "keep":
            self.state.update(seen)
        yield value[0], value[1], self.state.value()


@PROGRAM.stream()
def value_state_of_objects_replaced(env, draw):
    return keyed(env, draw, "keep").process(Objects())


@PROGRAM.stream()
def value_state_of_objects_changed_without_update(env, draw):
    return keyed(env, draw, "keep", "forget").process(Objects())


class Lists(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_list_state(ListStateDescriptor("list", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        key, what, number = value
        if what == "add":
            self.state.add(number)
        elif what == "add all":
            self.state.add_all([number, number + 1])
        elif what == "update":
            self.state.update([number] * 3)
        elif what == "empty":
            self.state.update([])
        elif what == "clear":
            self.state.clear()
        yield key, what, list(self.state.get()), sum(1 for _ in self.state)


@PROGRAM.stream()
def list_state(env, draw):
    return keyed(env, draw, "add", "add", "add", "add all", "update", "clear", "read").process(Lists())


@PROGRAM.stream()
def list_state_updated_with_nothing(env, draw):
    return keyed(env, draw, "add", "add", "empty").process(Lists())


class Maps(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_map_state(MapStateDescriptor("map", Types.LONG(), Types.STRING()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        key, what, number = value
        if what == "put":
            self.state.put(number, str(number))
        elif what == "item":
            self.state[number] = f"[{number}]"
        elif what == "put dict":
            self.state.put_all({number: "all", number + 1: "all"})
        elif (what == "remove" and number in self.state) or what == "remove unseen":
            self.state.remove(number)
        elif what == "delete" and number in self.state:
            del self.state[number]
        elif what == "clear":
            self.state.clear()
        got = self.state.get(number), self.state.contains(number), number in self.state, self.state.is_empty()
        looked = sorted(self.state), sorted(self.state.keys()), sorted(self.state.values()), sorted(self.state.items())
        yield key, what, got, looked


@PROGRAM.stream()
def map_state(env, draw):
    return keyed(env, draw, "put", "put", "item", "remove", "delete", "clear", "read").process(Maps())


class NoneInMap(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.state.put(str(value[2] % 3), None if value[1] == "none" else value[2])
        yield value[0], sorted(self.state.keys()), self.state.get("0"), self.state.contains("0")


@PROGRAM.stream()
def map_state_with_none_as_value(env, draw):
    return keyed(env, draw, "none", "some").process(NoneInMap())


class TupleKeys(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_map_state(
            MapStateDescriptor("map", Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY())
        )

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        place = (value[1], value[2] % 2)
        self.state.put(place, [*(self.state.get(place) or []), value[2]])
        yield value[0], sorted(self.state.items())


@PROGRAM.stream()
def map_state_of_objects(env, draw):
    return keyed(env, draw, "x", "y").process(TupleKeys())


class Summed(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Reduced(KeyedProcessFunction):
    def __init__(self, function):
        self.function = function

    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", self.function, Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        before = self.state.get()
        if value[1] == "add":
            self.state.add(value[2])
        elif value[1] == "clear":
            self.state.clear()
        yield value[0], value[1], before, self.state.get()


@PROGRAM.stream()
def reducing_state(env, draw):
    return keyed(env, draw, "add", "add", "clear", "read").process(Reduced(Summed()))


@PROGRAM.stream()
def reducing_state_of_a_lambda(env, draw):
    return keyed(env, draw, "add", "add", "clear", "read").process(Reduced(lambda a, b: a * 2 + b))


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1] if accumulator[1] else "nothing"

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Averaged(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        descriptor = AggregatingStateDescriptor("average", Average(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        self.state = runtime_context.get_aggregating_state(descriptor)

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        before = self.state.get()
        if value[1] == "add":
            self.state.add(value[2])
        elif value[1] == "clear":
            self.state.clear()
        yield value[0], value[1], before, self.state.get()


@PROGRAM.stream()
def aggregating_state(env, draw):
    return keyed(env, draw, "add", "add", "clear", "read").process(Averaged())


class Several(KeyedProcessFunction):
    """States of one operator do not see each other."""

    def open(self, runtime_context: RuntimeContext):
        self.one = runtime_context.get_state(ValueStateDescriptor("one", Types.LONG()))
        self.two = runtime_context.get_state(ValueStateDescriptor("two", Types.STRING()))
        self.many = runtime_context.get_list_state(ListStateDescriptor("many", Types.STRING()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.one.update((self.one.value() or 0) + value[2])
        self.two.update((self.two.value() or "") + value[1])
        self.many.add(f"{self.one.value()}{self.two.value()[-3:]}")
        if value[2] == 0:
            self.one.clear()
        yield ctx.get_current_key(), self.one.value(), self.two.value(), list(self.many.get())[-3:]


@PROGRAM.stream()
def several_states(env, draw):
    return keyed(env, draw, "x", "y", "z").process(Several())


class Rows(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        kind = Types.ROW_NAMED(["last", "count"], [Types.STRING(), Types.LONG()])
        self.state = runtime_context.get_state(ValueStateDescriptor("row", kind))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        seen = self.state.value() or Row(last="", count=0)
        self.state.update(Row(last=value[1], count=seen.count + 1))
        yield value[0], self.state.value().last, self.state.value()["count"]


@PROGRAM.stream()
def value_state_of_rows(env, draw):
    return keyed(env, draw, "x", "y").process(Rows())


class CountingMap(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return value[0], self.count.value()


class EveryThird(FilterFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def filter(self, value):
        self.count.update((self.count.value() or 0) + 1)
        return self.count.value() % 3 == 0


class Backlog(FlatMapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.held = runtime_context.get_list_state(ListStateDescriptor("held", Types.PICKLED_BYTE_ARRAY()))

    def flat_map(self, value):
        self.held.add(value)
        held = list(self.held.get())
        if len(held) == 4:
            self.held.clear()
            yield from held


@PROGRAM.stream()
def state_in_a_map(env, draw):
    return keyed(env, draw, "x").map(CountingMap())


@PROGRAM.stream()
def state_in_a_filter(env, draw):
    return keyed(env, draw, "x").filter(EveryThird())


@PROGRAM.stream()
def state_in_a_flat_map(env, draw):
    return keyed(env, draw, "x").flat_map(Backlog())


class CountingReduce(ReduceFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def reduce(self, value1, value2):
        self.count.update((self.count.value() or 0) + 1)
        return value1[0], value1[1], self.count.value()


@PROGRAM.stream()
def state_in_a_reduce(env, draw):
    return keyed(env, draw, "x").reduce(CountingReduce())
