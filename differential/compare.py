"""What the sides gave, side by side."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one side made of one case with one seed: the texts of its values, each with its key, or an error."""

    noted: tuple[tuple[str, str], ...]
    order: str
    error: str | None = None
    together: bool = False
    """Whether the error may be that of another case of the same job."""

    @property
    def comparable(self) -> Any:
        """Equal if and only if the case allows no difference to be seen."""
        if self.error is not None:
            return FAILED
        if self.order == "multiset":
            return Counter(self.values)
        return _by_key(self.noted) if self.order == "per key" else self.values

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.noted)


Key = tuple[str, int]
Outcomes = dict[Key, Outcome]


@dataclass(frozen=True, slots=True)
class Difference:
    """One case, one seed, one host; PyFlink's outcome and ours. None: the case is missing."""

    case: str
    seed: int
    host: str
    theirs: Outcome | None
    ours: Outcome | None

    def __str__(self) -> str:
        return f"{self.case} (seed {self.seed}, {self.host})\n" + "\n".join(f"    {line}" for line in self._lines())

    def _lines(self) -> list[str]:
        if _error(self.theirs) or _error(self.ours):
            return [f"PyFlink:  {_short(self.theirs)}", f"Penstock: {_short(self.ours)}"]
        assert self.theirs is not None
        assert self.ours is not None
        if Counter(self.theirs.values) == Counter(self.ours.values):
            return _first_unequal(self.theirs.values, self.ours.values)
        return [
            *_some("only PyFlink: ", Counter(self.theirs.values) - Counter(self.ours.values)),
            *_some("only Penstock:", Counter(self.ours.values) - Counter(self.theirs.values)),
        ]


def read(path: Path) -> Outcomes:
    """The outcomes that a side's process noted."""
    noted = map(json.loads, path.read_text(encoding="utf-8").splitlines()) if path.exists() else ()
    return {(f"{o['program']}.{o['case']}", o["seed"]): _outcome(o) for o in noted}


def _outcome(noted: dict[str, Any]) -> Outcome:
    values = tuple((key, text) for key, text in noted["values"])
    return Outcome(values, noted["order"], noted["error"], noted.get("together", False))


def differences(host: str, theirs: Outcomes, ours: Outcomes) -> list[Difference]:
    """Every case that the two do not agree about. Two failures agree: how errors look is not compared."""
    keys = sorted({*theirs, *ours})
    pairs = [Difference(case, seed, host, theirs.get((case, seed)), ours.get((case, seed))) for case, seed in keys]
    return [p for p in pairs if p.theirs is None or p.ours is None or p.theirs.comparable != p.ours.comparable]


def _by_key(noted: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, text in noted:
        groups[key].append(text)
    return dict(groups)


def _error(outcome: Outcome | None) -> bool:
    return outcome is None or outcome.error is not None


def _short(outcome: Outcome | None) -> str:
    if outcome is None:
        return "no outcome"
    if outcome.error is None:
        return f"{len(outcome.values)} values, first {', '.join(outcome.values[:3])}"
    lines = [line.strip() for line in outcome.error.strip().splitlines()]
    return next((line for line in reversed(lines) if "Error: " in line or "Exception: " in line), lines[-1])[:300]


def _some(title: str, counted: Counter[str]) -> list[str]:
    return [f"{title} {text[:200]}" for text in list(counted.elements())[:4]]


def _first_unequal(theirs: tuple[str, ...], ours: tuple[str, ...]) -> list[str]:
    place = next((i for i, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b), 0)
    return [f"in another order: at {place} PyFlink {theirs[place]}", f"{'':25}Penstock {ours[place]}"]
