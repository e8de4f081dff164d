"""The log of a loop of kills, as a page."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from penstock.spark.startup.java import find_java
from tests.kill.found import Class, Found
from tests.kill.job import BATCH, PARALLELISM
from tests.kill.run import Kill, Target

__all__ = ["Round", "versions", "write_report"]


@dataclass(frozen=True, slots=True)
class Round:
    """One job from start to end: how it was killed, and what was wrong with its output afterwards."""

    sort: str
    kills: tuple[Kill, ...]
    wrong: tuple[str, ...]
    seconds: float


def write_report(path: Path, rounds: Sequence[Round], seed: int) -> None:
    path.write_text("\n".join(_page(rounds, seed)) + "\n", encoding="utf-8")


def _page(rounds: Sequence[Round], seed: int) -> Iterable[str]:
    counted = [k for r in rounds for k in r.kills if k.counts]
    yield from _head(rounds, counted, seed)
    yield from _classes(counted)
    yield from _targets(counted)
    yield from _rounds(rounds)
    yield from _every_kill(rounds)


def _head(rounds: Sequence[Round], counted: Sequence[Kill], seed: int) -> Iterable[str]:
    wrong = [text for r in rounds for text in r.wrong]
    yield "# Kills"
    yield ""
    yield "Written by `make kill`; not edited by hand."
    yield ""
    now, minutes = datetime.datetime.now(datetime.UTC), sum(r.seconds for r in rounds) / 60
    yield f"- {now:%Y-%m-%d %H:%M} UTC, seed {seed}, {len(rounds)} jobs, {minutes:.0f} minutes"
    yield f"- {versions()}"
    yield f"- **{len(counted)} kills that counted; wrong afterwards: {'; '.join(wrong) or 'nothing'}**"
    yield ""
    yield _EXPLAINED


_EXPLAINED = f"""\
The job: a generated source; a stage that numbers the records of each key; a second stage that adds up the first one's
output per group and event-time window; behind each of them three exactly-once sinks, to files, to SQLite and to
PostgreSQL; {PARALLELISM} subtasks, batches of at most {BATCH} records a split. Where it is not deterministic, a record
carries a random number and the time of day. A kill is SIGKILL at a random moment. It counts if records remained and a
batch had begun. At the end the committed files must equal an uninterrupted run where the functions are deterministic;
in every case each key's numbers must have no gap and no duplicate, the sums that the second stage kept in state must
equal the sums over the first stage's committed records, and both databases must hold the same rows as the files. For
about every other kill one moment of the batch is stretched by a pause in the test's own sinks or functions, so that
every class is hit; these kills are marked with `*`."""


def versions() -> str:
    java = subprocess.run([os.path.join(find_java(), "bin", "java"), "-version"], capture_output=True, text=True)
    return (
        f"Penstock {version('penstock')}, PySpark {version('pyspark')}, Python {platform.python_version()}, "
        f"{java.stderr.splitlines()[0]}, {os.cpu_count()} cores"
    )


def _classes(counted: Sequence[Kill]) -> Iterable[str]:
    found = Counter(k.kind for k in counted)
    yield ""
    yield "## What was found after the kills"
    yield ""
    yield "| class | offset written | sink prepared | state written | batch committed | sink committed | kills |"
    yield "|---|---|---|---|---|---|---|"
    for kind, marks in _MARKS.items():
        yield f"| {kind.name}: {kind.value} | {' | '.join(marks)} | {found[kind]} |"
    missing = [kind.name for kind in Class if not found[kind]]
    yield ""
    yield f"Not found: {', '.join(missing)}." if missing else "Every class occurred."


_MARKS = {
    Class.A: ("yes", "no", "no", "no", "no"),
    Class.B: ("yes", "some or all", "no or some", "no", "no"),
    Class.C: ("yes", "yes", "yes", "no", "no"),
    Class.D: ("yes", "yes", "yes", "yes", "no or some"),
    Class.E: ("yes", "yes", "yes", "yes", "yes"),
}


def _targets(counted: Sequence[Kill]) -> Iterable[str]:
    yield ""
    yield "| killed | kills | seconds until the next batch was committed: median | longest |"
    yield "|---|---|---|---|"
    for target in Target:
        times = [k.recovered for k in counted if k.target is target]
        if times:
            yield f"| {target} | {len(times)} | {median(times):.1f} | {max(times):.1f} |"


def _rounds(rounds: Sequence[Round]) -> Iterable[str]:
    yield ""
    yield "## Jobs"
    yield ""
    yield "| job | sort | kills | output |"
    yield "|---|---|---|---|"
    for number, done in enumerate(rounds, 1):
        yield f"| {number} | {done.sort} | {len(done.kills)} | {'; '.join(done.wrong) or 'right'} |"


def _every_kill(rounds: Sequence[Round]) -> Iterable[str]:
    yield ""
    yield "## Every kill"
    yield ""
    yield "Prepared: files of the batch in flight that hold records. Stores: how many of its 4 have written their"
    yield "new version. Not committed: hidden files of the last committed batch, databases that lack its rows."
    yield ""
    yield (
        "| job | killed | class | last batch begun | committed | prepared | stores | not committed "
        "| records remaining | recovered, s | counts |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for number, done in enumerate(rounds, 1):
        for kill in done.kills:
            yield f"| {number} | {_kill_row(kill)} |"


def _kill_row(kill: Kill) -> str:
    found: Found = kill.found
    name = f"{kill.kind.name if kill.kind is not None else '–'}{'*' if kill.aimed is not None else ''}"
    cells = (
        kill.target,
        name,
        found.begun,
        found.committed,
        found.prepared,
        found.stores,
        ", ".join((str(found.uncommitted), *found.behind)),
        found.remaining,
        f"{kill.recovered:.1f}",
        "yes" if kill.counts else "no",
    )
    return " | ".join(map(str, cells))
