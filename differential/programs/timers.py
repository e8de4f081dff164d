"""Event-time timers that fire when the input ends: no watermark comes before, so every run is alike."""

from __future__ import annotations

from pyflink.common import Duration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, RuntimeContext, TimeDomain
from pyflink.datastream.functions import KeyedProcessFunction, ProcessFunction
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from differential.programs.kit import PER_KEY, Program

PROGRAM = Program({"pipeline.auto-watermark-interval": "0"})
FIRED = OutputTag("fired", Types.PICKLED_BYTE_ARRAY())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def strategy(seconds=0):
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(seconds)).with_timestamp_assigner(
        Second()
    )


def timed(env, draw, count=25, *extra):
    records = [(draw.choice("abc"), draw.randint(0, 20) * 500, n) for n in range(count)]
    return env.from_collection(records).assign_timestamps_and_watermarks(strategy(1))


def keyed(env, draw, count=25):
    return timed(env, draw, count).key_by(lambda r: r[0], Types.STRING())


class Later(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1] + 1000)
        yield value[0], "record", value[1], ctx.timestamp()

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), "timer", timestamp, ctx.timestamp(), ctx.time_domain() == TimeDomain.EVENT_TIME


@PROGRAM.stream(PER_KEY)
def registered_twice_is_one(env, draw):
    return keyed(env, draw).process(Later())


class One(Later):
    """All keys alike, so that the order over keys is that of time."""

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield "all", timestamp


@PROGRAM.stream()
def timers_of_all_keys_fire_in_order_of_time(env, draw):
    records = [("abc"[n % 3], t * 10) for n, t in enumerate(draw.sample(range(100), 30))]
    stream = env.from_collection(records).assign_timestamps_and_watermarks(strategy())
    return stream.key_by(lambda r: r[0]).process(One()).filter(lambda r: r[0] == "all")


class Deleting(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1])
        if value[2] % 3 == 0:
            ctx.timer_service().delete_event_time_timer(value[1] - 500)
        if value[2] % 5 == 0:
            ctx.timer_service().delete_event_time_timer(99)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp


@PROGRAM.stream(PER_KEY)
def deleted_timers_do_not_fire(env, draw):
    return keyed(env, draw, 40).process(Deleting())


class Chain(KeyedProcessFunction):
    """Registers more while firing: later, at the same moment, and long past."""

    def open(self, runtime_context: RuntimeContext):
        self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.left.update(4)
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        left = self.left.value()
        yield ctx.get_current_key(), timestamp, left, ctx.timer_service().current_watermark()
        if left:
            self.left.update(left - 1)
            ctx.timer_service().register_event_time_timer(timestamp + 250 if left % 2 else timestamp - 400)


@PROGRAM.stream(PER_KEY)
def registered_while_firing(env, draw):
    return keyed(env, draw, 6).process(Chain())


class FirstOnly(Chain):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        if self.left.value() is None:
            yield from super().process_element(value, ctx) or ()


@PROGRAM.stream(PER_KEY)
def one_timer_sets_the_next(env, draw):
    return keyed(env, draw, 12).process(FirstOnly())


class Same(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(5)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), timestamp, count
        if count < 4:
            ctx.timer_service().register_event_time_timer(timestamp)


@PROGRAM.stream(PER_KEY)
def registered_again_for_the_same_moment_while_firing(env, draw):
    return keyed(env, draw, 6).process(Same())


