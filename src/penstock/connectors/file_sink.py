"""The exactly-once file sink: hidden files while a batch runs, renamed once it is durable (F6).

Readers that ignore hidden files never see a record that was not committed, nor one twice.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from penstock.connectors.buckets import (
    BucketAssigner,
    BucketContext,
    FileCompactor,
    FileCompactStrategy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from penstock.connectors.encoders import Encoder
from penstock.connectors.file_listing import local_path
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.columnar import ParquetBulkWriters
from penstock.core.compat import warn_once
from penstock.core.errors import SinkError
from penstock.core.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)

__all__ = [
    "BulkWriterFactory",
    "Encoder",
    "FileSink",
    "FileSinkBuilder",
    "OutputFileConfig",
    "ParquetBulkWriters",
    "StreamingFileSink",
]

_IN_PROGRESS = ".inprogress"
_OPEN_FILES = 100
"""Files that a writer keeps open; beyond it the one that was not written to for longest is closed."""

Format = Encoder | BulkWriterFactory


@dataclass(frozen=True, slots=True)
class OutputFileConfig:
    """Names of the files: prefix and suffix.

    >>> OutputFileConfig.builder().with_part_prefix("clicks").build().part_prefix
    'clicks'
    """

    part_prefix: str = "part"
    part_suffix: str = ""

    @staticmethod
    def builder() -> OutputFileConfigBuilder:
        return OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        return self.part_prefix

    def get_part_suffix(self) -> str:
        return self.part_suffix


class OutputFileConfigBuilder:
    """Builds an `OutputFileConfig`."""

    def __init__(self) -> None:
        self._prefix, self._suffix = "part", ""

    def with_part_prefix(self, prefix: str) -> OutputFileConfigBuilder:
        self._prefix = prefix
        return self

    def with_part_suffix(self, suffix: str) -> OutputFileConfigBuilder:
        self._suffix = suffix
        return self

    def build(self) -> OutputFileConfig:
        return OutputFileConfig(self._prefix, self._suffix)


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """The committable: a complete hidden file and the name it gets."""

    hidden: str
    final: str


class FileSink(Sink, SupportsCommitter):
    """Writes records to files in a folder, or in folders below it (buckets), exactly once.

    >>> FileSink.for_row_format("/tmp/out", Encoder.json_encoder()).build().base_path
    '/tmp/out'
    """

    def __init__(
        self,
        base_path: str,
        fmt: Format,
        config: OutputFileConfig,
        assigner: BucketAssigner | None = None,
        policy: RollingPolicy | None = None,
    ) -> None:
        self.base_path = os.path.abspath(local_path(base_path, "FileSink"))
        self._format = fmt
        self._config = config
        self._assigner = assigner
        self._part_size = policy.part_size if policy is not None else None

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSinkBuilder:
        return FileSinkBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSinkBuilder:
        return FileSinkBuilder(base_path, writer_factory)

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        suffix = self._config.part_suffix or self._format.suffix
        name = f"{self._config.part_prefix}-{context.subtask_index}-{context.batch_id}-{context.attempt_id[:12]}"
        files = _PartFiles(self.base_path, name, suffix, self._format, self._part_size)
        return _FileWriter(files, self._assigner, context.processing_time_ms)

    def create_committer(self) -> Committer:
        return _FileCommitter(self.base_path)


class FileSinkBuilder:
    """Builds a `FileSink`. Without an assigner all files are written to the base path."""

    def __init__(self, base_path: str, fmt: Format) -> None:
        self._base_path, self._format = base_path, fmt
        self._config = OutputFileConfig()
        self._assigner: BucketAssigner | None = None
        self._policy: RollingPolicy = (
            RollingPolicy.default_rolling_policy() if isinstance(fmt, Encoder) else OnCheckpointRollingPolicy()
        )

    def with_output_file_config(self, output_file_config: OutputFileConfig) -> FileSinkBuilder:
        self._config = output_file_config
        return self

    def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> FileSinkBuilder:
        """Which folder a record goes to."""
        if not isinstance(bucket_assigner, BucketAssigner):
            raise TypeError(f"with_bucket_assigner() takes a BucketAssigner, got {type(bucket_assigner).__name__}")
        self._assigner = bucket_assigner
        return self

    def with_rolling_policy(self, rolling_policy: RollingPolicy) -> FileSinkBuilder:
        """How large a file may grow within a batch; at its end all files are closed."""
        if not isinstance(self._format, Encoder) and not isinstance(rolling_policy, OnCheckpointRollingPolicy):
            raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
        self._policy = rolling_policy
        return self

    def with_bucket_check_interval(self, interval: int) -> FileSinkBuilder:
        warn_once("FileSink.with_bucket_check_interval", "files are closed at the end of every micro-batch")
        return self

    def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> FileSinkBuilder:
        """Files are not joined: what a batch wrote stays as it is."""
        warn_once(
            "FileSink.enable_compact",
            "files are published as they were written; for fewer files take a lower sink parallelism or longer batches",
        )
        return self

    def disable_compact(self) -> FileSinkBuilder:
        """The way it is."""
        return self

    def build(self) -> FileSink:
        return FileSink(self._base_path, self._format, self._config, self._assigner, self._policy)


class StreamingFileSink(FileSink):
    """The older name of `FileSink`.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = StreamingFileSink.for_row_format("/tmp/out", Encoder.json_encoder())
    >>> str(caught[0].message)
    'Deprecated in 1.15. Use FileSink instead.'
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSinkBuilder:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        return FileSinkBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSinkBuilder:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        return FileSinkBuilder(base_path, writer_factory)


