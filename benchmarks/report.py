"""What the harness leaves behind: tables on the screen, a record for machines, ``RESULTS.md`` for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.model import Job, Ref
from benchmarks.peers import PENSTOCK
from benchmarks.plots import svg
from benchmarks.schedule import Measured
from benchmarks.summary import Number, Verdict, number, rounds, verdicts

FOLDER = Path(__file__).parent
RECORDS = FOLDER / "records"

Table = list[list[str]]


def record_of(job: Job, measured: Sequence[Measured], machine: dict[str, Any], quick: bool) -> dict[str, Any]:
    """All that was measured, as JSON."""
    return {
        "job": job.name,
        "title": job.title,
        "metric": job.metric,
        "quick": quick,
        "machine": machine,
        "versions": _versions(measured),
        "notes": list(job.notes),
        "results": [_result(job, entry, measured) for entry in measured],
        "requirements": [_requirement(verdict) for verdict in verdicts(job, measured)],
    }


def _versions(measured: Sequence[Measured]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in measured:
        for outcome in entry.outcomes:
            found.update(outcome.versions)
    return dict(sorted(found.items()))


def _result(job: Job, entry: Measured, measured: Sequence[Measured]) -> dict[str, Any]:
    trial = entry.trial
    names = list(entry.outcomes[0].metrics) if entry.outcomes else []
    return {
        "case": trial.case,
        "peer": trial.peer,
        "params": trial.params,
        "failure": entry.failure,
        "metrics": {name: asdict(number([o.metrics[name] for o in entry.outcomes])) for name in names},
        "penstock_to_this": _to_penstock(job, entry, measured),
        "rounds": [{"metrics": o.metrics, "samples": list(o.samples)} for o in entry.outcomes],
    }


def _to_penstock(job: Job, entry: Measured, measured: Sequence[Measured]) -> dict[str, float] | None:
    """Penstock's number divided by this peer's: of the medians, and the range over single rounds."""
    case, peer = entry.trial.case, entry.trial.peer
    ours, theirs = (rounds(measured, Ref(case, name, job.metric)) for name in (PENSTOCK, peer))
    if peer == PENSTOCK or not ours or not theirs:
        return None
    singles = [a / b for a, b in zip(ours, theirs, strict=False)]
    middle = number(ours).median / number(theirs).median
    return asdict(Number(middle, min(singles), max(singles)))


def _requirement(verdict: Verdict) -> dict[str, Any]:
    wanted = verdict.requirement
    return {
        "text": wanted.text,
        "bound": wanted.bound,
        "at_least": wanted.at_least,
        "ratio": asdict(verdict.ratio) if verdict.ratio is not None else None,
        "verdict": verdict.word,
    }


def write(record: dict[str, Any]) -> None:
    """Keep a record, and make ``RESULTS.md`` anew from all that are kept."""
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (RECORDS / f"{record['job']}.json").write_text(text + "\n", encoding="utf-8")
    if (picture := svg(record)) is not None:
        (RECORDS / f"{record['job']}.svg").write_text(picture, encoding="utf-8")
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDS.glob("*.json"))]
    parts = ["# Results", "Written by `python -m benchmarks --record`; do not edit.", *map(markdown, kept)]
    (FOLDER / "RESULTS.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def markdown(record: dict[str, Any]) -> str:
    """A record as a section of ``RESULTS.md``."""
    parts = [
        f"## {record['title']}",
        _provenance(record),
        f"![{record['title']}](records/{record['job']}.svg)",
        _markdown_table(results_table(record)),
        *([_markdown_table(requirements_table(record))] if record["requirements"] else []),
        *record["notes"],
    ]
    return "\n\n".join(parts)


def _provenance(record: dict[str, Any]) -> str:
    machine = record["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    quick = " Quick run, not for comparison." if record["quick"] else ""
    return (
        f"Job `{record['job']}`, {machine['date']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['processor']}, load {machine['load_before']} before; Python {machine['python']}"
        f"{', ' + versions if versions else ''}.{quick}"
    )


def results_table(record: dict[str, Any]) -> Table:
    """One line for each case, peer and metric; the ratio stands beside the job's own metric."""
    table = [["case", "peer", "metric", "median", "lowest – highest", "Penstock ÷ this"]]
    for result in record["results"]:
        where = [result["case"], result["peer"]]
        if result["failure"] is not None:
            table.append([*where, "", "failed", result["failure"].splitlines()[0], ""])
        for name, found in result["metrics"].items():
            ratio = result["penstock_to_this"] if name == record["metric"] else None
            spread = f"{found['low']:,.0f} – {found['high']:,.0f}"
            table.append([*where, name.replace("_", " "), f"{found['median']:,.0f}", spread, _with_spread(ratio)])
    return table


def requirements_table(record: dict[str, Any]) -> Table:
    """What was asked for and what was found."""
    table = [["required", "bound", "measured", ""]]
    for wanted in record["requirements"]:
        bound = f"{'≥' if wanted['at_least'] else '≤'} {wanted['bound']:g}"
        table.append([wanted["text"], bound, _with_spread(wanted["ratio"]), wanted["verdict"]])
    return table


def _with_spread(ratio: dict[str, float] | None) -> str:
    return "" if ratio is None else f"{ratio['median']:.2f} ({ratio['low']:.2f} – {ratio['high']:.2f})"


def _markdown_table(table: Table) -> str:
    lines = [f"| {' | '.join(row)} |" for row in table]
    return "\n".join([lines[0], "|" + "---|" * len(table[0]), *lines[1:]])


def screen(record: dict[str, Any]) -> str:
    """A record as text."""
    tables = [results_table(record), requirements_table(record)]
    return "\n\n".join([record["title"], *map(_aligned, tables), *record["notes"]])


def _aligned(table: Table) -> str:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in padded)
