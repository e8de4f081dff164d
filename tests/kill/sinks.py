"""The sinks of the job that is killed: exactly-once to files, SQLite and PostgreSQL, with pauses in both phases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from penstock.common import Types
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.connectors.sql.dialects import dialect_of
from penstock.connectors.sql.jdbc import COMMITS, JdbcCommitter, Session
from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from tests.kill.moments import Moment, pause

__all__ = ["TABLES", "create_tables", "file_records", "file_sink", "marks", "sql_records", "sql_sink"]

TABLES = ("numbered", "windows")
_FOUR = Types.ROW([Types.LONG()] * 4)


class PausingSink(Sink, SupportsCommitter):
    """Another sink, with pauses around its two phases."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        return _PausingWriter(self._sink.create_writer(context))

    def create_committer(self) -> Committer:
        committer = self._sink.create_committer()
        if isinstance(committer, JdbcCommitter):
            committer._session = _PausingSession(committer._session)
        return _PausingCommitter(committer)


class _PausingWriter(SinkWriter):
    def __init__(self, writer: SinkWriter) -> None:
        self._writer = writer

    def write(self, value: Any, timestamp: int | None) -> None:
        self._writer.write(value, timestamp)

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self._writer.write_all(values, timestamps)

    def prepare_commit(self) -> list[Any]:
        prepared = self._writer.prepare_commit()
        pause(Moment.PREPARED)
        return prepared

    def close(self) -> None:
        self._writer.close()


class _PausingCommitter(Committer):
    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        pause(Moment.COMMITTED)
        self._committer.commit(requests)

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        self._committer.abandon_older_than(age_ms, now_ms)

    def close(self) -> None:
        self._committer.close()


class _PausingSession(Session):
    """Pauses at the end of a transaction, before it is committed."""

    def __init__(self, session: Session) -> None:
        super().__init__(session._dialect, session._retries)

    def transact(self, work: Callable[[Any], None]) -> None:
        def and_pause(cursor: Any) -> None:
            work(cursor)
            pause(Moment.ROWS_WRITTEN)

        super().transact(and_pause)


def file_sink(folder: str) -> Sink:
    return PausingSink(FileSink.for_row_format(folder, Encoder.json_encoder()).build())


def sql_sink(url: str, table: str) -> Sink:
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    return PausingSink(JdbcSink.exactly_once_sink(f"insert into {table} values (?, ?, ?, ?)", _FOUR, builder.build()))


# -- from outside ------------------------------------------------------------------------------------------


def create_tables(url: str) -> None:
    """Without keys or indexes: what is written twice is there twice."""
    for table in TABLES:
        _run(url, f"create table if not exists {table} (a bigint, b bigint, c bigint, d bigint)")


def sql_records(url: str, table: str) -> list[tuple[int, ...]]:
    return [tuple(row) for row in _run(url, f"select * from {table}")]


def file_records(folder: str) -> list[tuple[int, ...]]:
    """The records that readers of a folder see: hidden files are not read."""
    files = sorted(f for f in Path(folder).rglob("*") if f.is_file() and not f.name.startswith("."))
    return [tuple(json.loads(line)) for file in files for line in file.read_text().splitlines()]


def marks(url: str) -> dict[tuple[str, int], int]:
    """The last batch that a sink's subtask has written."""
    try:
        found = _run(url, f"select sink, subtask, batch from {COMMITS}")
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        return {}
    return {(sink, subtask): batch for sink, subtask, batch in found}


def _run(url: str, sql: str) -> list[Any]:
    with closing(dialect_of(url).connect()) as connection:
        cursor = connection.cursor()
        cursor.execute(sql)
        rows = cursor.fetchall() if cursor.description else []
        connection.commit()
        return list(rows)
