"""From a pattern to a non-deterministic automaton.

Every repetition that a pattern counts gets a *slot* of its own: a place that takes one event. An *edge* leads from the
slot that took the last event to one that may take the next, and says which events may be passed over on the way. So a
partial match is a path of events to a slot, together with the edges out of it that are still open.

A pattern is put together from fragments, as Glushkov did it for regular expressions: which slots can be first, which
can be last, and what is carried past a fragment that takes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from penstock.core.cep.conditions import IterativeCondition
from penstock.core.cep.patterns import Contiguity, NotStep, PatternSpec, Quantifier, Step

__all__ = ["END", "START", "Automaton", "Edge", "Slot", "compile_pattern"]

START = -1
END = -2
_Conditions = tuple[IterativeCondition | None, ...]
_Nots = tuple[NotStep, ...]
_Greedy = tuple[tuple[IterativeCondition | None, IterativeCondition | None], ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """Takes one event under a name if it satisfies `where` and none of `untils`."""

    name: str
    where: IterativeCondition | None
    untils: _Conditions
    repetition: int


@dataclass(frozen=True, slots=True)
class Edge:
    """The way from one slot to the next, or to END.

    `not_next`: what the event directly after may not be. `not_before`: what may not be passed over. `untils`: what may
    not be passed over since repetitions end there. `greedy`: what may be neither passed over nor taken, since the loop
    before would have taken it, unless its until (the second of the pair) has come. `gap_ms`: the time there is.
    """

    source: int
    target: int
    contiguity: Contiguity
    inner: bool = False
    not_next: tuple[NotStep, ...] = ()
    not_before: tuple[NotStep, ...] = ()
    untils: _Conditions = ()
    greedy: _Greedy = ()
    gap_ms: int | None = None

    @property
    def waits(self) -> bool:
        """Whether an edge to END must wait for what comes."""
        return bool(self.not_next or self.not_before)


@dataclass(frozen=True, slots=True)
class Automaton:
    """Slots, the edges from START, and for every slot the edges out of it (those to END among them)."""

    slots: tuple[Slot, ...]
    starts: tuple[Edge, ...]
    edges: tuple[tuple[Edge, ...], ...]


@dataclass(frozen=True, slots=True)
class _End:
    """A slot that can be the last of a fragment, and what the next edge has to heed."""

    slot: int
    not_next: tuple[NotStep, ...] = ()
    not_before: tuple[NotStep, ...] = ()
    greedy: _Greedy = ()
    gap_ms: int | None = None


@dataclass(frozen=True, slots=True)
class _Entry:
    """A slot that can be the first of a fragment; the contiguity of the very first step is decided outside."""

    slot: int
    contiguity: Contiguity | None = None
    greedy: _Greedy = ()
    gap_ms: int | None = None

    def filled(self, contiguity: Contiguity | None, gap_ms: int | None) -> _Entry:
        return replace(self, contiguity=self.contiguity or contiguity, gap_ms=_least(self.gap_ms, gap_ms))


@dataclass(frozen=True, slots=True)
class _Fragment:
    entries: tuple[_Entry, ...]
    ends: tuple[_End, ...]
    nullable: bool = False
    greedy: _Greedy = ()


def compile_pattern(spec: PatternSpec) -> Automaton:
    """The automaton of a pattern."""
    return _Compiler().whole(spec)


@dataclass(slots=True)
class _Compiler:
    slots: list[Slot] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)

    def whole(self, spec: PatternSpec) -> Automaton:
        built = self._sequence(spec.steps, (), ())
        for end in built.ends:
            last = Edge(end.slot, END, Contiguity.STRICT, False, end.not_next, end.not_before, (), (), end.gap_ms)
            self.edges[end.slot].append(last)
        starts = tuple(Edge(START, e.slot, Contiguity.ANY, greedy=e.greedy) for e in built.entries)
        return Automaton(tuple(self.slots), starts, tuple(map(tuple, self.edges)))

    def _sequence(self, steps: Sequence[Step | NotStep], untils: _Conditions, nots: _Nots) -> _Fragment:
        built = _Fragment((), (), True)
        for place, step in enumerate(steps):
            if isinstance(step, NotStep):
                built = replace(built, ends=tuple(_forbidding(end, step) for end in built.ends))
                continue
            after = _following_nots(steps[place + 1 :]) if place + 1 < len(steps) else nots
            built = self._then(built, self._step(step, untils, after), untils)
        return built

    def _then(self, first: _Fragment, second: _Fragment, untils: _Conditions) -> _Fragment:
        self._link(first.ends, second.entries, untils)
        entries, ends = first.entries, second.ends
        if first.nullable:
            entries += tuple(replace(e, greedy=first.greedy + e.greedy) for e in second.entries)
        if second.nullable:
            ends += tuple(replace(e, greedy=e.greedy + second.greedy) for e in first.ends)
        nullable = first.nullable and second.nullable
        return _Fragment(entries, ends, nullable, first.greedy + second.greedy if nullable else ())

    def _step(self, step: Step, untils: _Conditions, nots: _Nots) -> _Fragment:
        """A step as often as it may be taken; `nots` may not come between its repetitions either."""
        how = step.quantifier
        inside = untils if step.until is None else (*untils, step.until)
        first = last = self._once(step, inside, nots, 1)
        ends: tuple[_End, ...] = first.ends if how.least == 1 else ()
        for repetition in range(2, (how.most or how.least) + 1):
            copy = self._once(step, inside, nots, repetition)
            self._again(last, copy, step, inside, nots)
            ends += copy.ends if repetition >= how.least else ()
            last = copy
        if how.most is None:
            self._again(last, last, step, inside, nots)
        greedy = ((step.where, step.until),) if how.greedy and how.elastic else ()
        return _Fragment(
            tuple(entry.filled(step.contiguity, step.gap_ms) for entry in first.entries),
            tuple(replace(end, greedy=end.greedy + greedy) for end in ends),
            how.optional or first.nullable,
            greedy if how.optional else first.greedy + greedy,
        )

    def _once(self, step: Step, untils: _Conditions, nots: _Nots, repetition: int) -> _Fragment:
        if step.body:
            return self._sequence(step.body, untils, nots)
        self.slots.append(Slot(step.name, step.where, untils, repetition))
        self.edges.append([])
        return _Fragment((_Entry(len(self.slots) - 1),), (_End(len(self.slots) - 1),))

    def _again(self, before: _Fragment, after: _Fragment, step: Step, untils: _Conditions, nots: _Nots) -> None:
        entries = [
            entry.filled(step.quantifier.inner, _between(step.quantifier, step.gap_ms)) for entry in after.entries
        ]
        self._link(before.ends, entries, untils, nots, inner=True)

    def _link(
        self,
        ends: Iterable[_End],
        entries: Iterable[_Entry],
        untils: _Conditions,
        nots: _Nots = (),
        inner: bool = False,
    ) -> None:
        entries = tuple(entries)
        for end in ends:
            self.edges[end.slot] += [
                Edge(
                    end.slot,
                    entry.slot,
                    entry.contiguity or Contiguity.RELAXED,
                    inner,
                    end.not_next,
                    end.not_before + nots,
                    untils,
                    end.greedy + entry.greedy,
                    entry.gap_ms,
                )
                for entry in entries
            ]


def _forbidding(end: _End, step: NotStep) -> _End:
    if step.direct:
        return replace(end, not_next=(*end.not_next, step))
    return replace(end, not_before=(*end.not_before, step), gap_ms=step.gap_ms)


def _following_nots(rest: Sequence[Step | NotStep]) -> tuple[NotStep, ...]:
    found: list[NotStep] = []
    for step in rest:
        if not isinstance(step, NotStep):
            break
        if not step.direct:
            found.append(step)
    return tuple(found)


def _between(quantifier: Quantifier, gap_ms: int | None) -> int | None:
    return quantifier.gap_ms if quantifier.gap_ms is not None else gap_ms


def _least(one: int | None, other: int | None) -> int | None:
    known = [gap for gap in (one, other) if gap is not None]
    return min(known, default=None)
