"""The second stage as a pattern instead of a process function: what it is, and what it must find (C3).

Per group of keys, in order of event time: a record whose payload is divisible by three, then, sooner or later, one
that leaves the same remainder by seven, within a second and a half. Most partial matches are open for several batches,
and about every eighth runs out of time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from penstock.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from penstock.common import Time
from penstock.datastream import DataStream, OutputTag

__all__ = ["OUT_OF_TIME", "WITHIN_MS", "expected", "matched", "open_at"]

WITHIN_MS = 1_500
OUT_OF_TIME = OutputTag("out of time")

Numbered = tuple[int, int, int, int]
Seen = tuple[int, int, int]
"""Value, payload, timestamp."""


def begins(payload: int) -> bool:
    return payload % 3 == 0


def completes(first: int, second: int) -> bool:
    return first % 7 == second % 7 and second % 2 == 1


class Report(PatternProcessFunction, TimedOutPartialMatchHandler):
    """(value, value, timestamp) of a match; (value, timestamp) of what ran out of time."""

    def process_match(self, match: dict[str, list[Numbered]], ctx: Any) -> Iterator[tuple[int, ...]]:
        yield match["first"][0][2], match["second"][0][2], ctx.timestamp()

    def process_timed_out_match(self, match: dict[str, list[Numbered]], ctx: Any) -> None:
        ctx.output(OUT_OF_TIME, (match["first"][0][2], ctx.timestamp()))


def _completes(event: Numbered, ctx: Any) -> bool:
    (first,) = ctx.get_events_for_pattern("first")
    return completes(first[3], event[3])


def matched(keyed: DataStream[Any]) -> DataStream[Any]:
    """The stage."""
    first = Pattern.begin("first").where(lambda event: begins(event[3]))
    pattern = first.followed_by("second").where(_completes).within(Time.milliseconds(WITHIN_MS))
    return CEP.pattern(keyed, pattern).process(Report())


def expected(seen: dict[int, list[Seen]]) -> Counter[tuple[int, ...]]:
    """Matches and partial matches that ran out of time, by trying every pair of records of a group."""
    found: Counter[tuple[int, ...]] = Counter()
    for group in seen.values():
        ordered = sorted(group, key=lambda event: event[2])
        for number, (value, payload, at) in enumerate(ordered):
            if begins(payload):
                found[_outcome(value, payload, at, ordered[number + 1 :])] += 1
    return found


def _outcome(value: int, payload: int, at: int, later: list[Seen]) -> tuple[int, ...]:
    for other, second, then in later:
        if then - at >= WITHIN_MS:
            break
        if completes(payload, second):
            return value, other, then
    return value, at + WITHIN_MS


def open_at(seen: dict[int, list[Seen]], moment: int) -> int:
    """How many partial matches are under way when time has come to a moment."""
    outcomes = expected(seen)
    starts = {value: at for group in seen.values() for value, _, at in group}
    return sum(1 for outcome in outcomes if starts[outcome[0]] <= moment < outcome[-1])
