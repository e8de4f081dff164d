"""reduce, sum, min, max, min_by, max_by: of tuples, rows by name and position, lists and plain values."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import ReduceFunction

from differential.programs.kit import Program

PROGRAM = Program()
OPERATIONS = ("sum", "min", "max", "min_by", "max_by")


def triples(draw, count=40):
    return [(draw.choice("abc"), draw.randint(-50, 50), n) for n in range(count)]


TRIPLE = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
NAMED = Types.ROW_NAMED(["key", "amount", "number"], [Types.STRING(), Types.LONG(), Types.LONG()])


def of_typed_tuples(operation):
    def build(env, draw):
        keyed = env.from_collection(triples(draw), TRIPLE).key_by(lambda t: t[0], Types.STRING())
        return getattr(keyed, operation)(1)

    build.__name__ = f"{operation}_of_typed_tuples"
    return build


def of_untyped_tuples(operation):
    def build(env, draw):
        return getattr(env.from_collection(triples(draw)).key_by(lambda t: t[0]), operation)(1)

    build.__name__ = f"{operation}_of_untyped_tuples"
    return build


def of_rows(operation, position, typed):
    def build(env, draw):
        rows = [Row(key=k, amount=a, number=n) for k, a, n in triples(draw)]
        stream = env.from_collection(rows, NAMED) if typed else env.from_collection(rows)
        return getattr(stream.key_by(lambda r: r[0]), operation)(position)

    build.__name__ = f"{operation}_of_{'typed' if typed else 'untyped'}_rows_by_{position}"
    return build


def of_plain_numbers(operation):
    def build(env, draw):
        numbers = [draw.randint(-99, 99) for _ in range(30)]
        return getattr(env.from_collection(numbers, Types.LONG()).key_by(lambda n: n % 3), operation)()

    build.__name__ = f"{operation}_of_plain_numbers"
    return build


for name in OPERATIONS:
    PROGRAM.stream()(of_typed_tuples(name))
    PROGRAM.stream()(of_untyped_tuples(name))
    PROGRAM.stream()(of_plain_numbers(name))
    PROGRAM.stream()(of_rows(name, "amount", True))
    PROGRAM.stream()(of_rows(name, "amount", False))
    PROGRAM.stream()(of_rows(name, 1, False))


@PROGRAM.stream()
def sum_of_floats_and_strings(env, draw):
    records = [(draw.choice("xy"), draw.random()) for _ in range(10)]
    return env.from_collection(records).key_by(lambda r: r[0]).sum(1)


@PROGRAM.stream()
def min_of_strings(env, draw):
    records = [(draw.choice("xy"), draw.choice(["pear", "fig", "", "apple"])) for _ in range(20)]
    return env.from_collection(records).key_by(lambda r: r[0]).min(1)


@PROGRAM.stream()
def reduce_of_a_lambda(env, draw):
    return (
        env.from_collection(triples(draw), TRIPLE)
        .key_by(lambda t: t[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2])))
    )


class Joined(ReduceFunction):
    def open(self, runtime_context: RuntimeContext):
        self.joint = "+"

    def reduce(self, value1, value2):
        return value1[0], f"{value1[1]}{self.joint}{value2[1]}"


@PROGRAM.stream()
def reduce_of_a_rich_function_to_another_type(env, draw):
    pairs = [(draw.choice("pq"), draw.randint(0, 9)) for _ in range(12)]
    return env.from_collection(pairs).key_by(lambda p: p[0]).reduce(Joined())


@PROGRAM.stream()
def reduce_twice_with_other_keys(env, draw):
    keyed = env.from_collection(triples(draw)).key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
    return keyed.key_by(lambda t: t[2] % 2).reduce(lambda a, b: (a[0] + b[0], a[1] + b[1], b[2]))


def of_keys(name, keys, key_type=None):
    def build(env, draw):
        records = [(draw.choice(keys), 1) for _ in range(30)]
        return env.from_collection(records).key_by(lambda r: r[0], key_type).sum(1)

    build.__name__ = f"keys_{name}"
    PROGRAM.stream()(build)


of_keys("of_strings", ["a", "b", "ü", ""])
of_keys("of_numbers", [0, 1, -1, 2**40])
of_keys("of_tuples", [(1, "a"), (1, "b"), (2, "a")])
of_keys("of_typed_tuples", [(1, "a"), (1, "b"), (2, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
of_keys("of_none", [None, "a"])
of_keys("of_bytes", [b"a", b"b"])
of_keys("of_booleans", [True, False], Types.BOOLEAN())
of_keys("of_floats", [0.5, -1.5, 2.0], Types.DOUBLE())
of_keys("of_rows", [Row(1, "a"), Row(2, "b")])
