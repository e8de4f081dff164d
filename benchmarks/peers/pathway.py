"""Pathway, fed by a connector written in Python; one worker, nothing durable.

It emits what has changed whenever it commits, not one sum for each record, and is checked by what it ends with.
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import pathway as pw

from benchmarks import events
from benchmarks.envs import DATA
from benchmarks.files import CSV, JSON, answer_of, file_of
from benchmarks.inputs import Answer, record
from benchmarks.model import RATE, Outcome
from benchmarks.params import EventParams, FileParams, SumParams
from benchmarks.peers.pathway_events import PROGRAMS
from benchmarks.peers.pathway_source import read
from benchmarks.worker import EVENT_JOBS, serve

HEADER = "id,key,value,text\n"


class Pair(pw.Schema):  # type: ignore[misc]
    key: int
    value: int


def running_sum(params: SumParams) -> Outcome:
    pairs = (record(index, params.keys) for index in range(params.records))
    given = read(({"key": key, "value": value} for key, value in pairs), Pair)
    rate, rows = _ended(_sums(given), params.records)
    return _outcome(rate, answer_of([(row["key"], row["total"]) for row in rows]))


def event_time(params: EventParams) -> Outcome:
    rate, rows = _ended(PROGRAMS[params.what](params.records), params.records)
    emitted = ((row["key"], row["value"], row["at"]) for row in rows)
    return _outcome(rate, events.answer_of(emitted, events.cut_of(params.what, params.records)))


def of_file(params: FileParams) -> Outcome:
    """The native readers."""
    if params.kind == CSV:
        given = pw.io.csv.read(file_of(CSV, params.records, DATA, HEADER), schema=Pair, mode="static")
    else:
        given = pw.io.jsonlines.read(file_of(JSON, params.records, DATA), schema=Pair, mode="static")
    rate, rows = _ended(_sums(given), params.records)
    return _outcome(rate, answer_of([(row["key"], row["total"]) for row in rows]))


def _sums(given: Any) -> Any:
    return given.groupby(pw.this.key).reduce(pw.this.key, total=pw.reducers.sum(pw.this.value))


def _ended(table: Any, records: int) -> tuple[float, list[dict[str, int]]]:
    """All records by the whole time, since output does not show how far it is; and the rows that it ends with."""
    found: dict[Any, dict[str, int]] = {}

    def changed(key: Any, row: dict[str, int], time: int, is_addition: bool) -> None:
        if is_addition:
            found[key] = row
        elif found.get(key) == row:
            del found[key]

    pw.io.subscribe(table, changed)
    started = perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return records / (perf_counter() - started), list(found.values())


def _outcome(rate: float, answer: Answer) -> Outcome:
    return Outcome({RATE: rate}, answer, versions={"pathway": version("pathway")})


if __name__ == "__main__":
    serve({"running-sum": running_sum, "files": of_file, **dict.fromkeys(EVENT_JOBS, event_time)})
