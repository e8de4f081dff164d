"""The event-time jobs: what is in their streams, what each must emit, as plain loops. Standard library only.

Event ``index`` has the key ``key_of(index, keys)`` and the timestamp ``index × STEP_MS``: in order, and computable
anywhere. Whatever a job emits is brought into the form (key, value, at), where ``at`` is the event time that the record
speaks for: the end of its window, the later of two joined events. An answer counts what is not after its *cut*, the
time of the first event that was not read, so that engines which close everything at the end of their input and engines
that run on agree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.inputs import WEIGHT, Answer, key_of, key_sql
from benchmarks.nexmark import oracle

STEP_MS: Final = 50

Event = tuple[int, int]
Emitted = tuple[int, int, int]
Login = tuple[int, bool, int]

TUMBLING, SLIDING, SESSIONS, JOIN, LOGINS = "tumbling count", "sliding top-N", "sessions", "interval join", "logins"
AS_THEY_COME = "logins as they come"
WORDS = "word count"
LINE_WORDS, VOCABULARY = 10, 10_000


@dataclass(frozen=True, slots=True)
class Shape:
    """The constants of a job."""

    keys: int
    size_ms: int = 0
    slide_ms: int = 0


SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

SHAPES: Final = {
    TUMBLING: Shape(1_000, size_ms=5 * MINUTE),
    SLIDING: Shape(1_000, size_ms=HOUR, slide_ms=5 * MINUTE),
    # twice the mean pause of a key, and never equal to a pause: every seventh pause or so ends a session
    SESSIONS: Shape(1_000, size_ms=2 * 1_000 * STEP_MS + STEP_MS // 2),
    # about one partner for each event
    JOIN: Shape(10_000, size_ms=10_000 * STEP_MS),
    LOGINS: Shape(10_000),
    AS_THEY_COME: Shape(10_000),
}
TOP: Final = 3
IN_A_ROW: Final = 3
LOGIN_SEED: Final = 77_777_777


# -- the streams ---------------------------------------------------------------------------------------------


def event(index: int, keys: int) -> Event:
    """(key, timestamp)."""
    return key_of(index, keys), index * STEP_MS


def login(index: int, keys: int) -> Login:
    """(user, succeeded, timestamp): half of them fail."""
    return key_of(index, keys), succeeded(index), index * STEP_MS


def succeeded(index: int) -> bool:
    return key_of(index + LOGIN_SEED, 2) == 1


def succeeded_sql(index: str) -> str:
    """`succeeded` as a Spark SQL expression."""
    return f"({key_sql(f'({index} + {LOGIN_SEED}L)', 2)} = 1L)"


def step_of(what: str) -> int:
    """Milliseconds from one event to the next."""
    return 1 if what in oracle.LOOPS else STEP_MS


def line(index: int) -> tuple[str, int]:
    """(text, timestamp): small numbers are more frequent words than large ones."""
    drawn = range(index * LINE_WORDS, (index + 1) * LINE_WORDS)
    words = [f"w{key_of(n, key_of(n + LOGIN_SEED, VOCABULARY) + 1)}" for n in drawn]
    return " ".join(words), index * STEP_MS


def numbered(word: str) -> int:
    """A word as a number, for checksums."""
    return int(word[1:])


def cut_of(what: str, records: int) -> int:
    """Answers count what is not after this moment."""
    return records * step_of(what) - 1


# -- answers -------------------------------------------------------------------------------------------------


def answer_of(emitted: Iterable[Emitted], cut_ms: int) -> Answer:
    """How many records up to the cut, and the sum of their terms; answers of parts add up to that of the whole."""
    terms = [(key * WEIGHT ^ value) + at for key, value, at in emitted if at <= cut_ms]
    return Answer(len(terms), sum(terms))


def answer_sql(cut_ms: int) -> tuple[str, str]:
    """`answer_of` as two Spark SQL aggregates over the columns ``key, value, at``."""
    term = f"((key * {WEIGHT}L) ^ value) + at"
    return f"count_if(at <= {cut_ms}L)", f"coalesce(sum(CASE WHEN at <= {cut_ms}L THEN {term} END), 0L)"


def session_value(start_ms: int, end_ms: int, count: int) -> int:
    """The one number that stands for a session's length and size."""
    return (end_ms - start_ms) * 1024 + count


# -- the loops -----------------------------------------------------------------------------------------------


