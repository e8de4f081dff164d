"""The exactly-once file sink: hidden files while a batch runs, renamed once it is durable.

Readers that ignore hidden files never see a record that was not committed, nor one twice.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import ClassVar, Generic, Self

from penstock.connectors.files.buckets import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from penstock.connectors.files.encoders import Encoder
from penstock.connectors.files.listing import local_path
from penstock.connectors.files.writer import FileCommitter, FileWriter, Format, PartFiles
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.columnar import ParquetBulkWriters
from penstock.core.config.compat import warn_once
from penstock.core.contracts.sink import Committer, Sink, SinkWriter, SupportsCommitter, WriterInitContext
from penstock.core.errors import ProgramError
from penstock.core.functions.sink import SinkFunction
from penstock.core.types.type_variables import IN, T

__all__ = [
    "BulkWriterFactory",
    "Encoder",
    "FileSink",
    "FileSinkBuilder",
    "OutputFileConfig",
    "ParquetBulkWriters",
    "StreamingFileSink",
]


class _OutputFileConfigBuilder:
    """Builds an `OutputFileConfig`."""

    def __init__(self) -> None:
        self._prefix, self._suffix = "part", ""

    def with_part_prefix(self, prefix: str) -> _OutputFileConfigBuilder:
        self._prefix = prefix
        return self

    def with_part_suffix(self, suffix: str) -> _OutputFileConfigBuilder:
        self._suffix = suffix
        return self

    def build(self) -> OutputFileConfig:
        return OutputFileConfig(self._prefix, self._suffix)


@dataclass(frozen=True, slots=True)
class OutputFileConfig:
    """Names of the files: prefix and suffix.

    >>> OutputFileConfig.builder().with_part_prefix("clicks").build().part_prefix
    'clicks'
    """

    part_prefix: str = "part"
    part_suffix: str = ""

    def __post_init__(self) -> None:
        for name in ("part_prefix", "part_suffix"):
            given = getattr(self, name)
            if not isinstance(given, str) or any(mark in given for mark in "/\\\0"):
                raise ProgramError(
                    f"OutputFileConfig: {name} is a part of a file's name, without slashes, got {given!r}. To write "
                    "into folders use FileSink's with_bucket_assigner()"
                )

    OutputFileConfigBuilder: ClassVar = _OutputFileConfigBuilder

    @staticmethod
    def builder() -> _OutputFileConfigBuilder:
        """Begin names of part files."""
        return _OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """What the names of files begin with."""
        return self.part_prefix

    def get_part_suffix(self) -> str:
        """What the names of files end with."""
        return self.part_suffix


class FileSinkBuilder(Generic[T]):
    """Builds a `FileSink`. Without an assigner files are written to a folder for each hour, `yyyy-MM-dd--HH`."""

    def __init__(self, base_path: str, fmt: Format[T]) -> None:
        self._base_path, self._format = base_path, fmt
        self._config = OutputFileConfig()
        self._assigner: BucketAssigner[T] = BucketAssigner.date_time_bucket_assigner()
        self._policy: RollingPolicy = (
            RollingPolicy.default_rolling_policy() if isinstance(fmt, Encoder) else OnCheckpointRollingPolicy()
        )

    def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
        """The prefix and suffix of the files' names."""
        self._config = output_file_config
        return self

    def with_bucket_assigner(self, bucket_assigner: BucketAssigner[T]) -> Self:
        """Which folder a record goes to."""
        if not isinstance(bucket_assigner, BucketAssigner):
            raise TypeError(f"with_bucket_assigner() takes a BucketAssigner, got {type(bucket_assigner).__name__}")
        self._assigner = bucket_assigner
        return self

    def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
        """How large a file may grow within a batch; at its end all files are closed."""
        self._policy = rolling_policy
        return self

    def with_bucket_check_interval(self, interval: int) -> Self:
        """Accepted without effect: files are looked at with every batch."""
        warn_once("FileSink.with_bucket_check_interval")
        return self

    def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Self:
        """Files are not joined: what a batch wrote stays as it is."""
        warn_once("FileSink.enable_compact")
        return self

    def disable_compact(self) -> Self:
        """The way it is."""
        return self

    def build(self) -> FileSink[T]:
        """The finished sink."""
        return FileSink(self._base_path, self._format, self._config, self._assigner, self._policy)


