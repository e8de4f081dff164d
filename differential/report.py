"""The figures of the last whole run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import penstock
from differential.compare import Outcomes
from differential.listed import Verdict
from differential.sides import flink_version

RESULTS = Path(__file__).with_name("RESULTS.md")


@dataclass(frozen=True, slots=True)
class Figures:
    """How much was compared, and what came of it."""

    programs: int
    cases: int
    examples: int
    seeds: int
    hosts: tuple[str, ...]
    verdict: Verdict

    @staticmethod
    def of(theirs: Outcomes, hosts: Sequence[str], seeds: int, verdict: Verdict) -> Figures:
        names = {case for case, _ in theirs}
        shipped = {name for name in names if name.startswith("examples/")}
        programs = {name.split(".")[0] for name in names - shipped}
        return Figures(len(programs), len(names - shipped), len(shipped), seeds, tuple(hosts), verdict)

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.cases} cases, {self.seeds} seeds, {self.examples} examples on "
            f"{' and '.join(self.hosts)}: {len(self.verdict.listed)} listed differences, "
            f"{len(self.verdict.unlisted)} others, {len(self.verdict.stale)} entries that no longer hold"
        )


def write(figures: Figures) -> None:
    """Keep them beside the programs."""
    rows = "\n".join(f"| {case} | {reason} |" for case, reason in figures.verdict.listed)
    RESULTS.write_text(_PAGE.format(head=_head(figures), rows=rows), encoding="utf-8")


def _head(figures: Figures) -> str:
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": f"apache-flink {flink_version()}, penstock {penstock.__version__}, pyspark {version('pyspark')}",
        "hosts": ", ".join(figures.hosts),
        "programs": figures.programs,
        "cases": figures.cases,
        "seeds": figures.seeds,
        "examples of PyFlink": figures.examples,
        "differences that are listed": len(figures.verdict.listed),
        "other differences": len(figures.verdict.unlisted),
        "listed, but agreeing": len(figures.verdict.stale),
    }
    return "\n".join(f"| {name} | {value} |" for name, value in facts.items())


_PAGE = """# The last whole run of `make differential`

Written by `python -m differential --record`. What a run does: [README](README.md).

| | |
|---|---|
{head}

## Cases that differ

Why ours is right, or on purpose: `tests/parity/differences.toml` and [parity](../docs/parity.md).

| case | because |
|---|---|
{rows}
"""
