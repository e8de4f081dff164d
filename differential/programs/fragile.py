"""Where PyFlink itself was seen to fail: kept apart, since a job that fails is run again case by case."""

from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import OutputTag, RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from differential.programs.kit import Program
from differential.programs.state import Maps, keyed

PROGRAM = Program()
TAG = OutputTag("nobody")


@PROGRAM.stream()
def none_as_a_record(env, draw):
    items = [draw.choice([None, 1, "x"]) for _ in range(20)] + [None]
    return env.from_collection(items).map(lambda n: n).disable_chaining().map(lambda n: n)


@PROGRAM.stream()
def a_collection_of_typed_lists(env, draw):
    return env.from_collection([[1, 2], []], Types.LIST(Types.LONG())).map(lambda v: (type(v).__name__, v))


@PROGRAM.stream()
def a_tuple_where_a_row_is_declared(env, draw):
    kind = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    return (
        env.from_collection([1]).map(lambda n: ("Ann", n), kind).disable_chaining().map(lambda row: (row.name, row.age))
    )


class Tagged(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield TAG, value
        yield value


@PROGRAM.stream()
def a_side_output_that_nobody_reads(env, draw):
    return env.from_collection([1, 2]).process(Tagged()).map(lambda v: type(v).__name__)


class NoneValue(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.state = runtime_context.get_state(ValueStateDescriptor("maybe", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        before = self.state.value()
        self.state.update(None if value[1] == "none" else value[2])
        yield value[0], value[1], before, self.state.value()


@PROGRAM.stream()
def value_state_updated_to_none(env, draw):
    return keyed(env, draw, "none", "some").process(NoneValue())


@PROGRAM.stream()
def map_state_put_all_of_a_dict(env, draw):
    return keyed(env, draw, "put dict").process(Maps())


@PROGRAM.stream()
def map_state_cleared_then_removed_from(env, draw):
    return keyed(env, draw, "put", "clear", "remove unseen").process(Maps())
