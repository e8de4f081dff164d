"""S6: windows that hold many records keep them in segments, outside their page."""

import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from penstock.common import Time
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import ProcessWindowFunction
from penstock.datastream.window import CountEvictor, EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.runtime.state.store_keys import BlobKind, kind_of
from tests.runtime.windows.kit import taken, windows

TINY = RuntimeSettings(page_bytes=1, state_budget_bytes=0)
MANY = 100_000


class Summary(ProcessWindowFunction):
    """(records, first, last, sum), read one by one, and twice."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterator[Any]:
        count = total = 0
        first = last = None
        for _, value in elements:
            first = value if first is None else first
            last = value
            count, total = count + 1, total + value
        yield count, first, last, total
        yield sum(1 for _ in elements)


def pages_and_segments(harness: Any) -> tuple[list[int], int]:
    """Sizes of pages, number of segments."""
    blobs = harness.state_blobs()
    pages = [len(blob) for name, blob in blobs.items() if kind_of(name) is BlobKind.PAGE]
    return pages, sum(kind_of(name) is BlobKind.SEGMENT for name in blobs)


def test_a_window_of_many_records_is_kept_in_segments() -> None:
    """S6, W5: with next to no memory for pages; read in pieces, gone with the window."""
    harness = windows(TumblingEventTimeWindows.of(Time.days(1)), function=Summary(), settings=TINY)
    for start in range(0, MANY, 10_000):
        harness.push_all([(("a", i), i) for i in range(start, start + 10_000)])
        (page,), segments = pages_and_segments(harness)
        assert page < 64 << 10, "the records are in the page"
    assert segments > 50
    harness.push_watermark(Time.days(1).to_milliseconds() - 1)
    assert taken(harness) == [(MANY, 0, MANY - 1, MANY * (MANY - 1) // 2), MANY]
    harness.assert_no_leaks()


def test_a_window_is_not_read_into_memory_to_be_shown() -> None:
    """S6: 12 MB of records, shown with a fraction of that."""
    harness = windows(TumblingEventTimeWindows.of(Time.days(1)), function=Summary(), settings=TINY)
    for start in range(0, 12_000, 1000):
        harness.push_all([(("a", 10 ** (2400 + i % 2)), i) for i in range(start, start + 1000)])
    tracemalloc.start()
    try:
        harness.push_watermark(Time.days(1).to_milliseconds() - 1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken(harness)[1] == 12_000
    assert most < 4 << 20, f"{most:,} bytes"


def test_long_sessions_that_merge() -> None:
    """S6, W4: segments of both become those of one."""
    harness = windows(EventTimeSessionWindows.with_gap(Time.seconds(1)), function=Summary(), settings=TINY)
    harness.push_all([(("a", i), 0) for i in range(10_000)])
    harness.push_all([(("a", i), 2000) for i in range(10_000, 20_000)])
    harness.push(("a", 20_000), 1000)
    _, segments = pages_and_segments(harness)
    assert segments > 5
    harness.end_input()
    assert taken(harness) == [(20_001, 0, 20_000, 20_000 * 20_001 // 2), 20_001]
    harness.assert_no_leaks()


@pytest.mark.parametrize("after", [False, True])
def test_an_evictor_on_a_long_window(after: bool) -> None:
    """S6, W6"""
    evictor = CountEvictor.of(5, after)
    ten = TumblingEventTimeWindows.of(Time.milliseconds(10))
    harness = windows(ten, evictor=evictor, lateness=10, function=Summary(), settings=TINY)
    harness.push_all([(("a", i), 1) for i in range(20_000)])
    harness.push_watermark(9)
    assert taken(harness)[1] == (20_000 if after else 5)
    harness.push(("a", 7), 2)
    assert taken(harness)[1] == (6 if after else 5)
    harness.end_input()
    harness.assert_no_leaks()


def test_many_windows_of_many_keys_with_next_to_no_memory() -> None:
    """S6, W4"""
    harness = windows(EventTimeSessionWindows.with_gap(Time.milliseconds(10)), settings=TINY)
    records = [((f"k{i % 50}", i), (i % 7) * 30 + i % 10) for i in range(2000)]
    harness.push_all(records)
    harness.end_input()
    found = taken(harness)
    assert len(found) == 50 * 7
    assert sorted(v for values in found for v in values) == list(range(2000))
    harness.assert_no_leaks()
