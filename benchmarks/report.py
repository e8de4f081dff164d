"""What the harness leaves behind: tables on the screen, a record for machines, ``RESULTS.md`` for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.model import Job, Ref
from benchmarks.peers.registry import PENSTOCK
from benchmarks.plots import svg
from benchmarks.schedule import Measured
from benchmarks.summary import Number, Result, Verdict, number, rounds, verdicts

FOLDER = Path(__file__).parent
RECORDS = FOLDER / "records"

Table = list[list[str]]


Record = dict[str, Any]


def kept_of(job: Job, quick: bool) -> Record | None:
    """What is kept of the job, measured with inputs of the same sizes."""
    path = RECORDS / f"{job.name}.json"
    kept: Record | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return kept if kept is not None and kept["quick"] == quick else None


def record_of(
    job: Job, measured: Sequence[Measured], machine: dict[str, Any], quick: bool, kept: Record | None = None
) -> Record:
    """All that was measured, as JSON. Cases that were left out this time are taken from what is kept, if that is given.

    A case is always from one run: its peers took turns.
    """
    when = {name: machine[name] for name in ("date", "load_before")}
    results = [{**_result(entry), "when": when} for entry in measured]
    versions = _versions(measured)
    if kept is not None:
        known = {(trial.case, trial.peer): number for number, trial in enumerate(job.trials(quick))}
        fresh = {result["case"] for result in results}
        left = [r for r in kept["results"] if r["case"] not in fresh and (r["case"], r["peer"]) in known]
        results = sorted([*left, *results], key=lambda result: known[result["case"], result["peer"]])
        versions = {**kept["versions"], **versions}
    for result in results:
        result["penstock_to_this"] = _to_penstock(job, result, results)
    return {
        "job": job.name,
        "title": job.title,
        "metric": job.metric,
        "quick": quick,
        "machine": machine,
        "versions": dict(sorted(versions.items())),
        "notes": list(job.notes),
        "results": results,
        "requirements": [_requirement(verdict) for verdict in verdicts(job, results)],
    }


def _versions(measured: Sequence[Measured]) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in measured:
        for outcome in entry.outcomes:
            found.update(outcome.versions)
    return found


def _result(entry: Measured) -> Result:
    trial = entry.trial
    names = list(entry.outcomes[0].metrics) if entry.outcomes else []
    return {
        "case": trial.case,
        "peer": trial.peer,
        "params": trial.params,
        "failure": entry.failure,
        "metrics": {name: asdict(number([o.metrics[name] for o in entry.outcomes])) for name in names},
        "rounds": [{"metrics": o.metrics, "samples": list(o.samples)} for o in entry.outcomes],
    }


def _to_penstock(job: Job, result: Result, results: Sequence[Result]) -> dict[str, float] | None:
    """Penstock's number divided by this peer's: of the medians, and the range over single rounds."""
    case, peer = result["case"], result["peer"]
    ours, theirs = (rounds(results, Ref(case, name, job.metric)) for name in (PENSTOCK, peer))
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


def write(record: Record) -> None:
    """Keep a record, and make ``RESULTS.md`` anew from all that are kept."""
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps(record, indent=1, ensure_ascii=False)
    (RECORDS / f"{record['job']}.json").write_text(text + "\n", encoding="utf-8")
    if (picture := svg(record)) is not None:
        (RECORDS / f"{record['job']}.svg").write_text(picture, encoding="utf-8")
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RECORDS.glob("*.json"))]
    parts = ["# Results", "Written by `python -m benchmarks --record`; do not edit.", *map(markdown, kept)]
    (FOLDER / "RESULTS.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def markdown(record: Record) -> str:
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


def _provenance(record: Record) -> str:
    machine, when = record["machine"], [result["when"] for result in record["results"]]
    dates = _range(sorted({moment["date"] for moment in when}) or [machine["date"]])
    loads = _range(sorted({moment["load_before"] for moment in when}) or [machine["load_before"]])
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    quick = " Quick run, not for comparison." if record["quick"] else ""
    return (
        f"Job `{record['job']}`, {dates}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['processor']}, load {loads} before; Python {machine['python']}"
        f"{', ' + versions if versions else ''}.{quick}"
    )


def _range(values: list[Any]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} – {values[-1]}"


def results_table(record: Record) -> Table:
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


def requirements_table(record: Record) -> Table:
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


def screen(record: Record) -> str:
    """A record as text."""
    tables = [results_table(record), requirements_table(record)]
    return "\n\n".join([record["title"], *map(_aligned, tables), *record["notes"]])


def _aligned(table: Table) -> str:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in padded)
