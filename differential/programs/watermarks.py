"""Watermarks between records. PyFlink emits them by the clock of the machine: a pause before each record and bundles
of one let every record be followed by its watermark. Penstock is told to emit one after each record."""

from __future__ import annotations

import os
import time

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import RuntimeContext
from pyflink.datastream.functions import KeyedProcessFunction, MapFunction, ProcessFunction
from pyflink.datastream.state import ValueStateDescriptor

from differential.programs.kit import PER_KEY, Program

PROGRAM = Program(
    {
        "penstock.watermark.per-record": "true",
        "pipeline.auto-watermark-interval": "20 ms",
        "python.fn-execution.bundle.size": "1",
    }
)
PAUSE_S = float(os.environ.get("DIFFERENTIAL_PAUSE", "0"))


class Paused(MapFunction):
    def map(self, value):
        time.sleep(PAUSE_S)
        return value


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, draw, strategy, count=10, step=300):
    records, now = [], 1000
    for n in range(count):
        records.append((draw.choice("ab"), now + draw.randint(-2, 2) * 100, n))
        now += step
    # in a task of its own: a source holds the lock of its task while it emits, and with it the watermarks
    stream = env.from_collection(records).disable_chaining().map(Paused())
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Second()))


def bounded(seconds):
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(int(seconds * 1000)))


class Look(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@PROGRAM.stream()
def monotonous(env, draw):
    return timed(env, draw, WatermarkStrategy.for_monotonous_timestamps()).process(Look())


@PROGRAM.stream()
def bounded_out_of_orderness(env, draw):
    return timed(env, draw, bounded(0.5)).process(Look())


@PROGRAM.stream()
def no_watermarks(env, draw):
    return timed(env, draw, WatermarkStrategy.no_watermarks()).process(Look())


@PROGRAM.stream()
def through_a_chain(env, draw):
    return timed(env, draw, bounded(0.2)).map(lambda r: r).flat_map(lambda r: [r, r]).process(Look())


class Timers(KeyedProcessFunction):
    """Compared per key: which of two keys' timers of the same moment fires first is nobody's promise."""

    def __init__(self, delay):
        self.delay = delay

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1] + self.delay)
        yield ctx.get_current_key(), "record", value, ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), "timer", timestamp, ctx.timer_service().current_watermark()


@PROGRAM.stream(PER_KEY)
def timers_between_records(env, draw):
    keyed = timed(env, draw, bounded(0.2)).key_by(lambda r: r[0], Types.STRING())
    return keyed.process(Timers(250))


@PROGRAM.stream(PER_KEY)
def timers_registered_in_the_past(env, draw):
    """They fire at the next advance."""
    keyed = timed(env, draw, WatermarkStrategy.for_monotonous_timestamps()).key_by(lambda r: r[0], Types.STRING())
    return keyed.process(Timers(-1000))


@PROGRAM.stream(PER_KEY)
def a_second_stage_follows(env, draw):
    keyed = timed(env, draw, bounded(0.2)).key_by(lambda r: r[0], Types.STRING())
    return keyed.process(Timers(250)).key_by(lambda r: r[0], Types.STRING()).process(Follow())


class Follow(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        yield value[0], value[1:], self.last.value(), ctx.timestamp(), ctx.timer_service().current_watermark()
        self.last.update(ctx.timestamp())


class Repeated(KeyedProcessFunction):
    """A timer that sets itself again: one more with each advance that passes it."""

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1] // 400 * 400 + 400)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        now = ctx.timer_service().current_watermark()
        yield ctx.get_current_key(), timestamp, now
        if timestamp < 4000 and now < 2**62:
            ctx.timer_service().register_event_time_timer(timestamp + 400)


@PROGRAM.stream(PER_KEY)
def timers_that_set_themselves_again(env, draw):
    return timed(env, draw, bounded(0)).key_by(lambda r: r[0], Types.STRING()).process(Repeated())


class AtTheEnd(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(2**61)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp - 2**61
        if timestamp == 2**61:
            ctx.timer_service().register_event_time_timer(timestamp + 1)


@PROGRAM.stream(PER_KEY)
def timers_set_by_timers_when_the_input_has_ended(env, draw):
    return timed(env, draw, bounded(0), 2).key_by(lambda r: r[0], Types.STRING()).process(AtTheEnd())
