"""From outcomes to numbers: medians, spreads, ratios, and whether the requirements are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.model import Job, Ref, Requirement

Result = dict[str, Any]
"""What a record says of one peer on one case."""


@dataclass(frozen=True, slots=True)
class Number:
    """A metric over the rounds."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A requirement and what was measured; ``ratio`` None: a part of it was not measured."""

    requirement: Requirement
    ratio: Number | None

    @property
    def word(self) -> str:
        if self.ratio is None:
            return "not measured"
        return "met" if self.requirement.met_by(self.ratio.median) else "NOT MET"


def number(values: Sequence[float]) -> Number:
    """Median and range of some values, of which there is at least one."""
    return Number(median(values), min(values), max(values))


def rounds(results: Sequence[Result], ref: Ref) -> list[float]:
    """A metric round by round; empty if it was not measured."""
    for result in results:
        if (result["case"], result["peer"]) == (ref.case, ref.peer) and result["failure"] is None:
            return [found["metrics"][ref.metric] for found in result["rounds"] if ref.metric in found["metrics"]]
    return []


def verdicts(job: Job, results: Sequence[Result]) -> list[Verdict]:
    """One for each requirement of the job."""
    return [Verdict(requirement, _ratio(requirement, results)) for requirement in job.requirements]


def _ratio(requirement: Requirement, results: Sequence[Result]) -> Number | None:
    """The ratio of the medians; its range is that of the ratios within single rounds."""
    top = rounds(results, requirement.top)
    bottoms = [found for ref in requirement.bottoms if (found := rounds(results, ref))]
    if not top or not bottoms:
        return None
    better = max if requirement.at_least else min
    bottom = better(bottoms, key=median)
    singles = [a / b for a, b in zip(top, bottom, strict=False)]
    return Number(median(top) / median(bottom), min(singles), max(singles))
