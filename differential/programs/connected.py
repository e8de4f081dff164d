"""Two streams in one operator: CoMap, CoFlatMap, CoProcess, keyed and not.

Which input is read first is nobody's promise, so that results do not depend on it.
"""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, RuntimeContext
from pyflink.datastream.functions import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor

from differential.programs.kit import MULTISET, PER_KEY, Program

PROGRAM = Program({"pipeline.auto-watermark-interval": "0"})
LEFT = OutputTag("left", Types.PICKLED_BYTE_ARRAY())


def pairs(env, draw, keys="abc", count=20):
    return env.from_collection([(draw.choice(keys), draw.randint(0, 20) * 100) for _ in range(count)])


class Sides(CoMapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.counts = [0, 0]

    def map1(self, value):
        self.counts[0] += 1
        return "one", value, self.counts[0]

    def map2(self, value):
        self.counts[1] += 1
        return "two", value, self.counts[1]


@PROGRAM.stream(PER_KEY)
def co_map(env, draw):
    return pairs(env, draw).connect(pairs(env, draw)).map(Sides())


class Repeat(CoFlatMapFunction):
    def flat_map1(self, value):
        for _ in range(value[1] % 3):
            yield "one", value

    def flat_map2(self, value):
        return [("two", value)]


@PROGRAM.stream(PER_KEY)
def co_flat_map(env, draw):
    return pairs(env, draw).connect(env.from_collection([5, 6, 7])).flat_map(Repeat())


class Optional(CoFlatMapFunction):
    def flat_map1(self, value):
        if value[1] % 200:
            return [("one", value)]
        return None

    def flat_map2(self, value):
        return ()


@PROGRAM.stream(PER_KEY)
def co_flat_map_may_return_none(env, draw):
    return pairs(env, draw).connect(env.from_collection([5, 6, 7])).flat_map(Optional())


class Both(CoProcessFunction):
    def process_element1(self, value, ctx: CoProcessFunction.Context):
        yield "one", value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx: CoProcessFunction.Context):
        yield "two", value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Tagged(Both):
    def process_element2(self, value, ctx: CoProcessFunction.Context):
        yield LEFT, ("two", value, ctx.timestamp())
        yield "two", value


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(stream):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return stream.assign_timestamps_and_watermarks(strategy)


@PROGRAM.stream(PER_KEY)
def co_process(env, draw):
    return timed(pairs(env, draw)).connect(timed(pairs(env, draw))).process(Both())


@PROGRAM.stream()
def co_process_side_output(env, draw):
    return timed(pairs(env, draw)).connect(timed(pairs(env, draw))).process(Tagged()).get_side_output(LEFT)


class Join(KeyedCoProcessFunction):
    """Both sides kept; joined by timers when the input has ended."""

    def open(self, runtime_context: RuntimeContext):
        self.ones = runtime_context.get_list_state(ListStateDescriptor("ones", Types.LONG()))
        self.twos = runtime_context.get_list_state(ListStateDescriptor("twos", Types.LONG()))

    def process_element1(self, value, ctx: KeyedCoProcessFunction.Context):
        self.ones.add(value[1])
        ctx.timer_service().register_event_time_timer(5000)

    def process_element2(self, value, ctx: KeyedCoProcessFunction.Context):
        self.twos.add(value[1])
        ctx.timer_service().register_event_time_timer(6000)

    def on_timer(self, timestamp, ctx: KeyedCoProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp, list(self.ones.get()), list(self.twos.get())


@PROGRAM.stream(PER_KEY)
def keyed_co_process(env, draw):
    joined = timed(pairs(env, draw, "abcd")).connect(timed(pairs(env, draw, "bcde")))
    return joined.key_by(lambda p: p[0], lambda p: p[0], Types.STRING()).process(Join())


@PROGRAM.stream(PER_KEY)
def keyed_streams_connected(env, draw):
    one = timed(pairs(env, draw)).key_by(lambda p: p[0], Types.STRING())
    return one.connect(timed(pairs(env, draw)).key_by(lambda p: p[0], Types.STRING())).process(Join())


class Clock(KeyedCoProcessFunction):
    def process_element1(self, value, ctx: KeyedCoProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1])
        yield ctx.get_current_key() + "1", ctx.timestamp()

    def process_element2(self, value, ctx: KeyedCoProcessFunction.Context):
        ctx.timer_service().delete_event_time_timer(10**9)
        yield ctx.get_current_key() + "2", ctx.timestamp()

    def on_timer(self, timestamp, ctx: KeyedCoProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp, ctx.timestamp()


class Stamp(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield value[0], value[1:], ctx.timestamp()


@PROGRAM.stream(PER_KEY)
def keyed_co_process_times(env, draw):
    joined = timed(pairs(env, draw)).connect(timed(pairs(env, draw)))
    return joined.key_by(lambda p: p[0], lambda p: p[0]).process(Clock()).process(Stamp())


class Last(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.last.update(value)
        ctx.timer_service().register_event_time_timer(1)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield self.last.value()


class Sum(CoMapFunction):
    """Keyed state in a CoMapFunction; sums do not depend on the order, the largest one is the whole."""

    def open(self, runtime_context: RuntimeContext):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def map1(self, value):
        self.total.update((self.total.value() or 0) + value[1])
        return value[0], self.total.value()

    def map2(self, value):
        return self.map1(value)


@PROGRAM.stream(MULTISET)
def keyed_co_map_with_state(env, draw):
    joined = pairs(env, draw).connect(pairs(env, draw)).key_by(lambda p: p[0], lambda p: p[0], Types.STRING())
    return joined.map(Sum()).key_by(lambda p: p[0]).max(1).key_by(lambda p: p[0]).process(Last())


class Seen(CoFlatMapFunction):
    def open(self, runtime_context: RuntimeContext):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.BOOLEAN()))

    def flat_map1(self, value):
        if value[1] not in self.seen:
            self.seen.put(value[1], True)
            yield value

    def flat_map2(self, value):
        yield from self.flat_map1(value)


@PROGRAM.stream(MULTISET)
def keyed_co_flat_map_with_state(env, draw):
    joined = pairs(env, draw).connect(pairs(env, draw)).key_by(lambda p: p[0], lambda p: p[0], Types.STRING())
    return joined.flat_map(Seen())
