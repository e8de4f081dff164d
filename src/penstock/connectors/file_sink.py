"""The exactly-once file sink: hidden files while a batch runs, renamed once it is durable (F6).

Readers that ignore hidden files never see a record that was not committed, nor one twice.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from penstock.core.errors import RecordError, SinkError
from penstock.core.row import Row
from penstock.core.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.types import TypeInformation

__all__ = ["BulkWriterFactory", "Encoder", "FileSink", "OutputFileConfig", "ParquetBulkWriters"]

_IN_PROGRESS = ".inprogress"


class Encoder:
    """Turns one record into the bytes of one line."""

    def __init__(self, encode: Callable[[Any], bytes], suffix: str = "") -> None:
        self.encode = encode
        self.suffix = suffix

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder:
        """`str(record)`, one a line."""
        return Encoder(_TextEncoder(charset_name))

    @staticmethod
    def json_encoder() -> Encoder:
        """One JSON value a line; rows, named tuples and dataclasses become objects."""
        return Encoder(_json_line, ".json")

    @staticmethod
    def csv_encoder() -> Encoder:
        """Fields of a tuple, row, dataclass or list, quoted where needed."""
        return Encoder(_csv_line, ".csv")


class _TextEncoder:
    def __init__(self, charset: str) -> None:
        self._charset = charset

    def __call__(self, value: Any) -> bytes:
        return str(value).encode(self._charset) + b"\n"


def _json_line(value: Any) -> bytes:
    try:
        return json.dumps(_plain(value), ensure_ascii=False, default=str).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise RecordError(f"the record {value!r:.200} cannot be written as JSON: {error}") from error


def _csv_line(value: Any) -> bytes:
    plain = _plain(value)
    fields = list(plain.values()) if isinstance(plain, dict) else plain
    if not isinstance(fields, (list, tuple)):
        raise RecordError(
            f"the record {value!r:.200} cannot be written as CSV: it must have fields (tuple, Row, dataclass)"
        )
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue().encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(True) if value._fields is not None else list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    return value


class BulkWriterFactory(ABC):
    """Writes whole batches of records to a file."""

    suffix = ""

    @abstractmethod
    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        """Write records; what it returns is handed to the next call for the same file."""

    @abstractmethod
    def finish(self, state: Any) -> None:
        """The file is complete."""


class ParquetBulkWriters:
    """Parquet files."""

    @staticmethod
    def for_row_type(row_type: TypeInformation | None = None) -> BulkWriterFactory:
        """Columns from a row type; without one, from the first records."""
        return _ParquetFactory(row_type)


class _ParquetFactory(BulkWriterFactory):
    suffix = ".parquet"

    def __init__(self, row_type: TypeInformation | None) -> None:
        self._row_type = row_type

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        import pyarrow
        from pyarrow import parquet

        schema = state.schema if state is not None else self._schema()
        names = schema.names if schema is not None else _field_names(values[0])
        try:
            table = pyarrow.Table.from_pylist([_record(v, names) for v in values], schema=schema)
        except (pyarrow.ArrowException, TypeError, ValueError) as error:
            raise RecordError(f"records cannot be written as Parquet: {error}") from error
        writer = state if state is not None else parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)
        return writer

    def finish(self, state: Any) -> None:
        state.close()

    def _schema(self) -> Any:
        import pyarrow

        if self._row_type is None:
            return None
        names, types = self._row_type.field_names, self._row_type.params
        return pyarrow.schema([(n, _arrow_type(t)) for n, t in zip(names, types, strict=True)])


def _field_names(value: Any) -> list[str]:
    """The columns, from the first record: names of its fields, or f0, f1, …"""
    plain = _plain(value)
    if isinstance(plain, dict):
        return list(plain)
    if isinstance(plain, (tuple, list)):
        return [f"f{i}" for i in range(len(plain))]
    raise RecordError(f"the record {value!r:.200} cannot be written as Parquet: it must have fields")


def _record(value: Any, names: list[str]) -> Mapping[str, Any]:
    """The record by column; nothing of it may be dropped in silence."""
    plain = _plain(value)
    fields = list(plain) if isinstance(plain, dict) else names if isinstance(plain, (tuple, list)) else None
    if fields is None:
        raise RecordError(f"the record {value!r:.200} cannot be written as Parquet: it must have fields")
    if isinstance(plain, dict):
        if unknown := sorted(set(fields) - set(names)):
            raise RecordError(f"the record {value!r:.200} has fields {unknown} that the schema {names} has not")
        return plain
    if len(names) != len(plain):
        raise RecordError(f"the record {value!r:.200} has {len(plain)} fields, the schema {len(names)}")
    return dict(zip(names, plain, strict=True))


def _arrow_type(info: TypeInformation) -> Any:
    import pyarrow

    simple = {
        "STRING": pyarrow.string(),
        "BOOLEAN": pyarrow.bool_(),
        "BYTE": pyarrow.int8(),
        "SHORT": pyarrow.int16(),
        "INT": pyarrow.int32(),
        "LONG": pyarrow.int64(),
        "FLOAT": pyarrow.float32(),
        "DOUBLE": pyarrow.float64(),
        "SQL_DATE": pyarrow.date32(),
        "SQL_TIMESTAMP": pyarrow.timestamp("us"),
        "PICKLED_BYTE_ARRAY": pyarrow.binary(),
    }
    if info.name in simple:
        return simple[info.name]
    if info.name in ("LIST", "BASIC_ARRAY", "PRIMITIVE_ARRAY", "OBJECT_ARRAY"):
        return pyarrow.list_(_arrow_type(info.params[0]))
    if info.name == "MAP":
        return pyarrow.map_(_arrow_type(info.params[0]), _arrow_type(info.params[1]))
    if info.name == "ROW":
        return pyarrow.struct([(n, _arrow_type(t)) for n, t in zip(info.field_names, info.params, strict=True)])
    raise SinkError(f"Parquet has no type for {info.name}")


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
    """Writes records to files in a folder, exactly once."""

    def __init__(self, base_path: str, fmt: Encoder | BulkWriterFactory, config: OutputFileConfig) -> None:
        self.base_path = os.path.abspath(base_path.removeprefix("file://"))
        self._format = fmt
        self._config = config

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSinkBuilder:
        return FileSinkBuilder(base_path, encoder)

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSinkBuilder:
        return FileSinkBuilder(base_path, writer_factory)

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        suffix = self._config.part_suffix or self._format.suffix
        name = (
            f"{self._config.part_prefix}-{context.subtask_index}-{context.batch_id}-{context.attempt_id[:12]}{suffix}"
        )
        return _FileWriter(self.base_path, name, self._format)

    def create_committer(self) -> Committer:
        return _FileCommitter(self.base_path)


class FileSinkBuilder:
    """Builds a `FileSink`."""

    def __init__(self, base_path: str, fmt: Encoder | BulkWriterFactory) -> None:
        self._base_path, self._format = base_path, fmt
        self._config = OutputFileConfig()

    def with_output_file_config(self, output_file_config: OutputFileConfig) -> FileSinkBuilder:
        self._config = output_file_config
        return self

    def build(self) -> FileSink:
        return FileSink(self._base_path, self._format, self._config)


class _FileWriter(SinkWriter):
    def __init__(self, folder: str, name: str, fmt: Encoder | BulkWriterFactory) -> None:
        os.makedirs(folder, exist_ok=True)
        self._prepared = PreparedFile(os.path.join(folder, f".{name}{_IN_PROGRESS}"), os.path.join(folder, name))
        self._format = fmt
        self._bulk: Any = None
        self._file: BinaryIO = open(self._prepared.hidden, "wb")  # noqa: SIM115 - closed by prepare_commit or close

    def write(self, value: Any, timestamp: int | None) -> None:
        self.write_all([value], None)

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        if isinstance(self._format, Encoder):
            self._file.write(b"".join(map(self._format.encode, values)))
        else:
            self._bulk = self._format.write(self._file, values, self._bulk)

    def prepare_commit(self) -> list[Any]:
        if isinstance(self._format, BulkWriterFactory) and self._bulk is not None:
            self._format.finish(self._bulk)
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return [self._prepared]

    def close(self) -> None:
        self._file.close()


class _FileCommitter(Committer):
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            _rename(request.get_committable())

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """Remove hidden files of attempts that lost."""
        if not os.path.isdir(self._folder):
            return
        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if name.startswith(".") and name.endswith(_IN_PROGRESS) and now_ms - os.path.getmtime(path) * 1000 > age_ms:
                os.unlink(path)


def _rename(prepared: PreparedFile) -> None:
    try:
        os.rename(prepared.hidden, prepared.final)
    except FileNotFoundError:
        if not os.path.exists(prepared.final):
            raise SinkError(
                f"FileSink: neither {prepared.hidden} nor {prepared.final} exists, so a prepared file was removed "
                "before it was committed. Files of a running job must not be deleted or moved"
            ) from None
