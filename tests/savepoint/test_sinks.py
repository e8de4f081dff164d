"""F4 with F6: what sinks had prepared survives a savepoint and another parallelism, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.core.program.specs import FunctionSinkSpec, SinkSpec
from penstock.datastream import StreamExecutionEnvironment, TwoPhaseCommitSinkFunction
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from penstock.runtime.operators.sink import committables
from penstock.runtime.redistribute import Share, redistribute
from penstock.testing import LocalJob, local_job


def job_into(path: Path, parallelism: int, savepoint: str | None = None) -> LocalJob:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{path}").build()
    sink = JdbcSink.exactly_once_sink("insert into sold values (?)", Types.ROW([Types.INT()]), options)
    env = StreamExecutionEnvironment()
    records = env.from_collection(list(range(30))).uid("source")
    records.rebalance().map(lambda v: (v,)).uid("map").sink_to(sink).uid("sold")
    return local_job(env, parallelism, savepoint=savepoint)


def run(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_rows_are_written_once_over_savepoints(tmp_path: Path, parallelism: int) -> None:
    """F4, F6: each start from a savepoint is a generation of its own."""
    database = tmp_path / "shop.db"
    run(database, "create table sold (number integer)")
    saved = None
    for number, count in enumerate((2, parallelism, 1)):
        job = job_into(database, count, saved)
        for _ in range(2):
            job.run_batch(4)
        job.restart()
        job.run_batch(1)
        saved = str(tmp_path / str(number))
        job.savepoint(saved)
    job_into(database, 2, saved).run()
    assert sorted(number for (number,) in run(database, "select number from sold")) == list(range(30))
    assert run(database, "select count(distinct generation) from penstock_commits") == [(4,)]


class Function(TwoPhaseCommitSinkFunction):
    def begin_transaction(self) -> Any: ...
    def invoke(self, transaction: Any, value: Any, context: Any) -> None: ...
    def pre_commit(self, transaction: Any) -> None: ...
    def commit(self, transaction: Any) -> None: ...


@pytest.mark.parametrize("spec", [SinkSpec(JdbcSink), FunctionSinkSpec(Function())])  # type: ignore[arg-type]
def test_what_was_prepared_goes_to_the_first_subtask_without_its_generation(spec: Any) -> None:
    """F4, F6: nobody else commits it; what a sink writes from then on is another generation's."""
    states = {0: (["a"], "g", 4), 1: (["b", "c"], "g", 4), 2: ["older"]}
    shares = [redistribute(spec, states, Share(subtask, 2, 3)) for subtask in range(2)]
    assert shares == [["a", "b", "c", "older"], None]
    assert redistribute(spec, states, Share(0, 2, 3, committed=True)) is None
    assert committables(states[0]) == ["a"]
