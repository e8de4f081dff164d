"""Pathway's ``groupby().reduce``, fed by a connector written in Python; one worker, nothing durable.

It emits what has changed whenever it commits, not one sum for each record, and is checked by the sums it ends with.
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import pathway as pw

from benchmarks.inputs import Answer, checksum_of, record
from benchmarks.model import RATE, Outcome
from benchmarks.params import SumParams
from benchmarks.worker import serve

COMMIT_MS = 500


class Pair(pw.Schema):  # type: ignore[misc]
    key: int
    value: int


class Records(pw.io.python.ConnectorSubject):  # type: ignore[misc]
    """Makes the records, as part of the job."""

    def __init__(self, count: int, keys: int) -> None:
        super().__init__()
        self.count, self.keys = count, keys

    def run(self) -> None:
        for index in range(self.count):
            key, value = record(index, self.keys)
            self.next(key=key, value=value)


def running_sum(params: SumParams) -> Outcome:
    """All records by the whole time, from the first to the end: its output does not show how far it is."""
    given = pw.io.python.read(Records(params.records, params.keys), schema=Pair, autocommit_duration_ms=COMMIT_MS)
    sums = given.groupby(pw.this.key).reduce(pw.this.key, total=pw.reducers.sum(pw.this.value))
    found: dict[int, int] = {}

    def changed(key: Any, row: dict[str, int], time: int, is_addition: bool) -> None:
        if is_addition:
            found[row["key"]] = row["total"]

    pw.io.subscribe(sums, changed)
    started = perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    rate = params.records / (perf_counter() - started)
    answer = Answer(len(found), checksum_of(found.items()))
    return Outcome({RATE: rate}, answer, versions={"pathway": version("pathway")})


if __name__ == "__main__":
    serve({"running-sum": running_sum})
