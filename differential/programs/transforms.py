"""map, flat_map, filter, process, project, union, side outputs, chains."""

from __future__ import annotations

from pyflink.common import Row, Types
from pyflink.datastream import OutputTag, RuntimeContext
from pyflink.datastream.functions import FilterFunction, FlatMapFunction, KeySelector, MapFunction, ProcessFunction

from differential.programs.kit import MULTISET, PER_KEY, Program

PROGRAM = Program()
ODD, BIG = OutputTag("odd", Types.LONG()), OutputTag("big")


def numbers(draw, count=40, low=-1000, high=1000):
    return [draw.randint(low, high) for _ in range(count)]


def words(draw, count=30):
    return [draw.choice(["to", "be", "or", "not", "ünï", "", "that is"]) for _ in range(count)]


@PROGRAM.stream()
def map_of_a_lambda(env, draw):
    return env.from_collection(numbers(draw)).map(lambda n: n * 2 + 1)


class Affix(MapFunction):
    def __init__(self, text):
        self.text = text

    def open(self, runtime_context: RuntimeContext):
        self.seen = 0

    def map(self, value):
        self.seen += 1
        return f"{self.text}{value}#{self.seen}"


@PROGRAM.stream()
def map_of_a_rich_function_keeps_its_fields(env, draw):
    return env.from_collection(words(draw)).map(Affix("> "), Types.STRING())


@PROGRAM.stream()
def map_of_mixed_objects(env, draw):
    items = [True, 1, 2.5, "text", b"bytes", (1, (2, 3)), [1, [2]], {"a": {"b": 1}}, frozenset([1]), 1 + 2j]
    draw.shuffle(items)
    return env.from_collection(items).map(lambda v: (type(v).__name__, v))


@PROGRAM.stream()
def flat_map_of_a_generator(env, draw):
    def split(line):
        for place, word in enumerate(line.split()):
            yield word, place

    lines = [" ".join(words(draw, draw.randint(0, 4))) for _ in range(12)]
    return env.from_collection(lines).flat_map(split)


@PROGRAM.stream()
def flat_map_of_a_list(env, draw):
    return env.from_collection(numbers(draw, 15, 0, 4)).flat_map(lambda n: [n] * n, Types.LONG())


class Halves(FlatMapFunction):
    def flat_map(self, value):
        while value:
            yield value
            value //= 2


@PROGRAM.stream()
def flat_map_of_a_function_class(env, draw):
    return env.from_collection(numbers(draw, 15, 0, 500)).flat_map(Halves())


class AtLeast(FilterFunction):
    def __init__(self, least):
        self.least = least

    def filter(self, value):
        return value >= self.least


@PROGRAM.stream()
def filter_both_ways(env, draw):
    return env.from_collection(numbers(draw)).filter(AtLeast(draw.randint(-500, 0))).filter(lambda n: n % 3)


@PROGRAM.stream()
def filter_takes_any_truth(env, draw):
    return env.from_collection(words(draw)).filter(lambda w: w)


class Split(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        if value % 2:
            yield ODD, value
        if value > 500:
            yield BIG, ("big", value)
        yield value


@PROGRAM.stream(MULTISET)
def side_outputs_and_the_main_one(env, draw):
    main = env.from_collection(numbers(draw), Types.LONG()).process(Split(), Types.LONG())
    odd = main.get_side_output(ODD).map(lambda n: ("odd", n))
    return main.map(lambda n: ("main", n)).union(odd, main.get_side_output(BIG))


@PROGRAM.stream()
def a_side_output_alone(env, draw):
    return env.from_collection(numbers(draw), Types.LONG()).process(Split(), Types.LONG()).get_side_output(ODD)


class Look(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@PROGRAM.stream()
def process_without_time(env, draw):
    return env.from_collection(numbers(draw, 5)).process(Look())


class Nothing(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        if value > 0:
            return [value]
        return None


@PROGRAM.stream()
def process_may_return_a_list_or_none(env, draw):
    return env.from_collection(numbers(draw)).process(Nothing())


@PROGRAM.stream()
def project_tuples(env, draw):
    kinds = Types.TUPLE([Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN()])
    records = [(n, str(n), n / 4, n > 0) for n in numbers(draw, 10)]
    return env.from_collection(records, kinds).project(3, 0, 1)


@PROGRAM.stream(MULTISET)
def union_of_three_and_of_itself(env, draw):
    one, two, three = (env.from_collection(numbers(draw, 10)) for _ in range(3))
    return one.union(two, three)


@PROGRAM.stream(PER_KEY)
def union_keeps_the_order_of_each_input(env, draw):
    one = env.from_collection([("one", n) for n in numbers(draw)])
    two = env.from_collection([("two", n) for n in numbers(draw)])
    return one.union(two)


@PROGRAM.stream(MULTISET)
def a_stream_used_three_times(env, draw):
    stream = env.from_collection(numbers(draw, 10)).map(lambda n: n + 1)
    return stream.map(lambda n: ("a", n)).union(stream.map(lambda n: ("b", n)), stream.map(lambda n: ("c", n)))


@PROGRAM.stream()
def a_long_chain(env, draw):
    stream = env.from_collection(numbers(draw))
    for step in range(6):
        stream = stream.map(lambda n, step=step: n + step).filter(lambda n, step=step: n % (step + 2))
    return stream


@PROGRAM.stream()
def a_chain_cut_in_pieces(env, draw):
    stream = env.from_collection(numbers(draw)).map(lambda n: n + 1).disable_chaining()
    return stream.map(lambda n: n * 2).start_new_chain().filter(lambda n: n > 0).name("positive").uid("cut-positive")


class Grow(MapFunction):
    def map(self, value):
        value.append(len(value))
        return value


@PROGRAM.stream(MULTISET)
def changed_records_do_not_change_the_others(env, draw):
    stream = env.from_collection([[n] for n in numbers(draw, 8)])
    return stream.map(Grow()).map(Grow()).union(stream.map(lambda v: ("as it was", v)))


@PROGRAM.stream()
def rows_by_name_position_and_attribute(env, draw):
    rows = [Row(name=w, count=n) for w, n in zip(words(draw, 8), numbers(draw, 8), strict=True)]
    return env.from_collection(rows).map(lambda r: (r.name, r["count"], r[0], len(r), r.as_dict()))


class First(KeySelector):
    def get_key(self, value):
        return value[0]


class Numbered(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = 0

    def map(self, value):
        self.count += 1
        return value[0], value[1], self.count


@PROGRAM.stream()
def map_after_key_by(env, draw):
    pairs = list(zip(words(draw, 20), numbers(draw, 20), strict=True))
    return env.from_collection(pairs).key_by(First()).map(Numbered())


@PROGRAM.stream()
def flat_map_and_filter_after_key_by(env, draw):
    pairs = list(zip(words(draw, 20), numbers(draw, 20), strict=True))
    keyed = env.from_collection(pairs).key_by(lambda p: p[0], Types.STRING())
    return keyed.filter(lambda p: p[1] > 0).key_by(lambda p: p[0]).flat_map(lambda p: [p, p])
