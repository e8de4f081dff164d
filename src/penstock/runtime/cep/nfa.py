"""The automaton at work on the events of one key: partial matches, finished ones that wait, and their events.

Within a key events come in order. Each is first judged for every partial match, which changes nothing, and then
applied: a condition that raises leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from penstock.core.cep.automaton import compile_pattern
from penstock.core.cep.conditions import IterativeCondition
from penstock.core.cep.patterns import PatternSpec, names_of
from penstock.core.cep.skip import AfterMatchSkipStrategy
from penstock.core.errors import ProgramError
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.runtime.cep.buffer import ROOT, EventStore, SharedBuffer
from penstock.runtime.cep.moves import PASS, TAKE, Move, moves_of, starts_of
from penstock.runtime.values import Record, Records

__all__ = ["Found", "Matching", "Nfa", "Partial"]

NEVER = MAX_TIMESTAMP + 1


class Partial(NamedTuple):
    """A partial match: its last node, the slot that took it, its start and the moves that are open.

    `fresh`: no event has come since its last one.
    """

    node: int
    slot: int
    start: int
    start_ms: int
    last_ms: int
    open: tuple[int, ...]
    fresh: bool


class Found(NamedTuple):
    """A match, or a partial one that ran out of time; `events` under their names, in the order of the pattern."""

    timed_out: bool
    events: dict[str, Records]
    timestamp: int


class _Finished(NamedTuple):
    start: int
    timestamp: int
    node: int


@dataclass(slots=True)
class Matching:
    """The partial and finished matches of one key, in the order in which they began."""

    buffer: SharedBuffer
    partials: list[Partial] = field(default_factory=list)
    finished: list[_Finished] = field(default_factory=list)
    next_event: int = 0

    @staticmethod
    def new(store: EventStore) -> Matching:
        """For a key that has nothing under way."""
        return Matching(SharedBuffer(store))

    @staticmethod
    def thawed(store: EventStore, frozen: Any) -> Matching:
        """Restore a matching from the result of `frozen`."""
        next_event, next_node, partials, finished, nodes = frozen
        buffer = SharedBuffer(store, nodes, next_node)
        return Matching(buffer, [Partial(*p) for p in partials], [_Finished(*f) for f in finished], next_event)

    def frozen(self) -> tuple[Any, ...] | None:
        """The matching as state keeps it, numbers only; None if there is neither a partial nor a finished match."""
        if not self.partials and not self.finished:
            return None
        buffer = self.buffer
        partials = tuple(map(tuple, self.partials))
        return self.next_event, buffer.next_node, partials, tuple(map(tuple, self.finished)), buffer.frozen()


class _Context(IterativeCondition.Context):
    """The context of conditions; events of the partial match are looked up when a condition asks for them."""

    def __init__(self, names: tuple[str, ...], known: frozenset[str], now: Callable[[], int]) -> None:
        self._names, self._known, self._now = names, known, now
        self.stamp: int | None = None
        self._buffer: SharedBuffer | None = None
        self._node = ROOT
        self._events: dict[str, Records] | None = None

    def of(self, buffer: SharedBuffer, node: int) -> None:
        self._buffer, self._node, self._events = buffer, node, None

    def get_events_for_pattern(self, name: str) -> Iterable[Record]:
        if name not in self._known:
            there = ", ".join(sorted(self._known))
            raise ProgramError(f"get_events_for_pattern({name!r}): no pattern is called that; there are {there}")
        if self._events is None:
            assert self._buffer is not None
            self._events = events_of(self._buffer, self._node, self._names)
        return tuple(self._events.get(name, ()))

    def timestamp(self) -> int | None:
        return self.stamp

    def current_processing_time(self) -> int:
        return self._now()


_Judged = tuple[Partial, list[int], list[Move], bool]
"""A partial match, the moves that stay open, those to be taken, and whether it is complete now."""


class Nfa:
    """The automaton of a pattern: one for all keys, whose matches are in a `Matching` each."""

    def __init__(self, spec: PatternSpec, now: Callable[[], int] = lambda: 0) -> None:
        automaton = compile_pattern(spec)
        self.names = tuple(slot.name for slot in automaton.slots)
        self._order = tuple(self.names.index(name) for name in self.names)
        self._skip: AfterMatchSkipStrategy = spec.skip
        self._skips = spec.skip.is_skip_strategy()
        self._within_ms = spec.within_ms
        self._starts = starts_of(automaton)
        self._moves: list[tuple[Move, ...]] = []
        self._open: list[tuple[int, ...]] = []
        self._accepts: list[int] = []
        for slot in range(len(automaton.slots)):
            moves, count = moves_of(automaton, slot)
            self._moves.append(moves)
            self._open.append(tuple(i for i in range(count) if not moves[i].ends or _waits(moves[i])))
            self._accepts.append(sum(moves[i].ends and not _waits(moves[i]) for i in range(count)))
        gaps = any(move.gap_ms is not None for moves in self._moves for move in moves)
        self._gaps = gaps
        self.timed = gaps or spec.within_ms is not None
        self._context = _Context(self.names, frozenset(names_of(spec.steps)), now)

    # -- events -------------------------------------------------------------------------------------

    def process(self, matching: Matching, value: object, timestamp: int) -> list[Found]:
        """Take the next event; time must have been advanced to its timestamp before."""
        context = self._context
        context.stamp = timestamp
        judged = [self._judge(matching, partial, value) for partial in matching.partials]
        context.of(matching.buffer, ROOT)
        begun = [move.target for move in self._starts if move.judge(value, context, True) & TAKE]
        number, matching.next_event = matching.next_event, matching.next_event + 1
        if not judged and not begun:
            return []
        return self._apply(matching, judged, begun, number, value, timestamp)

    def _judge(self, matching: Matching, partial: Partial, value: object) -> _Judged:
        context, moves, fresh = self._context, self._moves[partial.slot], partial.fresh
        context.of(matching.buffer, partial.node)
        still: list[int] = []
        taken: list[Move] = []
        complete = False
        for place in partial.open:
            move = moves[place]
            if move.ends:
                if move.waits(value, context, fresh):
                    complete = complete or not move.pends
                    still += [place] if move.pends else []
                continue
            verdict = move.judge(value, context, fresh)
            if verdict & TAKE:
                taken.append(move)
            if verdict & PASS:
                still.append(self._released(moves, place, value) if move.released else place)
        return partial, still, taken, complete

    def _released(self, moves: tuple[Move, ...], place: int, value: object) -> int:
        while (other := moves[place].after_passing(place, value, self._context)) != place:
            place = other
        return place

    def _apply(
        self, matching: Matching, judged: list[_Judged], begun: list[int], number: int, value: object, timestamp: int
    ) -> list[Found]:
        buffer = matching.buffer
        partials: list[Partial] = []
        done: list[_Finished] = []
        for partial, still, taken, complete in judged:
            for move in taken:
                node = buffer.put(move.target, number, value, partial.node)
                self._arrive(buffer, partials, done, move.target, node, partial.start, partial.start_ms, timestamp)
            if complete:
                buffer.hold(partial.node)
                done.append(_Finished(partial.start, timestamp, partial.node))
            if still:
                partials.append(_waited(partial, tuple(still)))
            else:
                buffer.release(partial.node)
        for slot in begun:
            node = buffer.put(slot, number, value, ROOT)
            self._arrive(buffer, partials, done, slot, node, number, timestamp, timestamp)
        matching.partials = partials
        return self._emit(matching, done)

    def _arrive(
        self,
        buffer: SharedBuffer,
        partials: list[Partial],
        done: list[_Finished],
        slot: int,
        node: int,
        start: int,
        start_ms: int,
        timestamp: int,
    ) -> None:
        """Note that an event was taken: a partial match if it can go on, and a finished match for each way to end
        here."""
        for _ in range(self._accepts[slot]):
            buffer.hold(node)
            done.append(_Finished(start, timestamp, node))
        if self._open[slot]:
            partials.append(Partial(node, slot, start, start_ms, timestamp, self._open[slot], True))
        else:
            buffer.release(node)

    # -- finished matches -----------------------------------------------------------------------------

    def _emit(self, matching: Matching, done: list[_Finished]) -> list[Found]:
        """Emit finished matches, as far as the skip strategy lets them out."""
        if not done and not matching.finished:
            return []
        if len(done) > 1:
            done.sort(key=lambda match: self._rank(matching.buffer, match))
        if not self._skips:
            return [self._emitted(matching.buffer, match) for match in done]
        if done:
            matching.finished = sorted([*matching.finished, *done], key=itemgetter(0))
        found = []
        while matching.finished and self._is_first(matching):
            match = matching.finished.pop(0)
            self._void(matching, match)
            found.append(self._emitted(matching.buffer, match))
        return found

    def _emitted(self, buffer: SharedBuffer, match: _Finished) -> Found:
        found = Found(False, events_of(buffer, match.node, self.names), match.timestamp)
        buffer.release(match.node)
        return found

    def _rank(self, buffer: SharedBuffer, match: _Finished) -> Any:
        """The order of matches that the same event finishes: earlier starts first, then longer matches."""
        path = buffer.path(match.node)
        return match.start, -len(path), [event for _, event in path], [self._order[slot] for slot, _ in path]

    def _is_first(self, matching: Matching) -> bool:
        """Whether no partial match is left that began before the first finished one."""
        return not matching.partials or matching.partials[0].start >= matching.finished[0].start

    def _void(self, matching: Matching, match: _Finished) -> None:
        path = tuple((self.names[slot], event) for slot, event in matching.buffer.path(match.node))
        kept = self._skip.first_kept(path)
        if kept is None:
            return
        partials = ((p.start, p.node) for p in matching.partials)
        finished = ((f.start, f.node) for f in matching.finished)
        for start, node in chain(partials, finished):
            if start < kept:
                matching.buffer.release(node)
        matching.partials = [p for p in matching.partials if p.start >= kept]
        matching.finished = [f for f in matching.finished if f.start >= kept]

    # -- time -----------------------------------------------------------------------------------------

    def deadline(self, matching: Matching) -> int:
        """When the next partial match runs out of time; NEVER if none does."""
        if self._gaps:
            return min((self._deadline_of(p) for p in matching.partials), default=NEVER)
        if self._within_ms is None or not matching.partials:
            return NEVER
        return matching.partials[0].start_ms + self._within_ms

    def _deadline_of(self, partial: Partial) -> int:
        moves = self._moves[partial.slot]
        gaps = (moves[i].gap_ms for i in partial.open)
        gap_ms = min((gap for gap in gaps if gap is not None), default=NEVER)
        first = NEVER if self._within_ms is None else partial.start_ms + self._within_ms
        return min(first, partial.last_ms + gap_ms)

    def advance(self, matching: Matching, now_ms: int) -> Iterator[Found]:
        """Time out partial matches up to `now_ms`, moment by moment: no event before it will come."""
        while (moment := self.deadline(matching)) <= now_ms:
            yield from self._expire(matching, moment)

    def _expire(self, matching: Matching, moment: int) -> list[Found]:
        found: list[Found] = []
        done: list[_Finished] = []
        kept: list[Partial] = []
        for place, partial in enumerate(matching.partials):
            if not self._gaps and partial.start_ms + (self._within_ms or 0) > moment:
                kept += matching.partials[place:]
                break
            self._expire_one(matching.buffer, partial, moment, kept, done, found)
        matching.partials = kept
        return found + self._emit(matching, done)

    def _expire_one(
        self,
        buffer: SharedBuffer,
        partial: Partial,
        moment: int,
        kept: list[Partial],
        done: list[_Finished],
        found: list[Found],
    ) -> None:
        moves = self._moves[partial.slot]
        over = self._within_ms is not None and partial.start_ms + self._within_ms <= moment
        still = () if over else tuple(i for i in partial.open if not _over(moves[i], partial, moment))
        pending = [i for i in partial.open if moves[i].pends and i not in still]
        for _ in pending:
            buffer.hold(partial.node)
            done.append(_Finished(partial.start, moment, partial.node))
        if still:
            kept.append(partial if len(still) == len(partial.open) else partial._replace(open=still))
            return
        if not pending:
            found.append(Found(True, events_of(buffer, partial.node, self.names), moment))
        buffer.release(partial.node)


def events_of(buffer: SharedBuffer, node: int, names: tuple[str, ...]) -> dict[str, Records]:
    """The events on the way to a node, under the names of the slots that took them."""
    found: dict[str, Records] = {}
    for slot, event in buffer.path(node):
        found.setdefault(names[slot], []).append(buffer.store.get(event))
    return found


def _waited(partial: Partial, still: tuple[int, ...]) -> Partial:
    """The partial match after an event that was passed over."""
    if still == partial.open and not partial.fresh:
        return partial
    return partial._replace(open=still, fresh=False)


def _waits(move: Move) -> bool:
    return bool(move.not_next or move.not_before)


def _over(move: Move, partial: Partial, moment: int) -> bool:
    return move.gap_ms is not None and partial.last_ms + move.gap_ms <= moment
