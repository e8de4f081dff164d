"""W6: when windows fire, and what triggers leave behind."""

from typing import Any

import pytest

from penstock.common import Time
from penstock.datastream.state import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountOrTimeoutTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingProcessingTimeWindows,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from tests.runtime.windows.kit import LATE, fed, seen, taken, windows

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
HUNDRED = TumblingEventTimeWindows.of(Time.milliseconds(100))
SESSION = EventTimeSessionWindows.with_gap(Time.milliseconds(10))


def test_what_a_result_asks_for() -> None:
    """W6"""
    asked = {r.name: (r.is_fire(), r.is_purge()) for r in TriggerResult}
    assert asked == {
        "CONTINUE": (False, False),
        "FIRE": (True, False),
        "PURGE": (False, True),
        "FIRE_AND_PURGE": (True, True),
    }


def test_event_time_fires_at_the_end_and_for_each_late_record() -> None:
    """W6, W7: one timer for the end, one for the clean-up; both go."""
    harness = windows(TEN, EventTimeTrigger.create(), lateness=5)
    assert fed(harness, 1, 2) == []
    assert harness.event_time_timers() == [(9, "a"), (14, "a")]
    harness.push_watermark(8)
    assert taken(harness) == []
    harness.push_watermark(9)
    assert taken(harness) == [[1, 2]]
    assert fed(harness, 3) == [[1, 2, 3]]
    assert harness.event_time_timers() == [(14, "a")]
    harness.push_watermark(14)
    harness.assert_no_leaks()
    harness.push(("a", 4), 9)
    assert harness.side_output(LATE) == [("a", 4)]
    harness.assert_no_leaks()


def test_the_end_and_the_clean_up_may_be_one_timer() -> None:
    """W7"""
    harness = windows(TEN)
    fed(harness, 1)
    assert harness.event_time_timers() == [(9, "a")]
    harness.push_watermark(9)
    assert taken(harness) == [[1]]
    harness.assert_no_leaks()


def test_processing_time_fires_once_the_last_millisecond_is_over() -> None:
    """W1, W2, T11: records of end − 1 belong to the window, whenever in that millisecond they come."""
    harness = windows(TumblingProcessingTimeWindows.of(Time.milliseconds(10)), ProcessingTimeTrigger.create(), now_ms=3)
    assert fed(harness, 1) == []
    harness.set_processing_time(9)
    assert taken(harness) == []
    assert fed(harness, 2) == []
    harness.set_processing_time(10)
    assert harness.output_with_timestamps() == [([1, 2], 9)]
    harness.assert_no_leaks()


def test_sliding_windows_of_processing_time() -> None:
    """W1, W4"""
    slides = SlidingProcessingTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5))
    harness = windows(slides, now_ms=7)
    fed(harness, 1)
    harness.set_processing_time(10)
    assert taken(harness) == [[1]]
    fed(harness, 2)
    harness.set_processing_time(100)
    assert taken(harness) == [[1, 2], [2]]
    harness.assert_no_leaks()


def test_sessions_of_processing_time_grow_with_their_records() -> None:
    """W1, W4, W6"""
    harness = windows(ProcessingTimeSessionWindows.with_gap(Time.milliseconds(10)), now_ms=0)
    fed(harness, 1)
    harness.set_processing_time(9)
    assert fed(harness, 2) == []
    assert harness.processing_time_timers() == [(18, "a")]
    harness.set_processing_time(19)
    assert harness.output_with_timestamps() == [([1, 2], 18)]
    harness.assert_no_leaks()


def test_processing_time_at_the_end_of_the_input() -> None:
    """T4: what is due fires, what is pending is dropped."""
    harness = windows(TumblingProcessingTimeWindows.of(Time.milliseconds(10)), now_ms=3)
    fed(harness, 1)
    harness.clock.set_ms(12)
    with harness.batch():
        harness.push(("a", 2), 5)
        harness.end_input()
    assert harness.output() == [[1]]
    assert harness.processing_time_timers() == []


