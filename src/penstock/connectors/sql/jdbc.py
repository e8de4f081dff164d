"""`JdbcSink`: rows to a SQL database, at-least-once from the workers or exactly-once from the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.connectors.sql.dialects import Dialect
from penstock.connectors.sql.options import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.connectors.sql.statements import count_parameters, is_idempotent, with_marks
from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    DeliveryGuarantee,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.errors import ProgramError, SinkError
from penstock.core.functions.sink import SinkFunction
from penstock.core.time.clock import SystemClock
from penstock.core.types.row import Row
from penstock.core.types.type_info import RowTypeInfo, TupleTypeInfo

__all__ = ["JdbcSink"]

COMMITS = "penstock_commits"
"""Beside the user's tables: for each sink, generation and subtask the last batch whose rows are there."""

_CREATE = f"""CREATE TABLE IF NOT EXISTS {COMMITS} (
    sink {{}} NOT NULL, generation {{}} NOT NULL, subtask INTEGER NOT NULL, batch BIGINT NOT NULL,
    PRIMARY KEY (sink, generation, subtask))"""
_PROBE = f"SELECT batch FROM {COMMITS} WHERE 1 = 0"
_NONE_YET = -1
_MAKE = f"INSERT INTO {COMMITS} (sink, generation, subtask, batch) VALUES (?, ?, ?, {_NONE_YET}) {{}}"
_LOOK = f"SELECT batch FROM {COMMITS} WHERE sink = ? AND generation = ? AND subtask = ?{{}}"
_MOVE = f"UPDATE {COMMITS} SET batch = ? WHERE sink = ? AND generation = ? AND subtask = ?"
_RETRY_MS, _LONGEST_MS = 200, 10_000


class JdbcSink(SinkFunction, Sink):
    """Runs a statement for every record: a row or tuple whose fields are the statement's parameters.

    Give it to `add_sink`, as in PyFlink, or to `sink_to`.

    >>> from penstock.common import Types
    >>> options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url("jdbc:sqlite:/tmp/shop.db").build()
    >>> row = Types.ROW([Types.STRING(), Types.INT()])
    >>> JdbcSink.sink("insert into sold values (?, ?)", row, options).idempotent
    False
    >>> JdbcSink.exactly_once_sink("insert into sold values (?, ?)", row, options).delivery_guarantee.name
    'EXACTLY_ONCE'
    """

    def __init__(
        self, sql: str, width: int, connection: JdbcConnectionOptions, execution: JdbcExecutionOptions
    ) -> None:
        self.statement = Statement(sql, width, connection.dialect)
        self.execution = execution

    def invoke(self, value: object, context: SinkFunction.Context) -> None:
        raise TypeError("JdbcSink is not called record by record: give it to add_sink() or sink_to()")

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Rows are written by the workers, so many at a time: at-least-once.

        A statement that may be repeated, such as an upsert that takes the new values, makes it exactly-once for
        records that are the same when a batch is run again.
        """
        made = _checked(sql, type_info, jdbc_connection_options)
        return DirectJdbcSink(*made, jdbc_execution_options or JdbcExecutionOptions.defaults())

    @staticmethod
    def exactly_once_sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> JdbcSink:
        """Rows wait in the job's state until their batch is durable; then the driver writes them.

        The rows of a batch and a note that they are there (in the table `penstock_commits`, made when it is missing)
        are one transaction, so whatever fails, and whatever the statement does, each record takes effect once. The
        rows of a batch pass through the state and the driver, where they must fit into memory.
        """
        made = _checked(sql, type_info, jdbc_connection_options)
        return ExactlyOnceJdbcSink(*made, jdbc_execution_options or JdbcExecutionOptions.defaults())


def _checked(sql: str, type_info: object, connection: JdbcConnectionOptions) -> tuple[str, int, JdbcConnectionOptions]:
    if not isinstance(type_info, RowTypeInfo | TupleTypeInfo):
        raise ProgramError(f"JdbcSink takes a row type, got {type(type_info).__name__}: use Types.ROW([...])")
    width, marks = len(type_info.get_field_types()), count_parameters(sql)
    if width != marks:
        raise ProgramError(f"JdbcSink: the statement has {marks} parameter(s), the row type {width} field(s): {sql!r}")
    connection.dialect.check()
    return sql, width, connection


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of so many parameters, for a database."""

    sql: str
    width: int
    dialect: Dialect

    def parameters(self, record: object) -> tuple[Any, ...]:
        """The parameters of the statement for one record."""
        fields = tuple(record) if isinstance(record, Row | tuple | list) else None
        if fields is None or len(fields) != self.width:
            raise SinkError(f"JdbcSink takes rows of {self.width} field(s), got {record!r} for {self.sql!r}")
        return tuple(map(self.dialect.adapt, fields))

    def run(self, cursor: Any, rows: Sequence[tuple[Any, ...]]) -> None:
        cursor.executemany(with_marks(self.sql, self.dialect.mark), rows)


