"""The event-time jobs as Pathway tables: rows of a connector in, a table with the columns key, value, at out.

Three failures in a row are not among them: Pathway's reducers are not promised the rows of a group in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pathway as pw

from benchmarks.events import (
    JOIN,
    SESSIONS,
    SHAPES,
    SLIDING,
    TUMBLING,
    WORDS,
    Emitted,
    event,
    line,
    numbered,
    ranked,
    session_value,
)
from benchmarks.peers.pathway_nexmark import NEXMARK
from benchmarks.peers.pathway_source import read


class Event(pw.Schema):  # type: ignore[misc]
    key: int
    at: int


class Word(pw.Schema):  # type: ignore[misc]
    word: str


def _events(what: str, indices: range) -> Any:
    keys = SHAPES[what].keys
    return read(({"key": key, "at": at} for key, at in (event(index, keys) for index in indices)), Event)


def _counts(what: str, records: int, window: Any) -> Any:
    windows = _events(what, range(records)).windowby(pw.this.at, window=window, instance=pw.this.key)
    return windows.reduce(key=pw.this._pw_instance, value=pw.reducers.count(), at=pw.this._pw_window_end)


def tumbling(records: int) -> Any:
    return _counts(TUMBLING, records, pw.temporal.tumbling(duration=SHAPES[TUMBLING].size_ms))


def sliding(records: int) -> Any:
    shape = SHAPES[SLIDING]
    counts = _counts(SLIDING, records, pw.temporal.sliding(hop=shape.slide_ms, duration=shape.size_ms))
    windows = counts.groupby(pw.this.at).reduce(
        pw.this.at, counts=pw.reducers.tuple(pw.make_tuple(pw.this.key, pw.this.value))
    )
    best = windows.select(found=pw.apply_with_type(ranked, list[Emitted], pw.this.counts, pw.this.at)).flatten(
        pw.this.found
    )
    return best.select(key=pw.this.found[0], value=pw.this.found[1], at=pw.this.found[2])


def sessions(records: int) -> Any:
    gap = SHAPES[SESSIONS].size_ms
    windows = _events(SESSIONS, range(records)).windowby(
        pw.this.at, window=pw.temporal.session(max_gap=gap), instance=pw.this.key
    )
    found = windows.reduce(
        key=pw.this._pw_instance,
        start=pw.this._pw_window_start,
        end=pw.this._pw_window_end + gap,
        count=pw.reducers.count(),
    )
    value = pw.apply_with_type(session_value, int, pw.this.start, pw.this.end, pw.this.count)
    return found.select(pw.this.key, value=value, at=pw.this.end)


def interval_join(records: int) -> Any:
    bound = SHAPES[JOIN].size_ms
    left, right = _events(JOIN, range(0, records, 2)), _events(JOIN, range(1, records, 2))
    near = pw.temporal.interval(-bound, bound)
    later = pw.if_else(left.at > right.at, left.at, right.at)
    return left.interval_join(right, left.at, right.at, near, left.key == right.key).select(
        key=left.at, value=right.at, at=later
    )


def word_count(records: int) -> Any:
    words = read(({"word": word} for index in range(records) for word in line(index)[0].split()), Word)
    counts = words.groupby(pw.this.word).reduce(pw.this.word, value=pw.reducers.count())
    return counts.select(key=pw.apply_with_type(numbered, int, pw.this.word), value=pw.this.value, at=0)


PROGRAMS: dict[str, Callable[[int], Any]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: interval_join,
    WORDS: word_count,
    **NEXMARK,
}
