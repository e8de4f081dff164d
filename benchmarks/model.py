"""What the harness speaks of: trials, outcomes, jobs, requirements. Standard library only: peers import it too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.inputs import Answer

RATE = "records_per_s"
BATCH_MS = "batch_ms"
BYTES = "bytes_per_record"
TENTH_MS = "tenth_batch_ms"
LAST_MS = "last_batch_ms"
FIRST_MS = "first_result_ms"
PEAK_MB = "peak_memory_mb"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of one peer gave: its metrics, its answer if the job has one, the samples behind the metrics."""

    metrics: dict[str, float]
    answer: Answer | None = None
    samples: Sequence[float] = ()
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """One peer on one case: what it is given (keyword arguments of the job's parameters), what it must answer."""

    case: str
    peer: str
    params: dict[str, Any]
    expected: Callable[[], Answer] | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A measured number: the median of a metric of a peer on a case."""

    case: str
    peer: str
    metric: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound on ``top`` divided by the best of ``bottoms``: the largest where much is good, else the smallest."""

    text: str
    top: Ref
    bottoms: tuple[Ref, ...]
    bound: float
    at_least: bool

    def met_by(self, ratio: float) -> bool:
        return ratio >= self.bound if self.at_least else ratio <= self.bound


@dataclass(frozen=True, slots=True)
class Job:
    """A measurement. ``trials(quick)`` lists the runs of one round, case by case; ``metric`` heads the tables."""

    name: str
    title: str
    metric: str
    trials: Callable[[bool], list[Trial]]
    requirements: tuple[Requirement, ...]
    notes: tuple[str, ...] = ()
