"""W6: what functions are shown, and what a window keeps afterwards."""

from typing import Any

import pytest

from penstock.common import Time
from penstock.datastream import AggregateFunction
from penstock.datastream.window import (
    CountEvictor,
    CountTrigger,
    DeltaEvictor,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    TimeEvictor,
    TimestampedValue,
    TumblingEventTimeWindows,
)
from penstock.testing import WindowHarness
from tests.runtime.windows.kit import fed, seen, taken, windows

EVERYTHING = GlobalWindows.create()
EACH = CountTrigger.of(1)


@pytest.mark.parametrize("after", [False, True])
def test_count(after: bool) -> None:
    """W6: the last two; evicted after the function, the newest is shown besides."""
    harness = windows(EVERYTHING, EACH, CountEvictor.of(2, after))
    assert fed(harness, 1, 2, 3, 4) == ([[1], [1, 2], [1, 2, 3], [2, 3, 4]] if after else [[1], [1, 2], [2, 3], [3, 4]])


@pytest.mark.parametrize("after", [False, True])
def test_time(after: bool) -> None:
    """W6: those less than 10 ms older than the youngest of all, which need not be the last."""
    harness = windows(EVERYTHING, EACH, TimeEvictor.of(Time.milliseconds(10), after))
    records = [(("a", t), t) for t in (5, 14, 15, 3, 30)]
    before = [[5], [5, 14], [14, 15], [14, 15], [30]]
    assert seen(harness, records) == ([[5], [5, 14], [5, 14, 15], [14, 15, 3], [14, 15, 30]] if after else before)


def test_time_leaves_records_without_timestamps_alone() -> None:
    """W6"""
    harness = windows(EVERYTHING, EACH, TimeEvictor.of(Time.milliseconds(10)))
    assert fed(harness, 1, 2, at=None) == [[1], [1, 2]]


@pytest.mark.parametrize("after", [False, True])
def test_delta(after: bool) -> None:
    """W6: those that differ by less than the threshold from the last."""

    def distance(one: Any, last: Any) -> float:
        return abs(one[1] - last[1])

    harness = windows(EVERYTHING, EACH, DeltaEvictor.of(3, distance, after))
    assert fed(harness, 1, 3, 4, 2) == (
        [[1], [1, 3], [1, 3, 4], [3, 4, 2]] if after else [[1], [1, 3], [3, 4], [3, 4, 2]]
    )


class Noted(Evictor):
    """Removes the smallest before, the largest after; notes what it was told."""

    notes: list[Any] = []  # noqa: RUF012 - shared on purpose: operators own copies of their evictors

    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None:
        self.notes.append((size, [e.timestamp for e in elements], window.max_timestamp(), ctx.get_current_watermark()))
        elements.remove(min(elements))

    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None:
        self.notes.append((size, ctx.get_current_processing_time()))
        ctx.get_metric_group().counter("evicted").inc()
        elements.remove(max(elements))


def test_a_custom_evictor() -> None:
    """W6"""
    Noted.notes.clear()
    ten = TumblingEventTimeWindows.of(Time.milliseconds(10))
    harness = windows(ten, evictor=Noted(), lateness=10, now_ms=77)
    seen(harness, [(("a", 2), 1), (("a", 1), 2), (("a", 3), 3)])
    harness.push_watermark(9)
    assert taken(harness) == [[2, 3]]
    assert Noted.notes == [(3, [1, 2, 3], 9, 9), (2, 77)]
    assert seen(harness, [(("a", 7), 4)]) == [[7]]
    harness.push_watermark(19)
    harness.assert_no_leaks()


class Mean(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[1] / accumulator[0]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        raise AssertionError("records are kept, there is nothing to merge")


def test_incremental_functions_are_given_what_is_left() -> None:
    """W5, W6: also of sessions that merged."""

    def attach(keyed: Any) -> Any:
        sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(10)))
        return sessions.evictor(CountEvictor.of(2)).aggregate(Mean())

    harness = WindowHarness(attach, lambda v: v[0])
    seen(harness, [(("a", 9), 0), (("a", 1), 18), (("a", 3), 9)])
    harness.end_input()
    assert taken(harness) == [2.0]
    harness.assert_no_leaks()


class Everything(Evictor):
    """Evicts every odd value."""

    def evict_before(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None:
        elements[:] = [e for e in elements if e.value[1] % 2 == 0]

    def evict_after(self, elements: list[TimestampedValue], size: int, window: Any, ctx: Any) -> None: ...


def test_a_window_that_was_evicted_empty() -> None:
    """W3, W6: a process function is told so, a reduce has nothing to reduce; evicted is evicted."""
    harness = windows(EVERYTHING, EACH, Everything())
    assert fed(harness, 1, 2, 3) == [[], [2], [2]]
    reduced = WindowHarness(
        lambda keyed: (
            keyed.window(EVERYTHING).trigger(EACH).evictor(Everything()).reduce(lambda a, b: (a[0], a[1] + b[1]))
        ),
        lambda v: v[0],
    )
    assert seen(reduced, [(("a", 1), 1)]) == []
    reduced.assert_no_leaks()
    assert seen(reduced, [(("a", 2), 1), (("a", 4), 1)]) == [("a", 2), ("a", 6)]


def test_timestamps_survive_a_restart() -> None:
    """W6, F1"""
    first = windows(EVERYTHING, CountTrigger.of(3), TimeEvictor.of(Time.milliseconds(5)))
    seen(first, [(("a", 1), 1), (("a", 2), 9)])
    second = windows(EVERYTHING, CountTrigger.of(3), TimeEvictor.of(Time.milliseconds(5)), snapshot=first.snapshot())
    assert seen(second, [(("a", 3), 5)]) == [[2, 3]]
