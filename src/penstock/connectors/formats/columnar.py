"""Parquet and ORC files, through Arrow: read by row group or stripe, written by batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, BinaryIO

from penstock.connectors.formats.arrow import arrow_schema, row_converter, table_of
from penstock.connectors.formats.arrow_types import in_microseconds, row_type_of
from penstock.connectors.formats.avro import AvroSchema
from penstock.connectors.formats.avro_columns import column_type, from_columns, to_columns
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.files import (
    BulkFormat,
    Extent,
    StreamFormat,
    check_unchanged,
    damaged,
    refuse_empty,
)
from penstock.core.config import Configuration
from penstock.core.config.compat import warn_once
from penstock.core.errors import RecordError, SourceError
from penstock.core.types.type_info import TypeInformation

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "OrcBulkWriters",
    "OrcColumnarRowInputFormat",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
]

Group = tuple[int, int]
"""Where a row group or stripe begins, and its rows."""


def _no_hadoop(setting: str, config: Configuration | None) -> None:
    if config is not None and config.to_dict():
        warn_once(setting)


class _ColumnarFormat(BulkFormat):
    """A unit is a row group or stripe: as much as is read into memory at once, at most."""

    def __init__(self, row_type: TypeInformation | None, batch_size: int, case_sensitive: bool = True) -> None:
        self._row_type = row_type
        self._batch_size = batch_size
        self._case_sensitive = case_sensitive

    @abstractmethod
    def _open(self, path: str) -> Any: ...

    @abstractmethod
    def _groups(self, file: object, size: int) -> list[Group]: ...

    @abstractmethod
    def _schema(self, file: object) -> Any: ...

    @abstractmethod
    def _batches(self, file: object, group: int, columns: list[str]) -> Iterator[Any]: ...

    def stop_for(self, extent: Extent, records: int) -> tuple[int, int]:
        """Whole groups, at least one."""
        refuse_empty(extent)
        with damaged(extent.path, Exception):
            groups = self._groups(self._open(extent.path), extent.size)
        taken = 0
        for begin, rows in groups:
            if begin >= extent.stop:
                break
            if begin < extent.first:
                continue
            if taken and taken + rows > records:
                return begin, taken
            taken += rows
        return extent.stop, taken

    def read(self, extent: Extent) -> Iterator[list[Any]]:
        check_unchanged(extent)
        refuse_empty(extent)
        batches = self._arrow_batches(extent)
        while True:
            with damaged(extent.path, Exception):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _arrow_batches(self, extent: Extent) -> Iterator[list[Any]]:
        file = self._open(extent.path)
        schema = self._schema(file)
        renamed = self._columns(schema.names, extent.path)
        convert = self._converter(schema, extent.path)
        for group, (begin, _) in enumerate(self._groups(file, extent.size)):
            if extent.first <= begin < extent.stop:
                for batch in self._batches(file, group, list(renamed)):
                    named = batch.rename_columns(list(renamed.values()))
                    yield list(map(convert, in_microseconds(named).to_pylist()))

    def _columns(self, found: list[str], path: str) -> dict[str, str]:
        """Columns of the file that are wanted, and the names they get."""
        if self._row_type is None:
            return {name: name for name in found}
        wanted = list(self._row_type.field_names)
        fold: Callable[[str], str] = str if self._case_sensitive else str.lower
        given = {fold(name): name for name in found}
        if not any(fold(name) in given for name in wanted):
            raise SourceError(f"{path} has the columns {found}, none of {wanted}")
        # in the order of the file, which is the one Arrow answers in
        pairs = {given[fold(name)]: name for name in wanted if fold(name) in given}
        return {name: pairs[name] for name in found if name in pairs}

    def _converter(self, schema: object, path: str) -> Callable[[Any], Any]:
        return row_converter(self._row_type if self._row_type is not None else row_type_of(schema, path))


class ParquetColumnarRowInputFormat(_ColumnarFormat):
    """Rows of Parquet files; a column that a file has not is None, without `row_type` it is all columns.

    Timestamps are read to the microsecond, also those in INT96, which Flink writes.

    >>> from penstock.core.types.type_info import Types
    >>> ParquetColumnarRowInputFormat(Types.ROW_NAMED(["a"], [Types.INT()])).splittable("x.parquet")
    True
    """

    def __init__(
        self,
        row_type: TypeInformation | None = None,
        hadoop_config: Configuration | None = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        super().__init__(row_type, batch_size, is_case_sensitive)
        _no_hadoop("ParquetColumnarRowInputFormat.hadoop_config", hadoop_config)

    def _open(self, path: str) -> Any:
        from pyarrow.parquet import ParquetFile

        # Flink writes timestamps as INT96, which Arrow reads in nanoseconds unless told: those end in the year 2262
        return ParquetFile(path, coerce_int96_timestamp_unit="us")

    def _groups(self, file: Any, size: int) -> list[Group]:
        return [_row_group(file.metadata.row_group(i)) for i in range(file.metadata.num_row_groups)]

    def _schema(self, file: Any) -> Any:
        return file.schema_arrow

    def _batches(self, file: Any, group: int, columns: list[str]) -> Iterator[Any]:
        yield from file.iter_batches(self._batch_size, row_groups=[group], columns=columns)


def _row_group(group: Any) -> Group:
    column = group.column(0)
    offsets = [o for o in (column.dictionary_page_offset, column.data_page_offset) if o]
    return min(offsets), group.num_rows


class OrcColumnarRowInputFormat(_ColumnarFormat):
    """Rows of ORC files; Java's name, PyFlink reads none.

    >>> OrcColumnarRowInputFormat().splittable("x.orc")
    True
    """

    def __init__(
        self, row_type: TypeInformation | None = None, batch_size: int = 2048, is_case_sensitive: bool = True
    ) -> None:
        super().__init__(row_type, batch_size, is_case_sensitive)

    def _open(self, path: str) -> Any:
        from pyarrow.orc import ORCFile

        return ORCFile(path)

    def _groups(self, file: Any, size: int) -> list[Group]:
        """Arrow does not say where a stripe begins: stripes are laid out evenly over the file."""
        return [(i * size // file.nstripes, file.nrows // file.nstripes) for i in range(file.nstripes)]

    def _schema(self, file: Any) -> Any:
        return file.schema

    def _batches(self, file: Any, group: int, columns: list[str]) -> Iterator[Any]:
        stripe = file.read_stripe(group, columns)
        for first in range(0, stripe.num_rows, self._batch_size):
            yield stripe.slice(first, self._batch_size)


class _GenericParquet(ParquetColumnarRowInputFormat, StreamFormat):
    """Parquet files to dicts, as Avro's generic records are."""

    def __init__(self, schema: AvroSchema) -> None:
        super().__init__(column_type(schema.parsed, schema.named))
        self._avro = schema

    def _converter(self, schema: object, path: str) -> Callable[[Any], Any]:
        convert = super()._converter(schema, path)
        restore = from_columns(self._avro.parsed, self._avro.named)
        return lambda value: restore(convert(value).as_dict(True))


