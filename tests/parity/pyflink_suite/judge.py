"""What a run comes to: passed, differs as listed, out of reach, or failed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

LISTED = Path(__file__).with_name("listed.toml")


@dataclass(frozen=True, slots=True)
class Listed:
    """Cases that differ, with the reason."""

    cases: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every case under one heading, with a reason; and listed cases that no longer differ, or are not there."""

    passed: tuple[str, ...]
    listed: Mapping[str, str]
    out_of_reach: Mapping[str, str]
    skipped: tuple[str, ...]
    failed: Mapping[str, str]
    stale: tuple[str, ...]

    @property
    def good(self) -> bool:
        return not self.failed and not self.stale

    @property
    def reachable(self) -> int:
        return len(self.passed) + len(self.listed) + len(self.failed)


def load(path: Path = LISTED) -> list[Listed]:
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("listed", [])
    return [Listed(tuple(table["cases"]), table["reason"]) for table in tables]


def judge(outcomes: Mapping[str, tuple[str, str]], listed: list[Listed], whole: bool = True) -> Verdict:
    """`whole`: all of PyFlink's tests were run, so that a listed case that did not occur is stale."""
    reasons = {case: entry.reason for case in outcomes for entry in listed if _among(case, entry)}

    def of(kind: str) -> dict[str, str]:
        return {case: why for case, (outcome, why) in sorted(outcomes.items()) if outcome == kind}

    failed = of("failed")
    stale = [f"{case}: listed as different, but passes" for case in of("passed") if case in reasons]
    patterns = [pattern for entry in listed for pattern in entry.cases]
    gone = [p for p in patterns if not any(fnmatchcase(case, p) for case in outcomes)]
    return Verdict(
        passed=tuple(of("passed")),
        listed={case: reasons[case] for case in failed if case in reasons},
        out_of_reach=of("out of reach"),
        skipped=tuple(of("skipped")),
        failed={case: why for case, why in failed.items() if case not in reasons},
        stale=(*stale, *(f"{p}: listed, but there is no such case" for p in gone if whole)),
    )


def _among(case: str, entry: Listed) -> bool:
    return any(fnmatchcase(case, pattern) for pattern in entry.cases)
