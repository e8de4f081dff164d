"""Windows between watermarks: late records, lateness, continuous triggers. Time is made as in `watermarks`."""

from __future__ import annotations

from pyflink.common import Time, Types
from pyflink.datastream import OutputTag
from pyflink.datastream.functions import ProcessWindowFunction
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)

from differential.programs import watermarks
from differential.programs.kit import PER_KEY, Program
from differential.programs.watermarks import bounded

PROGRAM = Program(dict(watermarks.PROGRAM.settings))
LATE = OutputTag("late", Types.PICKLED_BYTE_ARRAY())


def keyed(env, draw, delay=0.0, count=14):
    """Every sixth record is a second late, every ninth two."""
    records = [(r, t - (1000 if n % 6 == 5 else 0) - (2000 if n % 9 == 8 else 0), n) for r, t, n in rows(draw, count)]
    return timed(env, records, delay)


def timed(env, records, delay):
    stream = env.from_collection(records).disable_chaining().map(watermarks.Paused())
    strategy = bounded(delay).with_timestamp_assigner(watermarks.Second())
    return stream.assign_timestamps_and_watermarks(strategy).key_by(lambda r: r[0], Types.STRING())


def rows(draw, count):
    return [(draw.choice("ab"), 3000 + n * 300 + draw.randint(-1, 1) * 100, n) for n in range(count)]


class Bounds(ProcessWindowFunction):
    """With the watermark at which it was called."""

    def process(self, key, context: ProcessWindowFunction.Context, elements):
        numbers = sorted(e[2] for e in elements)
        yield key, context.window().start, context.window().end, numbers, context.current_watermark()

    def clear(self, context):
        pass


def tumbling():
    return TumblingEventTimeWindows.of(Time.seconds(1))


@PROGRAM.stream(PER_KEY)
def tumbling_between_watermarks(env, draw):
    return keyed(env, draw).window(tumbling()).process(Bounds())


@PROGRAM.stream(PER_KEY)
def a_delay_leaves_room(env, draw):
    return keyed(env, draw, 1.5).window(tumbling()).process(Bounds())


@PROGRAM.stream(PER_KEY)
def late_records_fire_again_within_the_lateness(env, draw):
    return keyed(env, draw).window(tumbling()).allowed_lateness(1200).process(Bounds())


@PROGRAM.stream(PER_KEY)
def late_records_aside(env, draw):
    windowed = keyed(env, draw).window(tumbling()).side_output_late_data(LATE)
    return windowed.process(Bounds()).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def too_late_for_the_lateness(env, draw):
    windowed = keyed(env, draw).window(tumbling()).allowed_lateness(400).side_output_late_data(LATE)
    return windowed.process(Bounds()).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def sliding_and_late(env, draw):
    """A record is late only if all of its windows are over."""
    windowed = keyed(env, draw).window(SlidingEventTimeWindows.of(Time.seconds(2), Time.seconds(1)))
    return windowed.reduce(lambda a, b: (a[0], max(a[1], b[1]), a[2] + b[2]), Bounds())


@PROGRAM.stream(PER_KEY)
def sessions_and_late(env, draw):
    windowed = keyed(env, draw).window(EventTimeSessionWindows.with_gap(Time.milliseconds(400)))
    return windowed.allowed_lateness(1200).process(Bounds())


@PROGRAM.stream(PER_KEY)
def sessions_and_too_late(env, draw):
    windowed = keyed(env, draw).window(EventTimeSessionWindows.with_gap(Time.milliseconds(400)))
    return windowed.side_output_late_data(LATE).process(Bounds()).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def purged_when_it_fires_and_late(env, draw):
    """What comes late finds an empty window."""
    windowed = keyed(env, draw).window(tumbling()).trigger(PurgingTrigger.of(EventTimeTrigger.create()))
    return windowed.allowed_lateness(1200).process(Bounds())


@PROGRAM.stream(PER_KEY)
def a_continuous_trigger(env, draw):
    windowed = keyed(env, draw).window(TumblingEventTimeWindows.of(Time.seconds(3)))
    return windowed.trigger(ContinuousEventTimeTrigger.of(Time.seconds(1))).process(Bounds())


@PROGRAM.stream(PER_KEY)
def a_continuous_trigger_of_a_session_that_grows_late(env, draw):
    """The session of "a" has fired at its end when a late record joins it: it fires at the next watermark, and again.

    No two of its timers come due at once: PyFlink fires those in another order (`a_continuous_trigger`).
    """
    shift = 10_000 * draw.randint(0, 9)
    times = [("a", 3000), ("b", 3800), ("a", 3500), ("c", 3900), ("d", 4300)]
    windowed = timed(env, [(key, at + shift, n) for n, (key, at) in enumerate(times)], 0.0).window(
        EventTimeSessionWindows.with_gap(Time.milliseconds(700))
    )
    windowed = windowed.trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(2500)))
    return windowed.allowed_lateness(3000).process(Bounds())


def gaps(env, draw, lateness):
    """Windows of 300 ms, one a second: most records fall into none."""
    windowed = keyed(env, draw, count=24).window(SlidingEventTimeWindows.of(Time.milliseconds(300), Time.seconds(1)))
    return windowed.allowed_lateness(lateness).side_output_late_data(LATE)


@PROGRAM.stream(PER_KEY)
def late_records_between_windows(env, draw):
    return gaps(env, draw, 0).process(Bounds()).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def late_records_between_windows_and_lateness(env, draw):
    return gaps(env, draw, 400).process(Bounds()).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def late_records_between_windows_of_a_reduce(env, draw):
    windowed = gaps(env, draw, 0)
    return windowed.reduce(lambda a, b: (a[0], max(a[1], b[1]), a[2] + b[2])).get_side_output(LATE)


@PROGRAM.stream(PER_KEY)
def a_count_trigger_is_cleaned_up_by_time(env, draw):
    return keyed(env, draw).window(tumbling()).trigger(CountTrigger.of(2)).process(Bounds())


class Early(Trigger):
    """Fires half-way and at the end."""

    def on_element(self, element, timestamp, window, ctx: Trigger.TriggerContext):
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.start + 499)
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx: Trigger.TriggerContext):
        ctx.delete_event_time_timer(window.start + 499)
        ctx.delete_event_time_timer(window.max_timestamp())


@PROGRAM.stream(PER_KEY)
def half_way_and_at_the_end(env, draw):
    return keyed(env, draw).window(tumbling()).trigger(Early()).process(Bounds())