@pytest.mark.parametrize("purging", [False, True])
def test_count_starts_over_when_it_has_fired(purging: bool) -> None:
    """W6"""
    count = CountTrigger.of(2)
    harness = windows(TEN, PurgingTrigger.of(count) if purging else count)
    assert fed(harness, 1) == []
    assert fed(harness, 2) == [[1, 2]]
    assert fed(harness, 3, 4, 5) == ([[3, 4]] if purging else [[1, 2, 3, 4]])
    harness.push_watermark(9)
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_count_adds_up_what_merging_sessions_have_counted() -> None:
    """W4, W6: 1 + 1 and the record that joins them make three."""
    harness = windows(SESSION, CountTrigger.of(3))
    assert seen(harness, [(("a", 1), 0), (("a", 2), 18)]) == []
    assert seen(harness, [(("a", 3), 9)]) == [[1, 2, 3]]
    harness.end_input()
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_purging_hands_everything_to_the_trigger_inside() -> None:
    """W4, W6: also merging."""
    harness = windows(SESSION, PurgingTrigger.of(EventTimeTrigger()), lateness=20)
    seen(harness, [(("a", 1), 0), (("a", 2), 18), (("a", 3), 9)])
    assert harness.event_time_timers() == [(27, "a"), (47, "a")]
    harness.push_watermark(27)
    assert taken(harness) == [[1, 2, 3]]
    assert seen(harness, [(("a", 4), 20)]) == []
    assert harness.event_time_timers() == [(29, "a"), (49, "a")]
    harness.push_watermark(29)
    assert taken(harness) == [[4]]
    harness.end_input()
    harness.assert_no_leaks()


def test_continuous_event_time_fires_at_full_intervals() -> None:
    """W6: after the first record, and at the end."""
    harness = windows(HUNDRED, ContinuousEventTimeTrigger.of(Time.milliseconds(30)), lateness=10)
    seen(harness, [(("a", 1), 35)])
    assert harness.event_time_timers() == [(60, "a"), (99, "a"), (109, "a")]
    harness.push_watermark(59)
    assert taken(harness) == []
    harness.push_watermark(60)
    assert taken(harness) == [[1]]
    harness.push_watermark(98)
    assert taken(harness) == [[1]]
    harness.push_watermark(99)
    assert taken(harness) == [[1]]
    assert seen(harness, [(("a", 2), 50)]) == [[1, 2]]
    assert harness.event_time_timers() == [(109, "a")]
    harness.push_watermark(108)
    assert taken(harness) == []
    harness.push_watermark(109)
    harness.assert_no_leaks()


def test_continuous_event_time_of_merged_sessions_goes_on_from_the_earliest() -> None:
    """W4, W6"""
    gap = EventTimeSessionWindows.with_gap(Time.milliseconds(50))
    harness = windows(gap, ContinuousEventTimeTrigger.of(Time.milliseconds(20)))
    seen(harness, [(("a", 1), 5), (("a", 2), 95), (("a", 3), 50)])
    harness.push_watermark(20)
    assert taken(harness) == [[1, 2, 3]]
    harness.push_watermark(79)
    assert taken(harness) == [[1, 2, 3]] * 2
    harness.end_input()
    assert taken(harness) == [[1, 2, 3]] * 5  # 80, 100, 120, 140, and 144, the end
    harness.assert_no_leaks()