class DeleteWhileFiring(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        ctx.timer_service().delete_event_time_timer(timestamp + 500)
        yield ctx.get_current_key(), timestamp


@PROGRAM.stream(PER_KEY)
def deleted_while_firing(env, draw):
    return keyed(env, draw, 40).process(DeleteWhileFiring())


class Buffer(KeyedProcessFunction):
    """State read and cleared by timers."""

    def open(self, runtime_context: RuntimeContext):
        self.held = runtime_context.get_list_state(ListStateDescriptor("held", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        self.held.add(value[2])
        ctx.timer_service().register_event_time_timer(value[1] // 4000 * 4000 + 3999)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp, list(self.held.get())
        self.held.clear()


@PROGRAM.stream(PER_KEY)
def timers_read_and_clear_state(env, draw):
    return keyed(env, draw).process(Buffer())


class Tagged(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1] + 7)
        yield value

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield FIRED, (ctx.get_current_key(), timestamp)


@PROGRAM.stream(PER_KEY)
def timers_emit_to_side_outputs(env, draw):
    return keyed(env, draw).process(Tagged()).get_side_output(FIRED)


class Stamp(ProcessFunction):
    def process_element(self, value, ctx: ProcessFunction.Context):
        yield value[0], value, ctx.timestamp(), ctx.timer_service().current_watermark()


@PROGRAM.stream(PER_KEY)
def what_a_timer_emits_has_its_timestamp(env, draw):
    return keyed(env, draw).process(Later()).process(Stamp())


@PROGRAM.stream()
def timestamps_pass_through_chains(env, draw):
    stream = (
        timed(env, draw).map(lambda r: (r[0], r[1] * 2, r[2])).flat_map(lambda r: [r, r]).filter(lambda r: r[2] % 2)
    )
    return stream.process(Stamp())


@PROGRAM.stream(PER_KEY)
def timestamps_pass_through_key_by_and_union(env, draw):
    one = timed(env, draw, 10).map(lambda r: (r[0] + "1", *r[1:]))
    two = timed(env, draw, 10).map(lambda r: (r[0] + "2", *r[1:]))
    return one.union(two).key_by(lambda r: r[0]).map(lambda r: r).process(Stamp())


@PROGRAM.stream()
def a_second_assigner_wins(env, draw):
    class Third(TimestampAssigner):
        def extract_timestamp(self, value, record_timestamp):
            return record_timestamp + value[2]

    second = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Third())
    return timed(env, draw, 10).assign_timestamps_and_watermarks(second).process(Stamp())


@PROGRAM.stream()
def no_watermarks_with_timestamps(env, draw):
    records = [("k", draw.randint(0, 99), n) for n in range(10)]
    plain = WatermarkStrategy.no_watermarks().with_timestamp_assigner(Second())
    return env.from_collection(records).assign_timestamps_and_watermarks(plain).process(Stamp())


@PROGRAM.stream(PER_KEY)
def idleness_is_accepted(env, draw):
    records = [(draw.choice("abc"), draw.randint(0, 20) * 500, n) for n in range(20)]
    idle = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_minutes(1))
    idle = idle.with_timestamp_assigner(Second())
    return env.from_collection(records).assign_timestamps_and_watermarks(idle).key_by(lambda r: r[0]).process(Later())


@PROGRAM.stream(PER_KEY)
def idleness_after_the_assigner(env, draw):
    """PyFlink forgets the assigner."""
    idle = strategy().with_idleness(Duration.of_minutes(1))
    return env.from_collection([("a", 5)]).assign_timestamps_and_watermarks(idle).process(Stamp())


class Watermarks(KeyedProcessFunction):
    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(value[1])
        yield value[0], "before", ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), "after", ctx.timer_service().current_watermark()


@PROGRAM.stream(PER_KEY)
def the_watermark_before_the_first_and_after_the_last_record(env, draw):
    return keyed(env, draw, 6).process(Watermarks())


class Twice(KeyedProcessFunction):
    """The second of two stateful operators sees what the first one's timers emitted, and sets timers of its own."""

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)

    def on_timer(self, timestamp, ctx: KeyedProcessFunction.OnTimerContext):
        yield ctx.get_current_key(), timestamp


@PROGRAM.stream(PER_KEY)
def timers_after_timers(env, draw):
    return keyed(env, draw).process(Twice()).key_by(lambda r: r[0]).process(Twice())
