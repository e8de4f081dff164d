"""Patterns as the matcher sees them: frozen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from penstock.core.cep.conditions import IterativeCondition
from penstock.core.cep.skip import AfterMatchSkipStrategy

__all__ = ["Contiguity", "NotStep", "PatternSpec", "Quantifier", "Step", "WithinType", "every_step", "names_of"]


class Contiguity(Enum):
    """Which events may be passed over before the next one is taken."""

    STRICT = "none"
    RELAXED = "those that do not match"
    ANY = "any"


class WithinType(Enum):
    """What a time limit of a pattern is measured between."""

    FIRST_AND_LAST = "first and last"
    PREVIOUS_AND_CURRENT = "previous and current"


@dataclass(frozen=True, slots=True)
class Quantifier:
    """How often a step is taken: from `least` to `most` times (None: no limit), or not at all if `optional`.

    `inner` is the contiguity between repetitions, `gap_ms` the time allowed between them.
    """

    least: int = 1
    most: int | None = 1
    optional: bool = False
    greedy: bool = False
    inner: Contiguity = Contiguity.RELAXED
    gap_ms: int | None = None

    @property
    def elastic(self) -> bool:
        """Whether there is a choice of how often."""
        return self.most != self.least


@dataclass(frozen=True, slots=True)
class Step:
    """A named pattern, or with a `body` a group of them. `contiguity` is None for the first of a sequence."""

    name: str
    contiguity: Contiguity | None
    where: IterativeCondition | None = None
    quantifier: Quantifier = field(default_factory=Quantifier)
    until: IterativeCondition | None = None
    gap_ms: int | None = None
    body: tuple[Step | NotStep, ...] = ()

    @property
    def nullable(self) -> bool:
        """Whether it can be passed without taking an event."""
        return self.quantifier.optional or (bool(self.body) and all(getattr(s, "nullable", True) for s in self.body))


@dataclass(frozen=True, slots=True)
class NotStep:
    """What must not come: directly after the event before (`direct`), or before the next event is taken."""

    name: str
    direct: bool
    where: IterativeCondition | None = None
    gap_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PatternSpec:
    """A whole pattern; `within_ms` limits the time between its first and its last event."""

    steps: tuple[Step | NotStep, ...]
    within_ms: int | None
    skip: AfterMatchSkipStrategy


def every_step(steps: Sequence[Step | NotStep]) -> Iterator[Step | NotStep]:
    """Steps, and those of the groups among them."""
    for step in steps:
        yield step
        if isinstance(step, Step):
            yield from every_step(step.body)


def names_of(steps: Sequence[Step | NotStep]) -> list[str]:
    """The names that users gave; groups have none."""
    return [step.name for step in every_step(steps) if isinstance(step, NotStep) or not step.body]
