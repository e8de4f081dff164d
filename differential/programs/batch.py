"""BATCH mode: keyed rolling operators give their final value, records of a key come in order of time.

Records of a key that have the same timestamp, or none, come in any order.
"""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from differential.programs.kit import MULTISET, PER_KEY, Program

PROGRAM = Program({"execution.runtime-mode": "BATCH"})


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def records(draw, count=40):
    return [(draw.choice("abc"), draw.randint(-50, 50), n) for n in range(count)]


def timed(env, draw):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return env.from_collection(records(draw)).assign_timestamps_and_watermarks(strategy)


@PROGRAM.stream(MULTISET)
def reduce(env, draw):
    return (
        env.from_collection(records(draw))
        .key_by(lambda r: r[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2])))
    )


@PROGRAM.stream(MULTISET)
def sum_min_max(env, draw):
    keyed = env.from_collection(records(draw)).key_by(lambda r: r[0])
    united = keyed.sum(1).union(keyed.min(1), keyed.max(1), keyed.min_by(1), keyed.max_by(1))
    return united.map(lambda r: r[:2])


@PROGRAM.stream(MULTISET)
def reduce_after_reduce(env, draw):
    first = (
        env.from_collection(records(draw)).key_by(lambda r: r[2] % 10).reduce(lambda a, b: (a[0], a[1] + b[1], a[2]))
    )
    return first.key_by(lambda r: r[2] % 2).sum(1).map(lambda r: r[1])


@PROGRAM.stream(MULTISET)
def a_single_record_is_its_own_result(env, draw):
    return env.from_collection([("a", 1), ("b", 2)]).key_by(lambda r: r[0]).reduce(lambda a, b: None)


class Seen(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        yield ctx.get_current_key(), value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Kept(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.kept = runtime_context.get_list_state(ListStateDescriptor("kept", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.kept.add(value[2])
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp, list(self.kept.get())


def distinct(env, draw):
    """Keyed records whose timestamps are all different: ties come in any order."""
    stamped = [(draw.choice("abc"), stamp, n) for n, stamp in enumerate(draw.sample(range(1000), 30))]
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    stream = env.from_collection(stamped).assign_timestamps_and_watermarks(strategy)
    return stream.key_by(lambda r: r[0], Types.STRING())


@PROGRAM.stream(PER_KEY)
def records_of_a_key_come_sorted_by_time(env, draw):
    return distinct(env, draw).process(Seen())


@PROGRAM.stream(PER_KEY)
def timers_of_a_key_see_its_state(env, draw):
    return distinct(env, draw).process(Kept())


class Look(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@PROGRAM.stream()
def no_watermark_before_the_end(env, draw):
    return timed(env, draw).process(Look())


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.count.update((self.count.value() or 0) + 1)
        yield value[0], self.count.value()


@PROGRAM.stream(PER_KEY)
def other_keyed_functions_emit_as_ever(env, draw):
    return env.from_collection(records(draw)).key_by(lambda r: r[0], Types.STRING()).process(Count())


class Later(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_processing_time_timer(2**60)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), "processing time"


@PROGRAM.stream(MULTISET)
def pending_processing_time_timers_fire_at_the_end(env, draw):
    return env.from_collection(records(draw)).key_by(lambda r: r[0], Types.STRING()).process(Later())