def test_continuous_event_time_of_a_session_that_grows_after_its_end() -> None:
    """W4, W6, W7: as in Flink it fires at the next watermark for the moment at which it ended, and goes on."""
    gap = EventTimeSessionWindows.with_gap(Time.milliseconds(50))
    harness = windows(gap, ContinuousEventTimeTrigger.of(Time.milliseconds(20)), lateness=100)
    seen(harness, [(("a", 1), 5)])
    harness.push_watermark(60)
    assert taken(harness) == [[1]] * 3  # 20, 40, and 54, the end
    assert seen(harness, [(("a", 2), 50)]) == []
    assert harness.event_time_timers() == [(54, "a"), (99, "a"), (199, "a")]
    harness.push_watermark(61)
    assert taken(harness) == [[1, 2]]
    assert harness.event_time_timers() == [(74, "a"), (99, "a"), (199, "a")]
    harness.push_watermark(99)
    assert taken(harness) == [[1, 2]] * 3  # 74, 94 and 99
    harness.push_watermark(199)
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_continuous_processing_time_shows_a_window_while_it_fills() -> None:
    """W6: of event time and long past by the clock; only the watermark ends it."""
    harness = windows(HUNDRED, ContinuousProcessingTimeTrigger.of(Time.milliseconds(10)), now_ms=1005)
    fed(harness, 1)
    assert harness.processing_time_timers() == [(1010, "a")]
    harness.set_processing_time(1011)
    assert taken(harness) == [[1]]
    fed(harness, 2)
    harness.set_processing_time(1035)
    assert taken(harness) == [[1, 2], [1, 2]]
    harness.push_watermark(99)
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_continuous_processing_time_fires_at_the_end_of_its_window() -> None:
    """W6"""
    assigner = TumblingProcessingTimeWindows.of(Time.milliseconds(25))
    harness = windows(assigner, ContinuousProcessingTimeTrigger.of(Time.milliseconds(10)), now_ms=12)
    fed(harness, 1)
    harness.set_processing_time(21)
    assert taken(harness) == [[1]]
    fed(harness, 2)
    harness.set_processing_time(24)
    assert taken(harness) == []
    harness.set_processing_time(25)
    assert taken(harness) == [[1, 2]]
    harness.assert_no_leaks()


def test_continuous_processing_time_of_a_window_of_one_millisecond() -> None:
    """W6"""
    assigner = TumblingProcessingTimeWindows.of(Time.milliseconds(1))
    harness = windows(assigner, ContinuousProcessingTimeTrigger.of(Time.milliseconds(10)), now_ms=20)
    fed(harness, 1)
    harness.set_processing_time(21)
    assert taken(harness) == [[1]]
    harness.assert_no_leaks()


def test_continuous_processing_time_of_merged_sessions() -> None:
    """W4, W6"""
    harness = windows(SESSION, ContinuousProcessingTimeTrigger.of(Time.milliseconds(10)), now_ms=1000)
    seen(harness, [(("a", 1), 0), (("a", 2), 18), (("a", 3), 9)])
    harness.set_processing_time(1011)
    assert taken(harness) == [[1, 2, 3]]
    harness.end_input()
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_count_or_timeout() -> None:
    """W1, W6: the time-out counts from the first record since the last firing; a full count cancels it."""
    harness = windows(GlobalWindows.create(), CountOrTimeoutTrigger.of(3, Time.milliseconds(10)), now_ms=0)
    assert fed(harness, 1, 2, 3) == [[1, 2, 3]]
    harness.assert_no_leaks()
    fed(harness, 4)
    assert harness.processing_time_timers() == [(10, "a")]
    harness.set_processing_time(6)
    assert fed(harness, 5) == []
    harness.set_processing_time(11)
    assert taken(harness) == [[4, 5]]
    harness.assert_no_leaks()
    assert fed(harness, 6, 7, 8) == [[6, 7, 8]]
    harness.set_processing_time(100)
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_count_or_timeout_of_merged_sessions() -> None:
    """W4, W6: counts add up, the earlier time-out holds."""
    harness = windows(SESSION, CountOrTimeoutTrigger.of(10, Time.milliseconds(50)), now_ms=0)
    seen(harness, [(("a", 1), 0)])
    harness.set_processing_time(20)
    seen(harness, [(("a", 2), 18), (("a", 3), 9)])
    harness.set_processing_time(51)
    assert taken(harness) == [[1, 2, 3]]
    harness.end_input()
    harness.assert_no_leaks()


def test_delta_compares_with_the_record_that_fired_last() -> None:
    """W6: None may be a record."""

    def distance(old: Any, new: Any) -> float:
        return abs(new[1] - old[1])

    harness = windows(GlobalWindows.create(), DeltaTrigger.of(5, distance))
    assert fed(harness, 10, 15) == []
    assert fed(harness, 16) == [[10, 15, 16]]
    assert fed(harness, 21) == []
    assert fed(harness, 22) == [[10, 15, 16, 21, 22]]


def test_delta_forgets_with_its_window() -> None:
    """W6"""
    harness = windows(TEN, DeltaTrigger.of(5, lambda old, new: new[1] - old[1]))
    fed(harness, 10, 16)
    harness.push_watermark(9)
    harness.assert_no_leaks()


