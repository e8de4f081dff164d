"""Broadcast state, keyed and not. Rules come before the records that need them: both wait in state for the end."""

from __future__ import annotations

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, RuntimeContext
from pyflink.datastream.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor

from differential.programs.kit import MULTISET, PER_KEY, Program

PROGRAM = Program({"pipeline.auto-watermark-interval": "0"})
RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())
OTHERS = MapStateDescriptor("others", Types.STRING(), Types.STRING())
ASIDE = OutputTag("aside", Types.PICKLED_BYTE_ARRAY())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(stream):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    return stream.assign_timestamps_and_watermarks(strategy)


def records(env, draw):
    return timed(env.from_collection([(draw.choice("abc"), draw.randint(0, 99), n) for n in range(20)]))


def rules(env, draw):
    return timed(env.from_collection([(draw.choice("abc"), draw.randint(0, 99)) for _ in range(10)]))


class Plain(BroadcastProcessFunction):
    def process_element(self, value, ctx: BroadcastProcessFunction.ReadOnlyContext):
        yield "record", value, ctx.timestamp(), ctx.current_watermark()

    def process_broadcast_element(self, value, ctx: BroadcastProcessFunction.Context):
        state = ctx.get_broadcast_state(RULES)
        state.put(value[0], (state.get(value[0]) or 0) + value[1])
        ctx.get_broadcast_state(OTHERS)[value[0]] = "x" * value[1]
        yield "rule", sorted(state.items()), ctx.timestamp(), ctx.current_watermark(), state.contains("a"), "b" in state


@PROGRAM.stream(PER_KEY)
def plain_stream_and_rules(env, draw):
    return records(env, draw).connect(rules(env, draw).broadcast(RULES, OTHERS)).process(Plain())


class Tagged(Plain):
    def process_broadcast_element(self, value, ctx: BroadcastProcessFunction.Context):
        yield ASIDE, ("aside", value)
        yield value


@PROGRAM.stream()
def side_output_of_the_broadcast_side(env, draw):
    stream = records(env, draw).connect(rules(env, draw).broadcast(RULES, OTHERS)).process(Tagged())
    return stream.get_side_output(ASIDE)


class Keyed(KeyedBroadcastProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.held = runtime_context.get_list_state(ListStateDescriptor("held", Types.LONG()))

    def process_element(self, value, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext):
        self.held.add(value[2])
        ctx.timer_service().register_event_time_timer(1000)
        yield f"record {ctx.get_current_key()}", value, ctx.timestamp()

    def process_broadcast_element(self, value, ctx: KeyedBroadcastProcessFunction.Context):
        state = ctx.get_broadcast_state(RULES)
        if value[1] % 5 == 0:
            state.remove(value[0])
        else:
            state.put(value[0], value[1])
        yield "rule", value, sorted(state.items()), sorted(state.keys()), state.is_empty()

    def on_timer(self, timestamp, ctx: KeyedBroadcastProcessFunction.OnTimerContext):
        seen = ctx.get_broadcast_state(RULES)
        key = ctx.get_current_key()
        yield (
            key,
            timestamp,
            list(self.held.get()),
            sorted(seen.items()),
            seen.get(key),
            seen.contains(key),
            key in seen,
        )


@PROGRAM.stream(PER_KEY)
def keyed_stream_and_rules(env, draw):
    keyed = records(env, draw).key_by(lambda r: r[0], Types.STRING())
    return keyed.connect(rules(env, draw).broadcast(RULES)).process(Keyed())


class Everywhere(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext):
        ctx.timer_service().register_event_time_timer(1000)

    def process_broadcast_element(self, value, ctx: KeyedBroadcastProcessFunction.Context):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])

    def on_timer(self, timestamp, ctx: KeyedBroadcastProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), sorted(ctx.get_broadcast_state(RULES).items())


@PROGRAM.stream(MULTISET)
def every_subtask_sees_every_rule(env, draw):
    keyed = records(env, draw).key_by(lambda r: (r[0], r[2]))
    return keyed.connect(rules(env, draw).broadcast(RULES)).process(Everywhere()).set_parallelism(3)
