"""The automaton's edges as moves, which decide whether an event is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.core.cep.automaton import END, Automaton, Edge, Slot
from penstock.core.cep.conditions import IterativeCondition
from penstock.core.cep.patterns import Contiguity

__all__ = ["Move", "moves_of", "starts_of"]

_Test = Callable[[Any, Any], bool]
_NOTHING = 0
TAKE = 1
PASS = 2


@dataclass(slots=True)
class Move:
    """An edge. `judge` says whether an event can be taken along it, passed over, both or neither.

    `released`: for each greedy loop before it that has an `until`, the move that takes its place once the `until` has
    come. `ends`: the match is complete. `pends`: the match is complete when its time is up.
    """

    target: int
    strict: bool
    any: bool
    where: _Test
    take_untils: tuple[_Test, ...]
    not_next: tuple[_Test, ...]
    not_before: tuple[_Test, ...]
    pass_untils: tuple[_Test, ...]
    greedy: tuple[tuple[_Test, _Test | None], ...]
    gap_ms: int | None
    released: tuple[tuple[_Test, int], ...] = ()
    ends: bool = field(init=False)
    pends: bool = field(init=False)

    def __post_init__(self) -> None:
        self.ends = self.target == END
        self.pends = self.ends and bool(self.not_before)

    def judge(self, value: object, ctx: object, fresh: bool) -> int:
        """Decide on an event: TAKE, PASS, both or neither. `fresh`: no event has been passed over yet."""
        if fresh and self.not_next and _any(self.not_next, value, ctx):
            return _NOTHING
        if self.greedy and self._kept_by_loop(value, ctx):
            return _NOTHING
        matches = self.where(value, ctx)
        verdict = TAKE if matches and not (self.take_untils and _any(self.take_untils, value, ctx)) else _NOTHING
        if self.strict or (matches and not self.any):
            return verdict
        if self.pass_untils and _any(self.pass_untils, value, ctx):
            return verdict
        if self.not_before and _any(self.not_before, value, ctx):
            return verdict
        return verdict | PASS

    def waits(self, value: object, ctx: object, fresh: bool) -> bool:
        """Whether a match may go on waiting for an event that must not come, or is complete."""
        if fresh and self.not_next and _any(self.not_next, value, ctx):
            return False
        return not _any(self.not_before, value, ctx)

    def _kept_by_loop(self, value: object, ctx: object) -> bool:
        """Whether a greedy loop before would have taken the event."""
        return any(where(value, ctx) and not (until is not None and until(value, ctx)) for where, until in self.greedy)

    def after_passing(self, place: int, value: object, ctx: object) -> int:
        """The move that is open after an event was passed over: this one, or one that fewer loops restrict."""
        for until, other in self.released:
            if until(value, ctx):
                return other
        return place


def _any(tests: tuple[_Test, ...], value: object, ctx: object) -> bool:
    return any(test(value, ctx) for test in tests)


def starts_of(automaton: Automaton) -> tuple[Move, ...]:
    """The moves that begin a match."""
    return tuple(_move(edge, automaton.slots) for edge in automaton.starts)


def moves_of(automaton: Automaton, slot: int) -> tuple[tuple[Move, ...], int]:
    """The moves out of a slot, and how many of them are open at first; the others are less restricted forms."""
    moves = [_move(edge, automaton.slots) for edge in automaton.edges[slot]]
    count = len(moves)
    return _with_released(moves), count


def _with_released(moves: list[Move]) -> tuple[Move, ...]:
    """Every move, followed by the moves that take its place once the `until` of a greedy loop has come."""
    place = 0
    while place < len(moves):
        move = moves[place]
        found = []
        for loop in move.greedy:
            if loop[1] is not None:
                found.append((loop[1], len(moves)))
                moves.append(replace(move, greedy=tuple(g for g in move.greedy if g is not loop)))
        move.released = tuple(found)
        place += 1
    return tuple(moves)


def _move(edge: Edge, slots: tuple[Slot, ...]) -> Move:
    slot = None if edge.target == END else slots[edge.target]
    return Move(
        edge.target,
        edge.contiguity is Contiguity.STRICT,
        edge.contiguity is Contiguity.ANY,
        _test(None if slot is None else slot.where),
        () if slot is None else _tests(slot.untils),
        _tests(step.where for step in edge.not_next),
        _tests(step.where for step in edge.not_before),
        _tests(edge.untils),
        tuple((_test(where), None if until is None else until.test) for where, until in edge.greedy),
        edge.gap_ms,
    )


def _tests(conditions: Iterable[IterativeCondition | None]) -> tuple[_Test, ...]:
    return tuple(map(_test, conditions))


def _test(condition: IterativeCondition | None) -> _Test:
    return _always if condition is None else condition.test


def _always(value: object, ctx: object) -> bool:
    return True
