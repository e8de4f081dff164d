"""The event-time jobs as Bytewax dataflows: keyed items in, records (key, value, at) out.

Bytewax keeps a clock for each key, none for a whole stream, and gives functions what comes as it comes: the join and
the failed logins rely on input in order, and so do less than those that put it in order.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
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
from benchmarks.nexmark.generator import event as nexmark_event
from benchmarks.peers.bytewax_nexmark import NEXMARK
from benchmarks.peers.bytewax_windows import EPOCH, counted_sessions, counts, gathered_counts, moment, since_epoch_ms

Item = tuple[str, Any]
Sides = tuple[deque[int], deque[int]]


def item_of(what: str) -> Callable[[int], Any]:
    """What makes an item from its index: (key, moment) for windows, and what the other jobs need."""
    if what in NEXMARK:
        return nexmark_event
    if what == WORDS:
        return line
    keys = SHAPES[what].keys

    def windowed(index: int) -> Item:
        key, at = event(index, keys)
        return str(key), moment(at)

    def of_two_sides(index: int) -> Item:
        key, at = event(index, keys)
        return str(key), (index % 2, at)

    def tried(index: int) -> Item:
        user, fine, at = login(index, keys)
        return str(user), (fine, at)

    return {JOIN: of_two_sides, AS_THEY_COME: tried}.get(what, windowed)


def tumbling(stream: Any) -> Any:
    size = SHAPES[TUMBLING].size_ms
    found = counts(stream, windowing.TumblingWindower(length=timedelta(milliseconds=size), align_to=EPOCH))
    return op.map("end", found, lambda item: (int(item[0]), item[1][1], (item[1][0] + 1) * size))


def sliding(stream: Any) -> Any:
    return gathered_counts(stream, SHAPES[SLIDING].size_ms, SHAPES[SLIDING].slide_ms, _top)


def _top(counts: list[Emitted]) -> list[Emitted]:
    return ranked(((key, count) for key, count, _ in counts), counts[0][2])


def sessions(stream: Any) -> Any:
    found = counted_sessions(stream, SHAPES[SESSIONS].size_ms)
    return op.map("end", found, lambda item: _session(int(item[0]), *item[1]))


def _session(key: int, first: datetime, last: datetime, count: int) -> Emitted:
    end = since_epoch_ms(last) + SHAPES[SESSIONS].size_ms
    return key, session_value(since_epoch_ms(first), end, count), end


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
    **NEXMARK,
}
