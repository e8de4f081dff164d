"""A CSV and a JSON file of more than a gigabyte, parsing included: the sum of a column for each key."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks import files
from benchmarks.files import CSV, JSON
from benchmarks.model import RATE, Job, Ref, Requirement, Trial
from benchmarks.params import FileParams
from benchmarks.peers import FLINK_THREAD, LOOP, PENSTOCK, SPARK_SQL

RECORDS = {CSV: 13_000_000, JSON: 9_000_000}
QUICK, FLINK = 300_000, 300_000


def _case(kind: str) -> str:
    return kind.upper()


def _trials(quick: bool) -> list[Trial]:
    return [_trial(kind, peer, quick) for kind in (CSV, JSON) for peer in (PENSTOCK, SPARK_SQL, FLINK_THREAD, LOOP)]


def _trial(kind: str, peer: str, quick: bool) -> Trial:
    records = FLINK if peer == FLINK_THREAD else QUICK if quick else RECORDS[kind]
    return Trial(_case(kind), peer, asdict(FileParams(kind, records)), partial(_expected, records))


_expected = cache(files.expected)

FILES = Job(
    name="files",
    title="Files of more than a gigabyte",
    metric=RATE,
    trials=_trials,
    requirements=tuple(
        Requirement(
            f"at least 10× PyFlink: {_case(kind)}",
            Ref(_case(kind), PENSTOCK, RATE),
            (Ref(_case(kind), FLINK_THREAD, RATE),),
            10,
            at_least=True,
        )
        for kind in (CSV, JSON)
    ),
    notes=(
        f"CSV: {RECORDS[CSV]:,} lines, 1.1 GB; JSON: {RECORDS[JSON]:,} lines, 1.1 GB; PyFlink {FLINK:,} lines. Runtime "
        "mode BATCH, nothing durable; the time is that of the job, from its start to its end, in a process that has "
        "run a job before (Spark, Penstock), or of the job and its start (PyFlink). Penstock reads with "
        "CsvReaderFormat and JsonReaderFormat, PyFlink lines that Python parses, Spark with its native readers, the "
        "loop with the standard library's.",
        "The files are made once and kept in .bench/data.",
    ),
)