class AvroParquetReaders:
    """Parquet files as Avro records.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    >>> AvroParquetReaders.for_generic_record(schema).splittable("x.parquet")
    True
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Dicts with the fields of the schema."""
        return _GenericParquet(schema)


# -- writing -------------------------------------------------------------------------------------------


class _ColumnarFactory(BulkWriterFactory):
    form = ""

    def __init__(self, row_type: TypeInformation | None, options: dict[str, Any] | None = None) -> None:
        self._row_type = row_type
        self._options = options or {}

    @abstractmethod
    def _open(self, file: BinaryIO, schema: object) -> Any: ...

    @abstractmethod
    def _write(self, writer: object, table: object) -> None: ...

    @cached_property
    def _schema(self) -> Any:
        return arrow_schema(self._row_type, self.form) if self._row_type is not None else None

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        schema, writer = state or (self._schema, None)
        table = table_of(values, schema, self._row_type, self.form)
        writer = writer or self._open(file, table.schema)
        self._write(writer, table)
        return table.schema, writer

    def finish(self, state: Any) -> None:
        state[1].close()


class _ParquetFactory(_ColumnarFactory):
    suffix, form = ".parquet", "Parquet"

    def _open(self, file: BinaryIO, schema: object) -> Any:
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(file, schema, **self._options)

    def _write(self, writer: Any, table: Any) -> None:
        writer.write_table(table)


