"""Windows that fire at record counts or when the input ends: no watermark comes before, so every run is alike."""

from __future__ import annotations

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from pyflink.datastream.state import ReducingStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TimeWindow,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)

from differential.programs.kit import PER_KEY, Program

PROGRAM = Program({"pipeline.auto-watermark-interval": "0"})


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


def timed(env, draw, count=40, low=0, high=12_000):
    """(key, moment, number), the moments in any order, some of them twice."""
    records = [(draw.choice("abc"), draw.randint(low // 250, high // 250) * 250, n) for n in range(count)]
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    return env.from_collection(records).assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Second()))


def keyed(env, draw, count=40, low=0, high=12_000):
    return timed(env, draw, count, low, high).key_by(lambda r: r[0], Types.STRING())


def latest(a, b):
    return a[0], max(a[1], b[1]), a[2] + b[2]


class Average(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[2], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Bounds(ProcessWindowFunction):
    """The window's bounds and its records by number."""

    def process(self, key, context: ProcessWindowFunction.Context, elements):
        window = context.window()
        yield key, window.start, window.end, sorted(e[2] for e in elements)

    def clear(self, context):
        pass


class Result(ProcessWindowFunction):
    """The window's bounds and what an incremental function came to."""

    def process(self, key, context: ProcessWindowFunction.Context, elements):
        yield key, context.window().start, context.window().max_timestamp(), list(elements)

    def clear(self, context):
        pass


class Applied(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.start, window.end, sorted(e[2] for e in inputs)


# -- assigners ---------------------------------------------------------------------------------------------


@PROGRAM.stream(PER_KEY)
def tumbling_reduced(env, draw):
    return keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(2))).reduce(latest)


@PROGRAM.stream(PER_KEY)
def tumbling_with_an_offset(env, draw):
    windows = TumblingEventTimeWindows.of(Time.seconds(2), Time.milliseconds(750))
    return keyed(env, draw).window(windows).process(Bounds())


@PROGRAM.stream(PER_KEY)
def tumbling_before_the_epoch(env, draw):
    return keyed(env, draw, 40, -6_000, 6_000).window(TumblingEventTimeWindows.of(Time.seconds(2))).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sliding_applied(env, draw):
    return keyed(env, draw).window(SlidingEventTimeWindows.of(Time.seconds(3), Time.seconds(1))).apply(Applied())


@PROGRAM.stream(PER_KEY)
def sliding_with_an_offset_and_gaps(env, draw):
    """A slide larger than the size: some records belong to no window."""
    windows = SlidingEventTimeWindows.of(Time.seconds(1), Time.milliseconds(1500), Time.milliseconds(500))
    return keyed(env, draw).window(windows).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sliding_before_the_epoch(env, draw):
    windows = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(2))
    return keyed(env, draw, 40, -6_000, 6_000).window(windows).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sliding_aggregated(env, draw):
    windows = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(1))
    return keyed(env, draw).window(windows).aggregate(Average(), Result())


@PROGRAM.stream(PER_KEY)
def sessions_processed(env, draw):
    return keyed(env, draw).window(EventTimeSessionWindows.with_gap(Time.milliseconds(750))).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sessions_that_touch(env, draw):
    """A pause of exactly the gap is no end."""
    return keyed(env, draw, 15).window(EventTimeSessionWindows.with_gap(Time.milliseconds(250))).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sessions_aggregated(env, draw):
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(500))
    return keyed(env, draw).window(windows).aggregate(Average(), Result())


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 250 + element[2] % 4 * 250


@PROGRAM.stream(PER_KEY)
def sessions_with_gaps_of_their_own(env, draw):
    windows = DynamicEventTimeSessionWindows.with_dynamic_gap(Gap())
    return keyed(env, draw).window(windows).process(Bounds())


# -- counts ------------------------------------------------------------------------------------------------


class Numbers(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        yield key, [e[2] for e in elements]

    def clear(self, context):
        pass


@PROGRAM.stream(PER_KEY)
def count_windows(env, draw):
    return keyed(env, draw).count_window(4).reduce(latest)


@PROGRAM.stream(PER_KEY)
def count_windows_processed(env, draw):
    return keyed(env, draw).window(CountTumblingWindowAssigner.of(3)).process(Numbers())


@PROGRAM.stream(PER_KEY)
def sliding_count_windows(env, draw):
    return keyed(env, draw).window(CountSlidingWindowAssigner.of(4, 2)).process(Numbers())


@PROGRAM.stream(PER_KEY)
def sliding_count_windows_reduced(env, draw):
    return keyed(env, draw).count_window(5, 2).reduce(latest)


# -- triggers ----------------------------------------------------------------------------------------------


@PROGRAM.stream(PER_KEY)
def a_count_trigger_on_a_global_window(env, draw):
    return keyed(env, draw).window(GlobalWindows.create()).trigger(CountTrigger.of(3)).process(Numbers())


@PROGRAM.stream(PER_KEY)
def a_purging_count_trigger(env, draw):
    windowed = keyed(env, draw).window(GlobalWindows.create())
    return windowed.trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Numbers())


