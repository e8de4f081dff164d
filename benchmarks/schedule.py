"""Rounds: every peer once, in turn, then all of them again, so that a machine's mood falls on all alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.envs import EnvironmentMissing
from benchmarks.model import Job, Outcome, Trial
from benchmarks.runner import RunFailed, run


@dataclass(slots=True)
class Measured:
    """What became of a trial: its outcomes round by round, or why there are none."""

    trial: Trial
    outcomes: list[Outcome] = field(default_factory=list)
    failure: str | None = None


def measure(job: Job, trials: Sequence[Trial], rounds: int, say: Callable[[str], None]) -> list[Measured]:
    """Run the trials, case by case and within a case round by round. One that failed is not tried again."""
    measured = [Measured(trial) for trial in trials]
    for case in dict.fromkeys(trial.case for trial in trials):
        for number in range(1, rounds + 1):
            for entry in measured:
                if entry.trial.case == case and entry.failure is None:
                    _measure_one(job, entry, number, say)
    return measured


def _measure_one(job: Job, entry: Measured, number: int, say: Callable[[str], None]) -> None:
    head = f"{job.name} | {entry.trial.case} | round {number} | {entry.trial.peer:<22}"
    try:
        outcome = run(job.name, entry.trial, number)
    except (RunFailed, EnvironmentMissing) as error:
        entry.failure = str(error)
        say(f"{head} FAILED: {error}")
        return
    entry.outcomes.append(outcome)
    say(f"{head} {', '.join(f'{name} {value:,.0f}' for name, value in outcome.metrics.items())}")
