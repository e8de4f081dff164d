"""Tables: Spark SQL over streams, and streams of its results. For bounded input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from penstock.api.data_stream import DataStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.api.frames import data_frame_of
from penstock.api.transformation import upstream
from penstock.connectors.data_frame import DataFrameSource
from penstock.core.errors import ProgramError
from penstock.core.types.row import Row
from penstock.core.types.type_info import TypeInformation

__all__ = ["StreamTableEnvironment", "Table", "TableResult"]

_FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w+)", re.DOTALL)
"""The first word of a statement, after blanks, comments and parentheses."""


class Table:
    """The rows of a stream or of a query. Nothing runs before it is executed, or a job that reads it."""

    def __init__(self, t_env: StreamTableEnvironment, origin: _Stream | _Query) -> None:
        self._t_env = t_env
        self._origin = origin
        self._frame: object = None

    def to_data_frame(self) -> Any:
        """The table as a Spark DataFrame; a stream under it is run, once."""
        if self._frame is None:
            self._frame = self._origin.frame(self._t_env)
        return self._frame

    def execute(self) -> TableResult:
        """Run what the table is made of."""
        return TableResult(self.to_data_frame())


class TableResult:
    """The result of a query."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def collect(self) -> Iterator[Row]:
        """The rows, one by one."""
        names = self._frame.columns
        for found in self._frame.toLocalIterator():
            row = Row(*(_plain(value) for value in found))
            row.set_field_names(names)
            yield row

    def print(self) -> None:
        """Show all rows on standard output."""
        self._frame.show(self._frame.count(), truncate=False)

    def to_data_frame(self) -> Any:
        """The rows as a Spark DataFrame."""
        return self._frame


def _plain(value: Any) -> Any:
    """Spark's rows inside a value as ours."""
    return next((make(value) for cls, make in _PLAIN if isinstance(value, cls)), value)


def _plain_tuple(value: Any) -> Any:
    if not hasattr(value, "__fields__"):
        return value
    row = Row(*map(_plain, value))
    row.set_field_names(value.__fields__)
    return row


_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (tuple, _plain_tuple),
    (list, lambda items: [_plain(v) for v in items]),
    (dict, lambda entries: {_plain(k): _plain(v) for k, v in entries.items()}),
)


class _Stream:
    """A stream as a table: its job is run when the table is needed."""

    def __init__(self, stream: DataStream[Any], schema: TypeInformation | None) -> None:
        self._stream, self._schema = stream, schema

    def frame(self, t_env: StreamTableEnvironment) -> Any:
        return data_frame_of(self._stream, self._schema, alone=True)


class _Query:
    """A query as a table, over the views there were when it was written."""

    def __init__(self, query: str, views: Mapping[str, Table]) -> None:
        self._query, self._views = query, dict(views)

    def frame(self, t_env: StreamTableEnvironment) -> Any:
        from penstock.launch import queried_tables

        spark = t_env._session()
        wanted = queried_tables(spark, self._query)
        for name, table in self._views.items():
            if name.lower() in wanted:
                table.to_data_frame().createOrReplaceTempView(name)
        return spark.sql(self._query)


class StreamTableEnvironment:
    """SQL on the streams of an environment, by Spark SQL. Streams under a table must be bounded.

    A stream that becomes a table is run as a job of its own when the table is needed; its rows wait in Parquet
    files, not in memory.
    """

    def __init__(self, env: StreamExecutionEnvironment) -> None:
        self._env = env
        self._views: dict[str, Table] = {}
        self._spark: object = None

    @staticmethod
    def create(stream_execution_environment: StreamExecutionEnvironment) -> StreamTableEnvironment:
        """Tables beside the streams of an environment."""
        if not isinstance(stream_execution_environment, StreamExecutionEnvironment):
            raise TypeError(
                "StreamTableEnvironment.create() takes a StreamExecutionEnvironment, got "
                f"{type(stream_execution_environment).__name__}"
            )
        return StreamTableEnvironment(stream_execution_environment)

    def from_data_stream(self, data_stream: DataStream[Any], schema: TypeInformation | None = None) -> Table:
        """A stream of rows, tuples or objects as a table; columns from `schema` (a row type), else from the records."""
        if not isinstance(data_stream, DataStream):
            raise TypeError(f"from_data_stream() takes a DataStream, got {type(data_stream).__name__}")
        self._env._tabled.extend(upstream(f.source for f in data_stream._inputs))
        return Table(self, _Stream(data_stream, schema))

    def to_data_stream(self, table: Table) -> DataStream[Row]:
        """The rows of a table as a stream; the table is computed when the job starts."""
        if not isinstance(table, Table):
            raise TypeError(f"to_data_stream() takes a Table, got {type(table).__name__}")
        return self._env._add_source(DataFrameSource.when_started(table.to_data_frame), "Source: Table")

    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table | DataStream[Any], schema: TypeInformation | None = None
    ) -> None:
        """Give a table or stream a name for use in queries."""
        if not view_path.isidentifier():
            raise ProgramError(f"create_temporary_view(): {view_path!r} is no name: letters, digits and _ only")
        there = next((name for name in self._views if name.lower() == view_path.lower()), None)
        if there is not None:
            raise ProgramError(f"create_temporary_view(): there is a view {there!r} already: drop it first")
        if isinstance(table_or_data_stream, DataStream):
            self._views[view_path] = self.from_data_stream(table_or_data_stream, schema)
        else:
            self._views[view_path] = table_or_data_stream

    def drop_temporary_view(self, view_path: str) -> bool:
        """Forget a name; whether there was one. Case does not matter, as in queries."""
        there = next((name for name in self._views if name.lower() == view_path.lower()), view_path)
        return self._views.pop(there, None) is not None

    def sql_query(self, query: str) -> Table:
        """A query over views, in Spark's SQL; runs when its result is needed."""
        return Table(self, _Query(query, self._views))

    def execute_sql(self, stmt: str) -> TableResult:
        """Run a query now."""
        first = _FIRST_WORD.match(stmt)
        if first is None or first[1].upper() not in ("SELECT", "WITH", "VALUES"):
            raise ProgramError(
                f"execute_sql() runs queries (SELECT, WITH, VALUES), got {stmt[:60]!r}: create views with "
                "create_temporary_view(), write results with a sink"
            )
        return self.sql_query(stmt).execute()

    def _session(self) -> Any:
        if self._spark is None:
            self._spark = self._env.get_spark_session()
        return self._spark
