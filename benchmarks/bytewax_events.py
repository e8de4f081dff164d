"""The event-time jobs as Bytewax dataflows: keyed items in, records (key, value, at) out.

Bytewax keeps a clock for each key, none for a whole stream, and gives functions what comes as it comes: the join and
the failed logins rely on input in order, and so do less than those that put it in order.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
from bytewax.operators import windowing

from benchmarks.events import (
    AS_THEY_COME,
    IN_A_ROW,
    JOIN,
    SESSIONS,
    SHAPES,
    SLIDING,
    TUMBLING,
    WORDS,
    Emitted,
    event,
    line,
    login,
    numbered,
    ranked,
    session_value,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_WAIT = timedelta(0)

Item = tuple[str, Any]
Sides = tuple[deque[int], deque[int]]


def moment(at_ms: int) -> datetime:
    """Event time as Bytewax's windows want it."""
    return EPOCH + timedelta(milliseconds=at_ms)


def items(what: str, records: int) -> list[Item]:
    """The whole input: (key, moment) for windows, and what the other jobs need."""
    if what == WORDS:
        return [line(index) for index in range(records)]
    keys = SHAPES[what].keys
    if what == AS_THEY_COME:
        return [(str(user), (fine, at)) for user, fine, at in (login(index, keys) for index in range(records))]
    events = [event(index, keys) for index in range(records)]
    if what == JOIN:
        return [(str(key), (index % 2, at)) for index, (key, at) in enumerate(events)]
    return [(str(key), moment(at)) for key, at in events]


def _clock(at: Callable[[Any], datetime], wait: timedelta = NO_WAIT) -> Any:
    return windowing.EventClock(ts_getter=at, wait_for_system_duration=wait)


def _counts(stream: Any, windower: Any) -> Any:
    """(key, (number of the window, count))."""
    clock = _clock(lambda value: value)
    return windowing.fold_window(
        "count", stream, clock, windower, lambda: 0, lambda count, _: count + 1, operator.add, ordered=False
    ).down


def tumbling(stream: Any) -> Any:
    size = SHAPES[TUMBLING].size_ms
    counts = _counts(stream, windowing.TumblingWindower(length=timedelta(milliseconds=size), align_to=EPOCH))
    return op.map("end", counts, lambda found: (int(found[0]), found[1][1], (found[1][0] + 1) * size))


def sliding(stream: Any) -> Any:
    """Counts of a window come when their keys go on, hence at different moments: the second stage waits for an hour."""
    size, slide = SHAPES[SLIDING].size_ms, SHAPES[SLIDING].slide_ms
    every = timedelta(milliseconds=slide)
    counts = _counts(stream, windowing.SlidingWindower(timedelta(milliseconds=size), every, EPOCH))
    ended = op.map("end", counts, lambda found: ("", (int(found[0]), found[1][1], found[1][0] * slide + size)))
    gathered = windowing.collect_window(
        "gather",
        ended,
        _clock(lambda count: moment(count[2]), timedelta(hours=1)),
        windowing.TumblingWindower(length=every, align_to=EPOCH),
        ordered=False,
    ).down
    return op.flat_map("top", gathered, lambda found: _top(found[1][1]))


def _top(counts: list[Emitted]) -> list[Emitted]:
    return ranked(((key, count) for key, count, _ in counts), counts[0][2])


def sessions(stream: Any) -> Any:
    gap = SHAPES[SESSIONS].size_ms
    windower = windowing.SessionWindower(gap=timedelta(milliseconds=gap))
    clock = _clock(lambda value: value)
    found = windowing.fold_window("session", stream, clock, windower, lambda: None, _longer, _both, ordered=False).down
    return op.map("end", found, lambda item: _session(int(item[0]), *item[1][1]))


Session = tuple[datetime, datetime, int]


def _longer(session: Session | None, at: datetime) -> Session:
    return _both(session, (at, at, 1))


def _both(one: Session | None, other: Session | None) -> Session:
    if one is None or other is None:
        return one or other  # type: ignore[return-value]
    return min(one[0], other[0]), max(one[1], other[1]), one[2] + other[2]


def _session(key: int, first: datetime, last: datetime, count: int) -> Emitted:
    start, end = ((at - EPOCH) // timedelta(milliseconds=1) for at in (first, last))
    end += SHAPES[SESSIONS].size_ms
    return key, session_value(start, end, count), end


def interval_join(stream: Any) -> Any:
    return op.map("joined", op.stateful_flat_map("join", stream, _join), operator.itemgetter(1))


def _join(sides: Sides | None, value: tuple[int, int]) -> tuple[Sides, Iterable[Emitted]]:
    sides = sides or (deque(), deque())
    side, at = value
    others = sides[1 - side]
    while others and at - others[0] > SHAPES[JOIN].size_ms:
        others.popleft()
    sides[side].append(at)
    return sides, [(at, other, at) if side == 0 else (other, at, at) for other in others]


def as_they_come(stream: Any) -> Any:
    alerts = op.stateful_flat_map("failures", stream, _failed)
    return op.map("alert", alerts, lambda found: (int(found[0]), found[1], found[1]))


def _failed(failures: int | None, value: tuple[bool, int]) -> tuple[int, Iterable[int]]:
    fine, at = value
    failures = 0 if fine else (failures or 0) + 1
    return (0, (at,)) if failures == IN_A_ROW else (failures, ())


def word_count(stream: Any) -> Any:
    words = op.flat_map("words", stream, lambda given: [(word, given[1]) for word in given[0].split()])
    counts = op.stateful_map("count", words, lambda count, at: ((count or 0) + 1, ((count or 0) + 1, at)))
    return op.map("number", counts, lambda found: (numbered(found[0]), *found[1]))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: interval_join,
    AS_THEY_COME: as_they_come,
    WORDS: word_count,
}
