"""Pathway, fed by a connector written in Python; one worker, nothing durable.

It emits what has changed whenever it commits, not one sum for each record, and is checked by what it ends with.
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import pathway as pw

from benchmarks import events
from benchmarks.inputs import Answer, checksum_of, record
from benchmarks.model import RATE, Outcome
from benchmarks.params import EventParams, SumParams
from benchmarks.pathway_events import PROGRAMS, read
from benchmarks.worker import EVENT_JOBS, serve


class Pair(pw.Schema):  # type: ignore[misc]
    key: int
    value: int


def running_sum(params: SumParams) -> Outcome:
    pairs = (record(index, params.keys) for index in range(params.records))
    given = read(({"key": key, "value": value} for key, value in pairs), Pair)
    sums = given.groupby(pw.this.key).reduce(pw.this.key, total=pw.reducers.sum(pw.this.value))
    rate, rows = _ended(sums, params.records)
    return _outcome(rate, Answer(len(rows), checksum_of((row["key"], row["total"]) for row in rows)))


def event_time(params: EventParams) -> Outcome:
    rate, rows = _ended(PROGRAMS[params.what](params.records), params.records)
    emitted = ((row["key"], row["value"], row["at"]) for row in rows)
    return _outcome(rate, events.answer_of(emitted, events.cut_of(params.what, params.records)))


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
    serve({"running-sum": running_sum, **dict.fromkeys(EVENT_JOBS, event_time)})