class Session:
    """A connection that is made when needed, and again when it broke."""

    def __init__(self, dialect: Dialect, retries: int) -> None:
        self._dialect, self._retries = dialect, retries
        self._connection: Any = None

    def transact(self, work: Callable[[Any], None]) -> None:
        """Run `work` with a cursor, all or nothing; again after an error that may pass."""
        for attempt in range(self._retries + 1):
            try:
                self._once(work)
                return
            except Exception as error:
                self.close()
                if attempt == self._retries or not self._dialect.may_pass(error):
                    raise
            SystemClock().sleep_ms(min(_RETRY_MS << attempt, _LONGEST_MS))

    def _once(self, work: Callable[[Any], None]) -> None:
        if self._connection is None:
            self._connection = self._dialect.connect()
        cursor = self._connection.cursor()
        self._dialect.begin(self._connection)
        work(cursor)
        self._connection.commit()

    def close(self) -> None:
        """Close the connection; the database rolls back a transaction that was not committed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


# -- at-least-once: workers write ----------------------------------------------------------------------


class DirectJdbcSink(JdbcSink):
    """Writes as records come."""

    def __init__(
        self, sql: str, width: int, connection: JdbcConnectionOptions, execution: JdbcExecutionOptions
    ) -> None:
        super().__init__(sql, width, connection, execution)
        self.idempotent = is_idempotent(sql)

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        return _DirectWriter(self.statement, self.execution)


class _DirectWriter(SinkWriter):
    def __init__(self, statement: Statement, execution: JdbcExecutionOptions) -> None:
        self._statement, self._size = statement, execution.get_batch_size()
        self._session = Session(statement.dialect, execution.get_max_retries())
        self._rows: list[tuple[object, ...]] = []

    def write(self, value: Any, timestamp: int | None) -> None:
        self._rows.append(self._statement.parameters(value))
        if self._size and len(self._rows) >= self._size:
            self.flush()

    def flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._session.transact(lambda cursor: self._statement.run(cursor, rows))

    def close(self) -> None:
        self._session.close()


# -- exactly-once: the driver writes -----------------------------------------------------------------------


class ExactlyOnceJdbcSink(JdbcSink, SupportsCommitter):
    """Stages rows, writes them with their mark."""

    delivery_guarantee = DeliveryGuarantee.EXACTLY_ONCE

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        return _StagingWriter(self.statement, context)

    def create_committer(self) -> Committer:
        return JdbcCommitter(self.statement, self.execution)


@dataclass(frozen=True, slots=True)
class Staged:
    """The committable: the rows of one subtask and batch."""

    sink: str
    generation: str
    subtask: int
    batch: int
    rows: list[tuple[Any, ...]]

    @property
    def key(self) -> tuple[str, str, int]:
        """Of the mark."""
        return self.sink, self.generation, self.subtask


class _StagingWriter(SinkWriter):
    def __init__(self, statement: Statement, context: WriterInitContext) -> None:
        self._statement = statement
        self._staged = Staged(context.uid, context.generation, context.subtask_index, context.batch_id, [])

    def write(self, value: Any, timestamp: int | None) -> None:
        self._staged.rows.append(self._statement.parameters(value))

    def prepare_commit(self) -> list[Any]:
        return [self._staged] if self._staged.rows else []


class Marks:
    """The table of marks. A mark is read under a lock and then written, since databases do not agree on how many rows
    a statement reports that inserts or updates: MySQL says 1, 2 or 0, and other numbers for other drivers."""

    def __init__(self, dialect: Dialect) -> None:
        self._create = _CREATE.format(*dialect.name_types)
        self._make = with_marks(_MAKE.format(dialect.unless_there), dialect.mark)
        self._look = with_marks(_LOOK.format(dialect.locked), dialect.mark)
        self._move = with_marks(_MOVE, dialect.mark)

    def create(self, cursor: Any) -> None:
        """Make the table, if it is missing."""
        cursor.execute(self._create)

    def move(self, cursor: Any, staged: Staged) -> bool:
        """Move a mark to a batch; False if it stands there, or beyond it: the rows are in the database.

        Holds the mark until the transaction ends: another driver that wants to move it waits here.
        """
        cursor.execute(self._make, staged.key)
        cursor.execute(self._look, staged.key)
        found = cursor.fetchone()
        if found is None:
            raise SinkError(f"The table {COMMITS} does not keep the mark of sink {staged.sink!r} as it was written")
        if found[0] >= staged.batch:
            return False
        cursor.execute(self._move, (staged.batch, *staged.key))
        return True


class JdbcCommitter(Committer):
    """Writes what all subtasks staged in a batch, in one transaction with their marks."""

    def __init__(self, statement: Statement, execution: JdbcExecutionOptions) -> None:
        self._statement = statement
        self._session = Session(statement.dialect, execution.get_max_retries())
        self._marks = Marks(statement.dialect)
        self._ready = False

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        if not self._ready:
            self._make_table()
        staged = [request.get_committable() for request in requests]
        self._session.transact(lambda cursor: self._write(cursor, staged))

    def _make_table(self) -> None:
        """Asked for first: who may not create tables may have been given this one."""
        try:
            self._session.transact(lambda cursor: cursor.execute(_PROBE))
        except Exception:
            self._session.transact(self._marks.create)
        self._ready = True

    def _write(self, cursor: object, staged: Sequence[Staged]) -> None:
        for batch in staged:
            if self._marks.move(cursor, batch):
                self._statement.run(cursor, batch.rows)

    def close(self) -> None:
        self._session.close()
