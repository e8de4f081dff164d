"""What the Bytewax dataflows need of windows. Windowed streams are keyed, and their values are moments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
from bytewax.operators import windowing

from benchmarks.events import Emitted

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WAIT, LONG = timedelta(seconds=10), timedelta(hours=1)
"""Input in order needs some wait, too: a key's clock goes on with the machine's, and its next item would be late."""

Session = tuple[datetime, datetime, int]


def moment(at_ms: int) -> datetime:
    """Event time as Bytewax's windows want it."""
    return EPOCH + timedelta(milliseconds=at_ms)


def since_epoch_ms(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)


def clock(at: Callable[[Any], datetime], wait: timedelta = WAIT) -> Any:
    return windowing.EventClock(ts_getter=at, wait_for_system_duration=wait)


def _itself(value: datetime) -> datetime:
    return value


def counts(stream: Any, windower: Any) -> Any:
    """(key, (number of the window, count))."""
    return windowing.fold_window(
        "count", stream, clock(_itself), windower, lambda: 0, lambda count, _: count + 1, operator.add, ordered=False
    ).down


def gathered_counts(stream: Any, size_ms: int, slide_ms: int, pick: Callable[[list[Emitted]], list[Emitted]]) -> Any:
    """Of each sliding window what is picked from its (key, count, end).

    Counts of a window come when their keys go on, hence at different moments: the second stage waits for long.
    """
    every = timedelta(milliseconds=slide_ms)
    found = counts(stream, windowing.SlidingWindower(timedelta(milliseconds=size_ms), every, EPOCH))
    ended = op.map("end", found, lambda item: ("", (int(item[0]), item[1][1], item[1][0] * slide_ms + size_ms)))
    gathered = windowing.collect_window(
        "gather",
        ended,
        clock(lambda count: moment(count[2]), LONG),
        windowing.TumblingWindower(length=every, align_to=EPOCH),
        ordered=False,
    ).down
    return op.flat_map("pick", gathered, lambda item: pick(item[1][1]))


def counted_sessions(stream: Any, gap_ms: int) -> Any:
    """(key, (first moment, last moment, count))."""
    windower = windowing.SessionWindower(gap=timedelta(milliseconds=gap_ms))
    found = windowing.fold_window(
        "session", stream, clock(_itself), windower, lambda: None, _longer, _both, ordered=False
    ).down
    return op.map("found", found, lambda item: (item[0], item[1][1]))


def _longer(session: Session | None, at: datetime) -> Session:
    return _both(session, (at, at, 1))


def _both(one: Session | None, other: Session | None) -> Session:
    if one is None or other is None:
        return one or other  # type: ignore[return-value]
    return min(one[0], other[0]), max(one[1], other[1]), one[2] + other[2]