class _AvroParquetFactory(_ParquetFactory):
    def __init__(self, schema: AvroSchema) -> None:
        super().__init__(column_type(schema.parsed, schema.named))
        self._avro = schema

    @cached_property
    def _prepare(self) -> Callable[[Any], Any]:
        return to_columns(self._avro.parsed, self._avro.named)

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        return super().write(file, [self._prepared(value) for value in values], state)

    def _prepared(self, value: object) -> Any:
        try:
            return self._prepare(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise RecordError(f"the record {value!r:.200} cannot be written as Parquet: {error}") from error

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_prepare", "_schema")}


class _OrcFactory(_ColumnarFactory):
    suffix, form = ".orc", "ORC"

    def _open(self, file: BinaryIO, schema: object) -> Any:
        from pyarrow.orc import ORCWriter

        return ORCWriter(file, **self._options)

    def _write(self, writer: Any, table: Any) -> None:
        import pyarrow

        try:
            writer.write(table)
        except (pyarrow.ArrowException, NotImplementedError) as error:
            where = next((f"column {f.name!r}: " for f in table.schema if _orc_refuses(table, f.name)), "")
            raise RecordError(f"records cannot be written as ORC: {where}{error}") from error


def _orc_refuses(table: Any, column: str) -> bool:
    """Whether a column alone cannot be written: ORC does not say which one it was."""
    import pyarrow
    from pyarrow import orc

    try:
        orc.write_table(table.select([column]), pyarrow.BufferOutputStream())
    except (pyarrow.ArrowException, NotImplementedError):
        return True
    return False


class ParquetBulkWriters:
    """Parquet files.

    >>> ParquetBulkWriters.for_row_type().suffix
    '.parquet'
    """

    @staticmethod
    def for_row_type(
        row_type: TypeInformation | None = None,
        hadoop_config: Configuration | None = None,
        utc_timestamp: bool = False,
    ) -> BulkWriterFactory:
        """Columns from a row type; without one, from the first records. Timestamps are written as they are."""
        _no_hadoop("ParquetBulkWriters.hadoop_config", hadoop_config)
        return _ParquetFactory(row_type)


class AvroParquetWriters:
    """Parquet files with the columns of an Avro schema.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    >>> AvroParquetWriters.for_generic_record(schema).suffix
    '.parquet'
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write Parquet files of dicts or rows with the columns of this Avro schema."""
        return _AvroParquetFactory(schema)


_ORC_OPTIONS = {
    "orc.compress": "compression",
    "orc.stripe.size": "stripe_size",
    "orc.row.index.stride": "row_index_stride",
}


class OrcBulkWriters:
    """ORC files.

    >>> from penstock.core.types.type_info import Types
    >>> OrcBulkWriters.for_row_type(Types.ROW_NAMED(["a"], [Types.INT()])).suffix
    '.orc'
    """

    @staticmethod
    def for_row_type(
        row_type: TypeInformation,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Columns from a row type. Properties: `orc.compress`, `orc.stripe.size`, `orc.row.index.stride`."""
        if not isinstance(row_type, TypeInformation):
            raise TypeError("row_type must be an instance of RowType")
        _no_hadoop("OrcBulkWriters.hadoop_config", hadoop_config)
        return _OrcFactory(row_type, _orc_options(writer_properties))


def _orc_options(properties: Configuration | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in (properties.to_dict() if properties is not None else {}).items():
        if key not in _ORC_OPTIONS:
            warn_once("OrcBulkWriters.writer_properties")
        elif key == "orc.compress":
            options["compression"] = "uncompressed" if str(value).lower() == "none" else str(value).lower()
        else:
            options[_ORC_OPTIONS[key]] = int(value)
    return options
