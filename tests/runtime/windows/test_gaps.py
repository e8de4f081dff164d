"""Windows with gaps between them (slide > size): a record that falls into none is late once the clock has passed it."""

from typing import Any

import pytest

from penstock.common import Time
from penstock.datastream.window import (
    CountTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    WindowAssigner,
)
from penstock.testing import WindowHarness
from tests.runtime.windows.kit import LATE, windows

GAPS = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(30))


def sums(assigner: WindowAssigner, lateness: int = 0, **options: Any) -> WindowHarness:
    """On the path of aligned windows with an incremental function."""

    def attach(keyed: Any) -> Any:
        windowed = keyed.window(assigner).allowed_lateness(lateness).side_output_late_data(LATE)
        return windowed.reduce(lambda a, b: (a[0], a[1] + b[1]))

    return WindowHarness(attach, lambda v: v[0], tags=[LATE], **options)


def whole(assigner: WindowAssigner, lateness: int = 0, **options: Any) -> WindowHarness:
    """On the general path."""
    return windows(assigner, CountTrigger.of(100), lateness=lateness, **options)


@pytest.mark.parametrize("make", [sums, whole])
@pytest.mark.parametrize("lateness", [0, 5])
def test_a_late_record_between_windows_goes_to_the_late_output(make: Any, lateness: int) -> None:
    """W7, T10: the borders are those of a window that would have ended with the record."""
    harness = make(GAPS, lateness)
    harness.push_all([(("a", 1), 15)])
    assert harness.side_output(LATE) == []
    harness.push_watermark(20 + lateness)
    harness.push_all([(("a", 2), 21), (("a", 3), 20), (("a", 4), 10), (("a", 5), 29)])
    assert harness.side_output(LATE) == [("a", 3), ("a", 4)]
    harness.end_input()
    harness.assert_no_leaks()


@pytest.mark.parametrize("make", [sums, whole])
def test_nothing_is_late_in_processing_time(make: Any) -> None:
    """T10"""
    assigner = SlidingProcessingTimeWindows.of(Time.milliseconds(10), Time.milliseconds(30))
    harness = make(assigner, now_ms=15)
    harness.push_watermark(1000)
    harness.push_all([(("a", 1), 15)])
    assert harness.side_output(LATE) == []
