"""The table of a run, and the page that keeps the last one."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import penstock
from tests.parity.pyflink_suite.judge import Verdict
from tests.parity.pyflink_suite.sources import flink_version

RESULTS = Path(__file__).with_name("RESULTS.md")

_PAGE = """# PyFlink's own tests on Penstock

Written by `make pyflink-tests ARGS=--record`; `README.md` beside this page says how the run works.

{facts}
{counts}
{sections}"""


def counts(verdict: Verdict) -> str:
    rows = {
        "passed": len(verdict.passed),
        "differ as listed": len(verdict.listed),
        "failed": len(verdict.failed),
        "out of reach": len(verdict.out_of_reach),
        "skipped by PyFlink": len(verdict.skipped),
    }
    return "\n".join(["| cases | |", "|---|---|", *(f"| {name} | {number} |" for name, number in rows.items()), ""])


def text(verdict: Verdict) -> str:
    """What the run prints."""
    lines = [f"FAILED {case}: {why}" for case, why in verdict.failed.items()]
    lines += [f"STALE {line}" for line in verdict.stale]
    return "\n".join([counts(verdict), *lines])


def page(verdict: Verdict, host: str, origin: str, modules: list[str], note: str = "") -> str:
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": f"compared with apache-flink {flink_version()}; penstock {penstock.__version__}, pyspark "
        f"{version('pyspark')}, Python {platform.python_version()}",
        "tests from": origin,
        "modules": ", ".join(modules),
        "host": host,
        **({"note": note} if note else {}),
    }
    head = "\n".join(["| | |", "|---|---|", *(f"| {name} | {fact} |" for name, fact in facts.items()), ""])
    sections = [
        _section("Differ as listed", verdict.listed),
        _section("Failed", verdict.failed),
        _section("Out of reach, by what they use", _grouped(verdict.out_of_reach)),
    ]
    return _PAGE.format(facts=head, counts=counts(verdict), sections="\n".join(filter(None, sections)))


def _section(title: str, rows: Mapping[str, str]) -> str:
    if not rows:
        return ""
    return "\n".join([f"## {title}", "", "| | |", "|---|---|", *(f"| {a} | {_cell(b)} |" for a, b in rows.items()), ""])


def _grouped(out_of_reach: Mapping[str, str]) -> dict[str, str]:
    return {why: f"{number} cases" for why, number in Counter(out_of_reach.values()).most_common()}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
