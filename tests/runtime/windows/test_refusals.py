"""P9: what windows refuse, by name and with the way out."""

from collections.abc import Iterable
from typing import Any

import pytest

from penstock.common import Duration, Time
from penstock.common.errors import ProgramError
from penstock.core.errors import TimestampError, UserFunctionError
from penstock.core.state.keyed import StateTtlConfig
from penstock.datastream import OutputTag, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountOrTimeoutTrigger,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    NeverTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.testing import WindowHarness
from tests.runtime.windows.kit import Values, fed, seen, windows

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
SESSION = EventTimeSessionWindows.with_gap(Time.milliseconds(10))


def keyed() -> Any:
    env = StreamExecutionEnvironment()
    return env.from_collection([("a", 1)]).key_by(lambda v: v[0])


REFUSED: dict[str, tuple[Any, str]] = {
    "size": (lambda: TumblingEventTimeWindows.of(Time.milliseconds(0)), "the size must be greater than zero, got 0 ms"),
    "a number as size": (
        lambda: TumblingEventTimeWindows.of(10),
        "the size must be a Time, a Duration or a timedelta, got int",
    ),
    "slide": (
        lambda: SlidingEventTimeWindows.of(Time.seconds(1), Duration.of_millis(0)),
        "SlidingEventTimeWindows: the slide must be greater than zero, got 0 ms",
    ),
    "offset": (
        lambda: TumblingProcessingTimeWindows.of(Time.milliseconds(10), Time.milliseconds(10)),
        "TumblingProcessingTimeWindows: the offset 10 must be smaller than 10 either way",
    ),
    "negative offset": (
        lambda: SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5), Time.milliseconds(-5)),
        "SlidingEventTimeWindows: the offset -5 must be smaller than 5 either way",
    ),
    "gap": (
        lambda: EventTimeSessionWindows.with_gap(Time.milliseconds(-1)),
        "EventTimeSessionWindows: the gap must be greater than zero, got -1 ms",
    ),
    "gap extractor": (
        lambda: DynamicEventTimeSessionWindows.with_dynamic_gap(5),  # type: ignore[arg-type]
        "DynamicEventTimeSessionWindows takes a SessionWindowTimeGapExtractor, got 5",
    ),
    "count": (
        lambda: CountTumblingWindowAssigner.of(0),
        r"count_window\(\): the size must be a whole number of at least 1, got 0",
    ),
    "count slide": (
        lambda: CountSlidingWindowAssigner.of(3, -1),
        r"count_window\(\): the slide must be a whole number of at least 1, got -1",
    ),
    "count trigger": (
        lambda: CountTrigger.of(0),
        "CountTrigger: the count must be a whole number of at least 1, got 0",
    ),
    "count or time-out": (
        lambda: CountOrTimeoutTrigger.of(0, Time.seconds(1)),
        "CountOrTimeoutTrigger: count and time-out must be at least 1, got 0, 1000",
    ),
    "interval": (
        lambda: ContinuousEventTimeTrigger.of(Time.milliseconds(0)),
        "ContinuousEventTimeTrigger: the interval must be greater than zero, got 0 ms",
    ),
    "purging": (lambda: PurgingTrigger.of(3), r"PurgingTrigger.of\(\) takes a Trigger, got int"),  # type: ignore[arg-type]
    "delta": (
        lambda: DeltaTrigger.of(3, "no"),  # type: ignore[arg-type]
        r"DeltaTrigger.of\(\) takes a function \(old, new\) -> number, got 'no'",
    ),
    "count evictor": (lambda: CountEvictor.of(-1), "CountEvictor: the count must be a whole number, got -1"),
    "time evictor": (
        lambda: TimeEvictor.of(Time.seconds(0)),
        "TimeEvictor: the span must be greater than zero, got 0 ms",
    ),
    "no assigner": (lambda: keyed().window(10), r"window\(\) takes a WindowAssigner, got int"),
    "no trigger": (lambda: keyed().window(TEN).trigger(10), r"trigger\(\) takes a Trigger, got int"),
    "a trigger that cannot merge": (
        lambda: keyed().window(SESSION).trigger(NeverTrigger()),
        r"EventTimeSessionWindows\(10\) merges windows, which NeverTrigger cannot: it has no on_merge\(\)",
    ),
    "a purging one": (
        lambda: keyed().window(SESSION).trigger(PurgingTrigger.of(DeltaTrigger.of(1, lambda a, b: 1))),
        "merges windows, which PurgingTrigger cannot",
    ),
    "no evictor": (
        lambda: keyed().window(TEN).evictor(TEN),
        r"evictor\(\) takes an Evictor, got TumblingEventTimeWindows",
    ),
    "lateness": (
        lambda: keyed().window(TEN).allowed_lateness(-1),
        r"allowed_lateness\(\) must not be negative, got -1 ms",
    ),
    "no tag": (
        lambda: keyed().window(TEN).side_output_late_data("late"),
        r"side_output_late_data\(\) takes an OutputTag, got str",
    ),
    "no reduce": (lambda: keyed().window(TEN).reduce(3), "reduce"),
    "no aggregate": (
        lambda: keyed().window(TEN).aggregate(lambda a, b: a),
        r"aggregate\(\) takes an AggregateFunction, got function",
    ),
    "no process": (
        lambda: keyed().window(TEN).process(lambda k, c, e: e),
        r"process\(\) takes a ProcessWindowFunction, got function",
    ),
    "no apply": (lambda: keyed().window(TEN).apply(Values()), r"apply\(\) takes a WindowFunction, got Values"),
    "not for all": (
        lambda: keyed().window_all(TEN).process(Values()),
        r"process\(\) takes a ProcessAllWindowFunction, got Values",
    ),
    "after reduce": (
        lambda: keyed().window(TEN).reduce(lambda a, b: a, lambda k, w, i: i),
        r"reduce\(\) takes a WindowFunction or a ProcessWindowFunction, got function",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused_when_they_are_made(what: str) -> None:
    """P9"""
    make, text = REFUSED[what]
    with pytest.raises((TypeError, ValueError, ProgramError), match=text):
        make()


def test_event_time_windows_need_timestamps() -> None:
    """P9, T8: by every way to run them."""
    text = "Operator 'TumblingEventTimeWindows'.*a record without a timestamp came to an event-time window"
    with pytest.raises(TimestampError, match=text):
        fed(windows(TEN), 1, at=None)
    reduced = WindowHarness(lambda k: k.window(TEN).reduce(lambda a, b: a), lambda v: v[0])
    with pytest.raises(TimestampError, match=text):
        fed(reduced, 1, at=None)


def test_a_gap_that_makes_no_sense_names_operator_and_record() -> None:
    """P9, W4"""
    for function in (False, True):

        def attach(stream: Any, plain: bool = function) -> Any:
            sessions = stream.window(DynamicEventTimeSessionWindows.with_dynamic_gap(lambda v: v[1]))
            return sessions.reduce(lambda a, b: a) if plain else sessions.process(Values())

        harness = WindowHarness(attach, lambda v: v[0])
        with pytest.raises(UserFunctionError, match=r"\('a', 0\)[\s\S]*the gap must be greater than zero, got 0 ms"):
            fed(harness, 0)


class Failing(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        raise ZeroDivisionError("oh")


def test_a_failing_window_function_names_operator_and_window() -> None:
    """P9: the timer at which it failed, and of which key."""
    harness = windows(TEN, function=Failing())
    fed(harness, 1)
    text = r"A window function of operator 'TumblingEventTimeWindows' \(uid .*\) failed on record .*timer 9 of key 'a'"
    with pytest.raises(UserFunctionError, match=text):
        harness.push_watermark(9)


class NoList(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        return 7


@pytest.mark.parametrize("incremental", [False, True])
def test_a_function_must_return_something_to_iterate(incremental: bool) -> None:
    """P9"""

    def attach(stream: Any) -> Any:
        windowed = stream.window(TEN)
        return windowed.reduce(lambda a, b: a, NoList()) if incremental else windowed.process(NoList())

    harness = WindowHarness(attach, lambda v: v[0])
    fed(harness, 1)
    with pytest.raises(UserFunctionError, match=r"returned 7 \(int\).*yield records or return an iterable of them"):
        harness.push_watermark(9)


class Backwards(EventTimeSessionWindows):
    """Merged windows end before those they are made of."""

    def merge_windows(self, windows: Iterable[Any], callback: Any) -> None:
        both = list(windows)
        if len(both) > 1:
            callback.merge(both, TimeWindow(both[0].start, both[0].start + 1))


def test_an_assigner_that_makes_windows_end_earlier() -> None:
    """W4, W7"""
    harness = windows(Backwards(10))
    seen(harness, [(("a", 1), 5)])
    harness.push_watermark(7)
    with pytest.raises(ProgramError, match="an assigner must not make windows end earlier"):
        seen(harness, [(("a", 2), 9)])


class Expiring(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Any:
        descriptor = ValueStateDescriptor("short")
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(1)).build())
        context.window_state().get_state(descriptor)


def test_state_of_a_window_has_no_time_to_live() -> None:
    """S2, W5"""
    harness = windows(TEN, CountTrigger.of(1), function=Expiring())
    with pytest.raises(ProgramError, match="state 'short' of a window cannot have a time to live: it goes with it"):
        fed(harness, 1)


def test_global_windows_need_no_timestamps_and_no_tag() -> None:
    """W1"""
    harness = windows(GlobalWindows.create(), CountTrigger.of(1))
    assert fed(harness, 1, at=None) == [[1]]
    assert harness.side_output(OutputTag("late")) == []