class RowFormatSinkBuilder(FileSinkBuilder[T]):
    """Builds a `FileSink` of lines."""


class BulkFormatSinkBuilder(FileSinkBuilder[T]):
    """Builds a `FileSink` of files that are written as a whole: they cannot be closed at a size."""

    def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Self:
        if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
            raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
        return super().with_rolling_policy(rolling_policy)


class _OldBuilder(FileSinkBuilder[T]):
    def build(self) -> StreamingFileSink[T]:
        return StreamingFileSink(self._base_path, self._format, self._config, self._assigner, self._policy)

    def with_rolling_policy(self, policy: RollingPolicy) -> Self:
        return super().with_rolling_policy(policy)


class _OldBulkBuilder(_OldBuilder[T]):
    def with_rolling_policy(self, policy: RollingPolicy) -> Self:
        if not isinstance(policy, OnCheckpointRollingPolicy):
            raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
        return super().with_rolling_policy(policy)


class FileSink(Sink[IN], SupportsCommitter):
    """Writes records to files in folders below one (buckets), exactly once. A bucket is an hour, unless said otherwise.

    >>> FileSink.for_row_format("/tmp/out", Encoder.json_encoder()).build().base_path
    '/tmp/out'
    """

    BaseBuilder = FileSinkBuilder
    RowFormatBuilder = RowFormatSinkBuilder
    BulkFormatBuilder = BulkFormatSinkBuilder

    def __init__(
        self,
        base_path: str,
        fmt: Format[IN],
        config: OutputFileConfig,
        assigner: BucketAssigner[IN],
        policy: RollingPolicy,
    ) -> None:
        self.base_path = os.path.abspath(local_path(base_path, "FileSink"))
        self._format = fmt
        self._config = config
        self._assigner = assigner
        self._part_size = policy.part_size

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder[T]) -> RowFormatSinkBuilder[T]:
        """A sink that writes record by record with an encoder."""
        return RowFormatSinkBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory[T]) -> BulkFormatSinkBuilder[T]:
        """A sink for columnar and other block formats; files are closed with every checkpoint."""
        return BulkFormatSinkBuilder(base_path, writer_factory)

    def create_writer(self, context: WriterInitContext) -> SinkWriter[IN]:
        suffix = self._config.part_suffix or self._format.suffix
        name = f"{self._config.part_prefix}-{context.subtask_index}-{context.batch_id}-{context.attempt_id[:12]}"
        files = PartFiles(self.base_path, name, suffix, self._format, self._part_size)
        return FileWriter(files, self._assigner, context.processing_time_ms)

    def create_committer(self) -> Committer:
        return FileCommitter(self.base_path)


class StreamingFileSink(FileSink[IN], SinkFunction[IN]):
    """The older name of `FileSink`, for `add_sink`.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = StreamingFileSink.for_row_format("/tmp/out", Encoder.json_encoder())
    >>> str(caught[0].message)
    'Deprecated in 1.15. Use FileSink instead.'
    """

    idempotent = False

    BaseBuilder = _OldBuilder
    DefaultRowFormatBuilder = _OldBuilder
    DefaultBulkFormatBuilder = _OldBulkBuilder

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder[T]) -> _OldBuilder[T]:  # type: ignore[override]
        """As `FileSink.for_row_format`, for `add_sink`."""
        _say_old()
        return _OldBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(  # type: ignore[override]
        base_path: str, writer_factory: BulkWriterFactory[T]
    ) -> _OldBulkBuilder[T]:
        """As `FileSink.for_bulk_format`, for `add_sink`."""
        _say_old()
        return _OldBulkBuilder(base_path, writer_factory)

    def invoke(self, value: IN, context: SinkFunction.Context) -> None:
        """Never called: the job runs it as the `Sink` that it is."""
        raise NotImplementedError("StreamingFileSink writes through its writer, not record by record")


def _say_old() -> None:
    warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=3)