# -- writing, in workers -------------------------------------------------------------------------------


class _Part:
    """One file that is being written."""

    def __init__(self, prepared: PreparedFile, fmt: Format) -> None:
        os.makedirs(os.path.dirname(prepared.final), exist_ok=True)
        self.prepared = prepared
        self._format = fmt
        self._state: Any = None
        self._file: BinaryIO = open(prepared.hidden, "wb")  # noqa: SIM115 - closed by finish or abandon

    def write(self, values: Sequence[Any]) -> None:
        if isinstance(self._format, Encoder):
            self._file.write(b"".join(map(self._format.encode, values)))
        else:
            self._state = self._format.write(self._file, values, self._state)

    def size(self) -> int:
        return self._file.tell()

    def finish(self) -> None:
        if isinstance(self._format, BulkWriterFactory) and self._state is not None:
            self._format.finish(self._state)
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def abandon(self) -> None:
        self._file.close()


class _PartFiles:
    """The files of one writer, at most one at a time in each bucket."""

    def __init__(self, base_path: str, name: str, suffix: str, fmt: Format, part_size: int | None) -> None:
        self._base_path, self._name, self._suffix = base_path, name, suffix
        self._format, self._part_size = fmt, part_size
        self._open: dict[str, _Part] = {}
        self._done: list[PreparedFile] = []
        self._count = 0

    def write(self, bucket: str, values: Sequence[Any]) -> None:
        """Append to the bucket's file; a file that has its size is closed, to the record."""
        if self._part_size is None or not isinstance(self._format, Encoder):
            self._part(bucket).write(values)
            return
        for value in values:
            part = self._part(bucket)
            part.write([value])
            if part.size() >= self._part_size:
                self._close(bucket)

    def _part(self, bucket: str) -> _Part:
        part = self._open.pop(bucket, None)
        if part is None:
            if len(self._open) >= _OPEN_FILES:
                self._close(next(iter(self._open)))
            part = _Part(self._next_names(bucket), self._format)
        self._open[bucket] = part  # the one written to last is last
        return part

    def _next_names(self, bucket: str) -> PreparedFile:
        folder = os.path.join(self._base_path, bucket) if bucket else self._base_path
        number = f"-{self._count}" if self._count else ""
        self._count += 1
        name = f"{self._name}{number}{self._suffix}"
        return PreparedFile(os.path.join(folder, f".{name}{_IN_PROGRESS}"), os.path.join(folder, name))

    def _close(self, bucket: str) -> None:
        part = self._open.pop(bucket)
        part.finish()
        self._done.append(part.prepared)

    def finish(self) -> list[PreparedFile]:
        for bucket in list(self._open):
            self._close(bucket)
        return self._done

    def abandon(self) -> None:
        for part in self._open.values():
            part.abandon()


class _FileWriter(SinkWriter):
    def __init__(self, files: _PartFiles, assigner: BucketAssigner | None, processing_time_ms: int) -> None:
        self._files = files
        self._assigner = assigner
        self._time_ms = processing_time_ms

    def write(self, value: Any, timestamp: int | None) -> None:
        self.write_all([value], [timestamp])

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        for bucket, members in self._by_bucket(values, timestamps):
            self._files.write(bucket, members)

    def _by_bucket(
        self, values: Sequence[Any], timestamps: Sequence[int | None] | None
    ) -> Iterator[tuple[str, Sequence[Any]]]:
        if self._assigner is None:
            yield "", values
            return
        buckets: dict[str, list[Any]] = {}
        for i, value in enumerate(values):
            context = BucketContext(self._time_ms, timestamps[i] if timestamps is not None else None)
            buckets.setdefault(_checked(self._assigner.get_bucket_id(value, context)), []).append(value)
        yield from buckets.items()

    def prepare_commit(self) -> list[Any]:
        return self._files.finish()

    def close(self) -> None:
        self._files.abandon()


def _checked(bucket: Any) -> str:
    parts = bucket.split("/") if isinstance(bucket, str) else [".."]
    if any(p in ("..", ".") or (p.startswith((".", "_")) and p) for p in parts) or (bucket and not all(parts)):
        raise SinkError(
            f"FileSink: {bucket!r} is no bucket: it must be a path below the sink's folder, without hidden parts"
        )
    return str(bucket)


# -- committing, on the driver -------------------------------------------------------------------------


class _FileCommitter(Committer):
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            _rename(request.get_committable())

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """Remove hidden files of attempts that lost."""
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                if name.startswith(".") and name.endswith(_IN_PROGRESS) and _age_ms(path, now_ms) > age_ms:
                    os.unlink(path)


def _age_ms(path: str, now_ms: int) -> float:
    return now_ms - os.path.getmtime(path) * 1000


def _rename(prepared: PreparedFile) -> None:
    try:
        os.rename(prepared.hidden, prepared.final)
    except FileNotFoundError:
        if not os.path.exists(prepared.final):
            raise SinkError(
                f"FileSink: neither {prepared.hidden} nor {prepared.final} exists, so a prepared file was removed "
                "before it was committed. Files of a running job must not be deleted or moved"
            ) from None
