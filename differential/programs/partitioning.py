"""Which subtask each record reaches, where that is determined; order per sender and receiver; runtime context."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import RuntimeContext
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.functions import FlatMapFunction, KeyedProcessFunction, MapFunction, ProcessFunction

from differential.programs.kit import EXACT, MULTISET, PER_KEY, Program

PROGRAM = Program()


def numbers(env, draw, count=24):
    return env.from_collection([draw.randint(0, 999) for _ in range(count)])


class Where(MapFunction):
    """Leads with where it runs."""

    def open(self, runtime_context: RuntimeContext):
        self.at = runtime_context.get_index_of_this_subtask(), runtime_context.get_number_of_parallel_subtasks()
        self.count = 0

    def map(self, value):
        self.count += 1
        return self.at, value, self.count


class Number(FlatMapFunction):
    """How many arrived at each subtask; told at its every record."""

    def open(self, runtime_context: RuntimeContext):
        self.count = 0

    def flat_map(self, value):
        self.count += 1
        yield self.count


@PROGRAM.stream(MULTISET)
def rebalance_is_even(env, draw):
    return numbers(env, draw).rebalance().flat_map(Number()).set_parallelism(3)


@PROGRAM.stream(MULTISET)
def rescale_is_even(env, draw):
    return numbers(env, draw).rescale().flat_map(Number()).set_parallelism(3)


@PROGRAM.stream(MULTISET)
def shuffle_loses_nothing(env, draw):
    return numbers(env, draw).shuffle().map(lambda n: n).set_parallelism(3)


@PROGRAM.stream(PER_KEY)
def broadcast_reaches_every_subtask_in_order(env, draw):
    return numbers(env, draw).broadcast().map(Where()).set_parallelism(3)


@PROGRAM.stream(PER_KEY)
def forward_keeps_place_and_order(env, draw):
    return numbers(env, draw).broadcast().map(Where()).set_parallelism(2).forward().map(Where()).set_parallelism(2)


class KeyWhere(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.at, self.keys = runtime_context.get_index_of_this_subtask(), set()

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        yield ctx.get_current_key(), self.at


@PROGRAM.stream(MULTISET)
def a_key_has_one_subtask(env, draw):
    """How many different subtasks each key was seen on."""
    placed = numbers(env, draw, 60).key_by(lambda n: n % 7).process(KeyWhere()).set_parallelism(3)
    return (
        placed.key_by(lambda p: p[0])
        .reduce(lambda a, b: (a[0], a[1] if a[1] == b[1] else "two!"))
        .map(lambda p: (p[0], p[1] == "two!"))
    )


@PROGRAM.stream(PER_KEY)
def keys_keep_their_order_at_any_parallelism(env, draw):
    records = [(draw.choice("abcdefg"), n) for n in range(60)]
    keyed = env.from_collection(records).key_by(lambda r: r[0])
    return keyed.map(lambda r: r).set_parallelism(3).key_by(lambda r: r[0]).map(lambda r: r).set_parallelism(2)


@PROGRAM.stream(PER_KEY)
def redistributions_keep_the_order_per_sender_and_receiver(env, draw):
    sent = numbers(env, draw).broadcast().map(Where()).set_parallelism(2)
    return sent.map(lambda w: (w[0], w[1], w[2])).set_parallelism(2).rebalance().map(lambda w: w).set_parallelism(1)


class Context(MapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.context = (
            runtime_context.get_task_name(),
            runtime_context.get_task_name_with_subtasks(),
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
        )

    def map(self, value):
        return self.context


@PROGRAM.stream(MULTISET)
def runtime_context_of_an_operator_alone(env, draw):
    stream = env.from_collection([1, 2, 3]).broadcast().map(Context()).set_parallelism(2)
    return stream.name("lonely").disable_chaining()


class Parallelism(ProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.context = (
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_max_number_of_parallel_subtasks(),
            runtime_context.get_attempt_number(),
            runtime_context.get_job_parameter("no such", "default"),
        )

    def process_element(self, value, ctx: ProcessFunction.Context):
        yield self.context


@PROGRAM.stream(MULTISET)
def runtime_context_without_names(env, draw):
    return env.from_collection([1, 2, 3]).broadcast().process(Parallelism()).set_parallelism(3)


@PROGRAM.stream(MULTISET)
def number_sequence(env, draw):
    source = NumberSequenceSource(draw.randint(-10, 0), draw.randint(5, 30))
    strategy = WatermarkStrategy.no_watermarks()
    return env.from_source(source, strategy, "numbers", Types.LONG()).set_parallelism(2).map(lambda n: (n, type(n)))


@PROGRAM.stream(EXACT)
def number_sequence_of_one(env, draw):
    source = NumberSequenceSource(7, 7)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "seven", Types.LONG())