def tumbling(records: int) -> Iterator[Emitted]:
    """(key, count, end of the window)."""
    shape = SHAPES[TUMBLING]
    counts: dict[int, int] = {}
    end = shape.size_ms
    for index in range(records):
        key, at = event(index, shape.keys)
        if at >= end:
            yield from ((k, n, end) for k, n in counts.items())
            counts, end = {}, end + shape.size_ms
        counts[key] = counts.get(key, 0) + 1
    yield from ((k, n, end) for k, n in counts.items())


def sliding(records: int) -> Iterator[Emitted]:
    """(key, count, end of the window) of each window's `TOP` keys; the smaller key wins a tie."""
    shape, panes, end = SHAPES[SLIDING], list[dict[int, int]](), SHAPES[SLIDING].slide_ms
    counts: dict[int, int] = {}
    for index in range(records):
        key, at = event(index, shape.keys)
        if at >= end:
            panes = [*panes, counts][-(shape.size_ms // shape.slide_ms) :]
            yield from ranked(_merged(panes).items(), end)
            counts, end = {}, end + shape.slide_ms
        counts[key] = counts.get(key, 0) + 1
    yield from ranked(_merged([*panes, counts][-(shape.size_ms // shape.slide_ms) :]).items(), end)


def _merged(panes: list[dict[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for pane in panes:
        for key, count in pane.items():
            total[key] = total.get(key, 0) + count
    return total


def ranked(counts: Iterable[tuple[int, int]], end_ms: int) -> list[Emitted]:
    """The first `TOP` of a window."""
    best = heapq.nsmallest(TOP, counts, key=lambda found: (-found[1], found[0]))
    return [(key, count, end_ms) for key, count in best]


def sessions(records: int) -> Iterator[Emitted]:
    """(key, `session_value`, end of the session)."""
    shape = SHAPES[SESSIONS]
    under_way: dict[int, tuple[int, int, int]] = {}
    for index in range(records):
        key, at = event(index, shape.keys)
        start, last, count = under_way.get(key, (at, at, 0))
        if at - last > shape.size_ms:
            yield key, session_value(start, last + shape.size_ms, count), last + shape.size_ms
            start, count = at, 0
        under_way[key] = (start, at, count + 1)
    for key, (start, last, count) in under_way.items():
        yield key, session_value(start, last + shape.size_ms, count), last + shape.size_ms


def joined(records: int) -> Iterator[Emitted]:
    """(timestamp on the left, timestamp on the right, the later of them): even events join odd ones of their key."""
    shape = SHAPES[JOIN]
    seen: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
    for index in range(records):
        key, at = event(index, shape.keys)
        for other in reversed(seen[1 - index % 2].get(key, ())):
            if at - other > shape.size_ms:
                break
            yield (at, other, at) if index % 2 == 0 else (other, at, at)
        seen[index % 2].setdefault(key, []).append(at)


def alerts(records: int) -> Iterator[Emitted]:
    """(user, timestamp of the third failure, the same)."""
    failures: dict[int, int] = {}
    for index in range(records):
        user, fine, at = login(index, SHAPES[LOGINS].keys)
        failures[user] = 0 if fine else failures.get(user, 0) + 1
        if failures[user] == IN_A_ROW:
            failures[user] = 0
            yield user, at, at


def counted(records: int) -> Iterator[Emitted]:
    """(word, count so far, the line's moment)."""
    counts: dict[str, int] = {}
    for index in range(records):
        text, at = line(index)
        for word in text.split():
            counts[word] = count = counts.get(word, 0) + 1
            yield numbered(word), count, at


def words_per_batch(records: int, batch: int) -> Answer:
    """The answer of a peer that emits, after each batch of lines, the counts of the words which it touched."""
    counts: dict[str, int] = {}
    answer = Answer(0, 0)
    for first in range(0, records, batch):
        touched = [word for index in range(first, first + batch) for word in line(index)[0].split()]
        for word in touched:
            counts[word] = counts.get(word, 0) + 1
        answer += answer_of(((numbered(word), counts[word], 0) for word in set(touched)), 0)
    return answer


LOOPS: Final[dict[str, Callable[[int], Iterator[Emitted]]]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: joined,
    LOGINS: alerts,
    AS_THEY_COME: alerts,
    WORDS: counted,
    **oracle.LOOPS,
}


def expected(what: str, records: int) -> Answer:
    """The right answer of a job over the first ``records`` events."""
    return answer_of(LOOPS[what](records), cut_of(what, records))
