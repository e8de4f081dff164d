"""What a declared type does to records on their way: rows, tuples, numbers, arrays, times."""

from __future__ import annotations

import datetime
import decimal

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import ProcessFunction

from differential.programs.kit import Program

PROGRAM = Program()
PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])


def case(name, kind, items, source=True, mapped=True):
    """As a source's type and as a map's output type."""

    def from_the_source(env, draw):
        return env.from_collection(items, kind).map(lambda v: (type(v).__name__, v))

    def out_of_a_map(env, draw):
        typed = env.from_collection(items).map(lambda v: v, kind).disable_chaining()
        return typed.map(lambda v: (type(v).__name__, v))

    from_the_source.__name__, out_of_a_map.__name__ = f"source_{name}", f"map_{name}"
    if source:
        PROGRAM.stream()(from_the_source)
    if mapped:
        PROGRAM.stream()(out_of_a_map)


case("string", Types.STRING(), ["", "ü", "text"])
case("long", Types.LONG(), [0, -1, 2**62])
case("int", Types.INT(), [0, -1, 2**31 - 1])
case("short", Types.SHORT(), [0, -1, 2**15 - 1])
case("byte", Types.BYTE(), [0, -1, 127])
case("boolean", Types.BOOLEAN(), [True, False])
case("double", Types.DOUBLE(), [0.1, -2.5, 1e300])
case("float", Types.FLOAT(), [0.5, 110.1, -3.3])
case("big_decimal", Types.BIG_DEC(), [decimal.Decimal("1.23"), decimal.Decimal("-4")])
case("date", Types.SQL_DATE(), [datetime.date(2020, 2, 29), datetime.date(1969, 12, 31)])
case("time", Types.SQL_TIME(), [datetime.time(1, 2, 3), datetime.time(23, 59, 59)])
case("timestamp", Types.SQL_TIMESTAMP(), [datetime.datetime(2020, 2, 29, 1, 2, 3, 123000)])
case("tuple", Types.TUPLE([Types.LONG(), Types.STRING()]), [(1, "a"), (2, "b")])
case("nested_tuple", Types.TUPLE([Types.TUPLE([Types.LONG()]), Types.DOUBLE()]), [((1,), 2.5)])
case("row_of_tuples", PERSON, [("Ann", 1), ("Bob", 2)], mapped=False)
case("row_of_rows", PERSON, [Row("Ann", 1), Row("Bob", 2)])
case("row_of_named_rows", PERSON, [Row(name="Ann", age=1)])
case("row_of_rows_in_another_order", PERSON, [Row(age=1, name="Ann")])
case("row_without_names", Types.ROW([Types.STRING(), Types.INT()]), [Row("Ann", 1), Row("Bob", 2)])
case("row_in_a_row", Types.ROW_NAMED(["who", "n"], [PERSON, Types.LONG()]), [Row(who=Row(name="Ann", age=1), n=2)])
case("row_in_a_tuple", Types.TUPLE([PERSON, Types.LONG()]), [(Row(name="Ann", age=1), 2)])
case("list", Types.LIST(Types.LONG()), [[1, 2], []], False)
case("list_of_rows", Types.LIST(PERSON), [[Row("Ann", 1)], []], False)
case("map", Types.MAP(Types.STRING(), Types.LONG()), [{"a": 1}, {}])
case("basic_array", Types.BASIC_ARRAY(Types.STRING()), [["a", "b"]])
case("primitive_array", Types.PRIMITIVE_ARRAY(Types.LONG()), [[1, 2, 3]])
case("object_array", Types.OBJECT_ARRAY(PERSON), [[Row("Ann", 1)]], False)
case("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), [b"abc", b""], False)
case("pickled", Types.PICKLED_BYTE_ARRAY(), [{1, 2}, (None,), "x"], False)
case("none_in_a_row", PERSON, [Row(name=None, age=None)])
case("float_in_a_tuple", Types.TUPLE([Types.STRING(), Types.FLOAT()]), [("a", 110.1)])


@PROGRAM.stream()
def row_kinds(env, draw):
    rows = [Row.of_kind(kind, "Ann", 1) for kind in RowKind]
    return env.from_collection(rows, PERSON).map(lambda r: (str(r.get_row_kind()), r))


TAG = OutputTag("people", PERSON)


class Aside(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield TAG, Row("Ann", value)


@PROGRAM.stream()
def the_type_of_a_side_output(env, draw):
    return env.from_collection([1, 2]).process(Aside()).get_side_output(TAG).map(lambda r: r.name)


@PROGRAM.stream()
def the_type_goes_through_filter_union_key_by_and_reduce(env, draw):
    people = env.from_collection([("Ann", 1), ("Ann", 2)], PERSON).filter(lambda p: p.age > 0)
    return (
        people.union(people)
        .key_by(lambda p: p.name)
        .reduce(lambda a, b: Row(name=a.name, age=a.age + b.age))
        .filter(lambda p: p.age > 3)
    )


@PROGRAM.stream()
def process_and_flat_map_with_a_row_type(env, draw):
    people = env.from_collection([1, 2]).flat_map(lambda n: [Row("Ann", n)], PERSON).disable_chaining()
    return people.map(lambda p: (p.name, p.age))
