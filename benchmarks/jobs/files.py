"""A CSV and a JSON file of more than a gigabyte, parsing included: the sum of a column for each key."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

from benchmarks import files
from benchmarks.files import CSV, JSON
from benchmarks.jobs.events import OTHERS, ahead_of
from benchmarks.model import RATE, Job, Trial
from benchmarks.params import FileParams
from benchmarks.peers.registry import BYTEWAX, FLINK_THREAD, LOOP, PATHWAY, PENSTOCK, SPARK_SQL

RECORDS = {CSV: 13_000_000, JSON: 9_000_000}
QUICK, FLINK, OTHER = 300_000, 300_000, 1_500_000
PEERS = (PENSTOCK, SPARK_SQL, FLINK_THREAD, BYTEWAX, PATHWAY, LOOP)


def _case(kind: str) -> str:
    return kind.upper()


def _trials(quick: bool) -> list[Trial]:
    return [_trial(kind, peer, quick) for kind in (CSV, JSON) for peer in PEERS]


def _trial(kind: str, peer: str, quick: bool) -> Trial:
    whole = {FLINK_THREAD: FLINK, **dict.fromkeys(OTHERS, OTHER)}.get(peer, RECORDS[kind])
    records = min(QUICK, whole) if quick else whole
    return Trial(_case(kind), peer, asdict(FileParams(kind, records)), partial(_expected, records))


_expected = cache(files.expected)

FILES = Job(
    name="files",
    title="Files of more than a gigabyte",
    metric=RATE,
    trials=_trials,
    requirements=tuple(
        ahead_of(whom, _case(kind), peers, bound)
        for kind in (CSV, JSON)
        for whom, peers, bound in (
            ("PyFlink", (FLINK_THREAD,), 10),
            ("the better of Bytewax and Pathway", OTHERS, 1),
        )
    ),
    notes=(
        f"CSV: {RECORDS[CSV]:,} lines, 1.1 GB; JSON: {RECORDS[JSON]:,} lines, 1.1 GB; PyFlink {FLINK:,} lines, "
        f"Bytewax and Pathway {OTHER:,}. Nothing durable; the time is that of the job, from its start to its end, in a "
        "process that has run a job before (Spark, Penstock), or of the job and its start (the others). Penstock, in "
        "runtime mode BATCH, reads with CsvReaderFormat and JsonReaderFormat, PyFlink and Bytewax lines that Python "
        "parses, Spark and Pathway with their native readers (Pathway's CSV wants a line with the names of columns, "
        "and gets it), the loop with the standard library's.",
        "The files are made once and kept in .bench/data.",
    ),
)