def test_never() -> None:
    """W6, T4"""
    harness = windows(TEN, NeverTrigger())
    fed(harness, 1)
    harness.end_input()
    assert taken(harness) == []
    harness.assert_no_leaks()


class Twice(Trigger):
    """Fires at the second record of a window and, 3 ms of event time before its end, whatever there is."""

    seen_records = ListStateDescriptor("records")
    total = ReducingStateDescriptor("total", lambda a, b: a + b)

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(self.seen_records).add(element)
        ctx.get_partitioned_state(self.total).add(1)
        ctx.register_event_time_timer(window.max_timestamp() - 3)
        ctx.get_metric_group().counter("elements").inc()
        full = len(list(ctx.get_partitioned_state(self.seen_records).get())) == 2
        assert ctx.get_current_watermark() < window.max_timestamp()
        assert ctx.get_current_processing_time() == 7
        return TriggerResult.FIRE if full else TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() - 3 else TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.merge_partitioned_state(self.seen_records)
        ctx.merge_partitioned_state(self.total)
        ctx.register_event_time_timer(window.max_timestamp() - 3)
        assert ctx.get_partitioned_state(self.total).get() == len(
            list(ctx.get_partitioned_state(self.seen_records).get())
        )

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.get_partitioned_state(self.seen_records).clear()
        ctx.get_partitioned_state(self.total).clear()
        ctx.delete_event_time_timer(window.max_timestamp() - 3)


def test_a_custom_trigger_has_state_timers_and_clocks() -> None:
    """W6"""
    harness = windows(TEN, Twice(), now_ms=7)
    assert fed(harness, 1) == []
    assert fed(harness, 2) == [[1, 2]]
    assert fed(harness, 3) == []
    harness.push_watermark(6)
    assert taken(harness) == [[1, 2, 3]]
    harness.push_watermark(9)
    assert taken(harness) == []
    harness.assert_no_leaks()


def test_a_custom_trigger_merges_its_state() -> None:
    """W4, W6: nothing of the windows that grew together is left."""
    harness = windows(SESSION, Twice(), now_ms=7)
    assert seen(harness, [(("a", 1), 0), (("a", 2), 18)]) == []
    assert seen(harness, [(("a", 3), 9)]) == []
    assert harness.event_time_timers() == [(24, "a"), (27, "a")]
    harness.push_watermark(24)
    assert taken(harness) == [[1, 2, 3]]
    harness.end_input()
    harness.assert_no_leaks()


class Forgetful(EventTimeTrigger):
    """Leaves timers of its own behind."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.register_event_time_timer(window.max_timestamp() + 50)
        ctx.register_processing_time_timer(70)
        return super().on_element(element, timestamp, window, ctx)

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE


@pytest.mark.parametrize("assigner", [TEN, SESSION])
def test_timers_left_behind_find_no_window_and_do_no_harm(assigner: Any) -> None:
    """W3, W6"""
    harness = windows(assigner, Forgetful())
    fed(harness, 1)
    harness.push_watermark(40)
    assert taken(harness) == [[1]]
    harness.set_processing_time(100)
    harness.push_watermark(200)
    assert taken(harness) == []
    harness.assert_no_leaks()


class OneName(Forgetful):
    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.get_partitioned_state(ValueStateDescriptor("same")).update(1)
        ctx.get_partitioned_state(ListStateDescriptor("same")).add(1)
        return TriggerResult.CONTINUE


def test_a_name_is_one_state() -> None:
    """S1, W6"""
    with pytest.raises(Exception, match="uses the state name 'same' for a value and for a list state"):
        fed(windows(TEN, OneName()), 1)


class Unmergeable(Twice):
    def on_merge(self, window: Any, ctx: Any) -> None:
        ctx.merge_partitioned_state(ValueStateDescriptor("value"))


def test_what_cannot_be_merged_is_refused_by_name() -> None:
    """W6"""
    harness = windows(SESSION, Unmergeable(), now_ms=7)
    with pytest.raises(Exception, match=r"merge_partitioned_state\('value'\): a value state cannot be merged"):
        seen(harness, [(("a", 1), 0), (("a", 2), 9)])
