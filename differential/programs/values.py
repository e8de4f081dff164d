"""Values that programs handle on the driver: rows, times, settings, names. No job runs."""

from __future__ import annotations

from pyflink.common import Configuration, Duration, Row, RowKind, Time, Types
from pyflink.datastream import OutputTag

from differential.programs.kit import Program

PROGRAM = Program()


@PROGRAM.values
def rows(env, draw):
    named, plain, made = Row(name="Ann", age=1), Row("Ann", 1), Row("name", "age")
    built = made("Bob", 2)
    return [
        named, plain, str(named), str(plain), made, built, len(named), list(plain), named == Row(name="Ann", age=1),
        named == plain, plain == Row("Ann", 1), named["name"], named.age, named[1], "name" in named, "Ann" in plain,
        named.as_dict(), Row(a=Row(b=1)).as_dict(True), plain[0:1], hash(plain) == hash(Row("Ann", 1)),
        built.get_fields_by_names(["age", "name"]), named == ("Ann", 1), bool(Row()),
    ]  # fmt: skip


@PROGRAM.values
def rows_changed(env, draw):
    row = Row(name="Ann", age=1)
    row["age"] = 5
    row[0] = "Bob"
    kind = Row.of_kind(RowKind.DELETE, 1)
    other = Row(1, 2)
    other.set_field_names(["x", "y"])
    other.set_row_kind(RowKind.UPDATE_AFTER)
    return [row, kind, kind.get_row_kind(), str(kind.get_row_kind()), other, other == Row(x=1, y=2), other.x]


@PROGRAM.values
def row_mistakes(env, draw):
    def tried(what):
        try:
            return what()
        except Exception as error:
            return type(error).__name__

    named, plain = Row(name="Ann"), Row("Ann")
    return [
        tried(lambda: named.other),
        tried(lambda: plain.name),
        tried(lambda: plain.as_dict()),
        tried(lambda: plain[3]),
        tried(lambda: Row(1, a=2)),
        tried(lambda: setattr(named, "name", "Bob")),
        tried(lambda: Row("a")(1, 2)),
    ]


@PROGRAM.values
def times(env, draw):
    return [
        Time.seconds(2).to_milliseconds(), Time.minutes(1).to_milliseconds(), Time.hours(1).to_milliseconds(),
        Time.days(1).to_milliseconds(), Time.milliseconds(7).to_milliseconds(),
        Time.seconds(1) == Time.milliseconds(1000), Duration.of_seconds(1) == Duration.of_millis(1000),
    ]  # fmt: skip


@PROGRAM.values
def settings(env, draw):
    before = env.get_parallelism()
    env.set_parallelism(3).set_max_parallelism(64)
    return [before, env.get_parallelism(), env.get_max_parallelism()]


@PROGRAM.values
def configuration(env, draw):
    conf = Configuration()
    conf.set_string("a", "text").set_integer("b", 5).set_boolean("c", True)
    conf.set_float("d", 1.5)
    other = Configuration(conf)
    other.set_string("a", "other")
    return [
        conf.get_string("a", ""), conf.get_integer("b", 0), conf.get_boolean("c", False),
        conf.get_string("no", "default"),
        conf.get_integer("no", 3), conf.contains_key("a"), conf.contains_key("no"), other.get_string("a", ""),
        sorted(conf.key_set()), conf.get_string("b", ""), conf.get_float("d", 0),
        conf == Configuration(conf), conf == other,
    ]  # fmt: skip


@PROGRAM.values
def streams(env, draw):
    stream = env.from_collection([1, 2, 3])
    mapped = stream.map(lambda n: n)
    named = mapped.name("ours").uid("u").set_parallelism(2)
    return [mapped.get_name(), named.get_name(), type(stream.key_by(lambda n: n)).__name__, type(named).__name__]


@PROGRAM.values
def default_names(env, draw):
    stream = env.from_collection([(1, 2)])
    keyed = stream.key_by(lambda n: n[0])
    made = [
        stream.map(lambda n: n), stream.flat_map(lambda n: [n]), stream.filter(lambda n: n), keyed.map(lambda n: n),
        keyed.reduce(lambda a, b: a), keyed.sum(1), keyed.filter(lambda n: n), keyed.flat_map(lambda n: n),
    ]  # fmt: skip
    return [s.get_name() for s in made]


@PROGRAM.values
def tags(env, draw):
    return [OutputTag("a").tag_id, OutputTag("a", Types.LONG()).tag_id]


@PROGRAM.values
def type_names(env, draw):
    return [
        str(kind)
        for kind in (
            Types.STRING(), Types.LONG(), Types.FLOAT(), Types.PICKLED_BYTE_ARRAY(), Types.TUPLE([Types.INT()]),
            Types.ROW([Types.INT()]), Types.ROW_NAMED(["a"], [Types.INT()]), Types.LIST(Types.INT()),
            Types.MAP(Types.STRING(), Types.INT()), Types.BASIC_ARRAY(Types.INT()), Types.PRIMITIVE_ARRAY(Types.INT()),
        )
    ]  # fmt: skip
