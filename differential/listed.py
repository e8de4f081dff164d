"""What is known to differ, and what is still missing: strict, so that an entry that no longer holds fails the run."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from differential.sides import ROOT

DIFFERENCES = ROOT / "tests" / "parity" / "differences.toml"
"""On purpose, or PyFlink's mistake: goes into docs/parity.md. `cases` names the cases that show it."""

NOT_YET = Path(__file__).with_name("not_yet.toml")
"""Cases and examples that wait for a capability."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Why some cases differ; a pattern may end in `*`."""

    reason: str
    cases: tuple[str, ...]

    def covers(self, case: str) -> bool:
        return any(fnmatchcase(case, pattern) for pattern in self.cases)


def load() -> list[Entry]:
    """Both lists."""
    differences = [Entry(d["program"], tuple(d.get("cases", ()))) for d in _tables(DIFFERENCES, "difference")]
    return differences + [Entry(f"not yet: {g['waits_for']}", tuple(g["cases"])) for g in _tables(NOT_YET, "gap")]


def _tables(path: Path, name: str) -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get(name, [])
    return tables


@dataclass(frozen=True, slots=True)
class Verdict:
    """`unlisted`: differ and no entry says so. `stale`: an entry says so, but they agree."""

    unlisted: tuple[str, ...]
    stale: tuple[str, ...]
    listed: tuple[tuple[str, str], ...]

    @property
    def good(self) -> bool:
        return not self.unlisted and not self.stale


def judge(ran: Iterable[str], differ: Collection[str], entries: list[Entry]) -> Verdict:
    """Hold what was found against the lists; cases that did not run are not judged."""
    cases, reasons = sorted(set(ran)), _reasons(entries)
    return Verdict(
        tuple(case for case in cases if case in differ and reasons(case) is None),
        tuple(case for case in cases if case not in differ and reasons(case) is not None),
        tuple((case, reason) for case in cases if case in differ and (reason := reasons(case)) is not None),
    )


def _reasons(entries: list[Entry]):  # type: ignore[no-untyped-def]
    return lambda case: next((entry.reason for entry in entries if entry.covers(case)), None)