@PROGRAM.stream(PER_KEY)
def a_count_trigger_on_time_windows(env, draw):
    windowed = keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(4)))
    return windowed.trigger(CountTrigger.of(2)).reduce(latest, Result())


@PROGRAM.stream(PER_KEY)
def a_purging_event_time_trigger(env, draw):
    windowed = keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(4)))
    return windowed.trigger(PurgingTrigger.of(EventTimeTrigger.create())).process(Bounds())


class Third(Trigger):
    """Fires at every third record, purges at every sixth, and once more when time is up."""

    def __init__(self):
        self.descriptor = ReducingStateDescriptor("count", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx: Trigger.TriggerContext):
        ctx.register_event_time_timer(window.max_timestamp())
        count = ctx.get_partitioned_state(self.descriptor)
        count.add(1)
        if count.get() % 6 == 0:
            return TriggerResult.FIRE_AND_PURGE
        return TriggerResult.FIRE if count.get() % 3 == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx: Trigger.TriggerContext):
        ctx.get_partitioned_state(self.descriptor).clear()


@PROGRAM.stream(PER_KEY)
def a_trigger_of_ones_own(env, draw):
    windowed = keyed(env, draw, 60).window(TumblingEventTimeWindows.of(Time.seconds(6)))
    return windowed.trigger(Third()).process(Bounds())


@PROGRAM.stream(PER_KEY)
def a_count_trigger_on_processing_time_windows(env, draw):
    """They last for years, so that all records are in one."""
    windowed = keyed(env, draw).window(TumblingProcessingTimeWindows.of(Time.days(20_000)))
    return windowed.trigger(CountTrigger.of(4)).process(Numbers())


@PROGRAM.stream(PER_KEY)
def a_processing_time_session_that_is_not_over(env, draw):
    """Pending processing-time timers are dropped when the input ends."""
    return keyed(env, draw).window(ProcessingTimeSessionWindows.with_gap(Time.days(1))).process(Numbers())


# -- contexts ----------------------------------------------------------------------------------------------


class Remembering(ProcessWindowFunction):
    """Counts a key's windows in global state and the firings of one in its own."""

    def process(self, key, context: ProcessWindowFunction.Context, elements):
        windows = context.global_state().get_state(ValueStateDescriptor("windows", Types.LONG()))
        firings = context.window_state().get_state(ValueStateDescriptor("firings", Types.LONG()))
        windows.update((windows.value() or 0) + 1)
        firings.update((firings.value() or 0) + 1)
        yield key, context.window().start, windows.value(), firings.value(), len(list(elements))

    def clear(self, context: ProcessWindowFunction.Context):
        context.window_state().get_state(ValueStateDescriptor("firings", Types.LONG())).clear()


@PROGRAM.stream(PER_KEY)
def global_and_window_state(env, draw):
    windowed = keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(4)))
    return windowed.trigger(Third()).process(Remembering())


@PROGRAM.stream(PER_KEY)
def results_are_stamped_with_the_end_of_their_window(env, draw):
    """A second window over the results of the first."""
    first = keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(latest)
    second = first.key_by(lambda r: r[0], Types.STRING()).window(TumblingEventTimeWindows.of(Time.seconds(3)))
    return second.process(Bounds())


# -- all ---------------------------------------------------------------------------------------------------


class AllBounds(ProcessAllWindowFunction):
    def process(self, context: ProcessAllWindowFunction.Context, elements):
        yield "all", context.window().start, sorted(e[2] for e in elements)

    def clear(self, context):
        pass


class AllApplied(AllWindowFunction):
    def apply(self, window: TimeWindow, inputs):
        yield "all", window.start, window.end, len(list(inputs))


@PROGRAM.stream(PER_KEY)
def all_tumbling(env, draw):
    return timed(env, draw).window_all(TumblingEventTimeWindows.of(Time.seconds(2))).process(AllBounds())


@PROGRAM.stream(PER_KEY)
def all_sliding_applied(env, draw):
    windows = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(2))
    return timed(env, draw).window_all(windows).apply(AllApplied())


@PROGRAM.stream(PER_KEY)
def all_sessions_reduced(env, draw):
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(250))
    return timed(env, draw, 25).map(lambda r: ("all", *r[1:])).window_all(windows).reduce(latest)


@PROGRAM.stream(PER_KEY)
def all_counted(env, draw):
    return timed(env, draw).window_all(CountTumblingWindowAssigner.of(7)).aggregate(Average()).map(lambda r: ("all", r))
