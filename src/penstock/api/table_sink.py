"""Spark tables as a sink: batches staged as Parquet files, appended once they are durable."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from penstock.connectors.files.buckets import BucketAssigner
from penstock.connectors.files.sink import FileSink, ParquetBulkWriters
from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.errors import ProgramError
from penstock.core.types.type_info import TypeInformation

__all__ = ["SparkTableSink"]


class SparkTableSink(Sink, SupportsCommitter):
    """Appends records to a table of Spark's catalog, which is created if it does not exist.

    Each batch is staged as Parquet files in `staging_path` (on a cluster: a folder that all machines share), and
    appended when it is durable. A driver that dies right between appending and noting it down appends that batch
    again: at-least-once then, each record once otherwise.

    >>> from penstock.core.types.type_info import Types
    >>> SparkTableSink("people", Types.ROW_NAMED(["name"], [Types.STRING()]), "/tmp/staging").table
    'people'
    """

    write_ahead = True

    def __init__(self, table: str, row_type: TypeInformation, staging_path: str) -> None:
        if not table or not isinstance(table, str):
            raise ProgramError(f"SparkTableSink: a table has a name, got {table!r}")
        if not getattr(row_type, "field_names", ()):
            raise ProgramError(
                f"SparkTableSink('{table}') takes a row type, got {row_type!r}: give Types.ROW_NAMED([...], [...])"
            )
        self.table = table
        self._files = (
            FileSink.for_bulk_format(staging_path, ParquetBulkWriters.for_row_type(row_type))
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .build()
        )
        self._folder = os.path.abspath(staging_path)

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        return self._files.create_writer(context)

    def create_committer(self) -> Committer:
        return StagedCommitter(self._files.create_committer(), self._folder, self._append)

    def _append(self, paths: Sequence[str]) -> None:
        from penstock.launch import append_to_table

        append_to_table(self.table, paths)


class StagedCommitter(Committer):
    """Publishes staged files, loads them, and empties them: an empty file is one that has been loaded."""

    def __init__(self, files: Committer, folder: str, load: Callable[[Sequence[str]], None]) -> None:
        self._files, self._folder, self._load = files, folder, load

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        self._files.commit(requests)
        waiting = [path for path in self._published() if os.path.getsize(path)]
        if waiting:
            self._load(waiting)
        for path in waiting:
            os.truncate(path, 0)

    def _published(self) -> list[str]:
        names = sorted(os.listdir(self._folder)) if os.path.isdir(self._folder) else []
        return [os.path.join(self._folder, n) for n in names if n.endswith(".parquet") and not n.startswith(".")]

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """Remove what has been loaded long ago, and what attempts that lost have left behind."""
        self._files.abandon_older_than(age_ms, now_ms)
        for path in self._published():
            if not os.path.getsize(path) and now_ms - os.path.getmtime(path) * 1000 > age_ms:
                os.unlink(path)

    def close(self) -> None:
        self._files.close()
