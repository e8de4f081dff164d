"""Flink's Java writers of Parquet files, on Arrow: columns as Flink lays them out, with timestamps in INT96."""

from __future__ import annotations

import datetime
from decimal import ROUND_HALF_UP, Decimal
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.common.time import Instant
from penstock.core.types.type_info import TypeInformation
from tests.parity.pyflink_suite.stand_in.avro_files import JavaSchema, Record

_EPOCH = datetime.datetime(1970, 1, 1)


class _Writer:
    """Writes a file on `finish`."""

    def __init__(self, path: str, schema: pa.Schema, convert: Any) -> None:
        self._path, self._schema, self._convert = path, schema, convert
        self._records: list[dict[str, Any]] = []

    def addElement(self, element: Any) -> None:
        self._records.append(self._convert(element))

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        table = pa.Table.from_pylist(self._records, self._schema)
        pq.write_table(table, self._path, use_deprecated_int96_timestamps=True)


# -- records of Avro: a null has no column, a union is a group of members; lists are of Arrow's three levels ---------

_PRIMITIVES = {
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "enum": pa.string(),
    "float": pa.float32(),
    "int": pa.int32(),
    "long": pa.int64(),
    "string": pa.string(),
}


def _avro_column(schema: Any) -> pa.DataType:
    if isinstance(schema, list):
        parts = [part for part in schema if part != "null"]
        return pa.struct([(f"member{i}", _avro_column(part)) for i, part in enumerate(parts)])
    if not isinstance(schema, dict):
        return _PRIMITIVES[schema]
    if schema["type"] == "record":
        return pa.struct(_avro_fields(schema))
    if schema["type"] == "array":
        return pa.list_(_avro_column(schema["items"]))
    if schema["type"] == "map":
        return pa.map_(pa.string(), _avro_column(schema["values"]))
    return _PRIMITIVES[schema["type"]]


def _avro_fields(schema: Any) -> list[tuple[str, pa.DataType]]:
    return [(field["name"], _avro_column(field["type"])) for field in schema["fields"] if field["type"] != "null"]


def _avro_values(schema: JavaSchema, record: Record) -> dict[str, Any]:
    types = {field["name"]: field["type"] for field in schema["fields"]}
    return {name: _member(types[name], value) for name, value in record.items()}


def _member(schema: Any, value: Any) -> Any:
    """A value of a union of int and double in its member; any other as it is."""
    if isinstance(value, dict):
        return list(value.items())
    if not isinstance(schema, list) or value is None:
        return value
    parts = [part for part in schema if part != "null"]
    return {f"member{parts.index('double' if isinstance(value, float) else 'int')}": value}


def _for_generic_record(schema: JavaSchema) -> Any:
    arrow = pa.schema(_avro_fields(schema))
    return SimpleNamespace(create=lambda path: _Writer(path, arrow, lambda r: _avro_values(schema, r)))


# -- rows of a row type ----------------------------------------------------------------------------------------------

_COLUMNS = {
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "INSTANT": pa.timestamp("ns"),
    "INT": pa.int32(),
    "LONG": pa.int64(),
    "PRIMITIVE_ARRAY": pa.binary(),
    "SQL_DATE": pa.date32(),
    "SQL_TIME": pa.time32("ms"),
    "SQL_TIMESTAMP": pa.timestamp("ns"),
    "STRING": pa.string(),
}


def _row_column(info: Any) -> pa.DataType:
    return pa.decimal128(info.precision, info.scale) if info.name == "BIG_DEC" else _COLUMNS[info.name]


def _row_value(info: Any, value: Any) -> Any:
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-info.scale), ROUND_HALF_UP)
    return _EPOCH + datetime.timedelta(milliseconds=value.to_epoch_milli()) if isinstance(value, Instant) else value


def _for_row_type(row_type: TypeInformation, hadoop: object, utc_timestamp: bool) -> Any:
    types = dict(zip(row_type.field_names, row_type.params, strict=True))
    arrow = pa.schema([(name, _row_column(info)) for name, info in types.items()])

    def convert(row: Any) -> dict[str, Any]:
        return {name: _row_value(info, row[name]) for name, info in types.items()}

    return SimpleNamespace(create=lambda path: _Writer(path, arrow, convert))


class Converter:
    """`RowRowConverter`: rows are written as they are."""

    @staticmethod
    def create(data_type: object) -> Converter:
        return Converter()

    def getClass(self) -> Any:
        return SimpleNamespace(getClassLoader=lambda: None)

    def open(self, class_loader: None) -> None:
        pass

    def toInternal(self, row: Any) -> Any:
        return row


class Path(str):
    """`org.apache.flink.core.fs.Path`: a file that is opened is its own stream."""

    def getFileSystem(self) -> Any:
        return SimpleNamespace(create=lambda path, mode: path)


def to_java_data_type(row_type: TypeInformation) -> Any:
    return SimpleNamespace(getLogicalType=lambda: row_type)


def create_hadoop_configuration(configuration: object) -> object:
    return configuration


_FLINK = "org.apache.flink"
CLASSES = {
    f"{_FLINK}.core.fs.FileSystem": SimpleNamespace(WriteMode=SimpleNamespace(OVERWRITE="OVERWRITE")),
    f"{_FLINK}.core.fs.Path": Path,
    f"{_FLINK}.core.fs.local.LocalDataOutputStream": str,
    f"{_FLINK}.formats.parquet.avro.AvroParquetWriters": SimpleNamespace(forGenericRecord=_for_generic_record),
    f"{_FLINK}.formats.parquet.row.ParquetRowDataBuilder": SimpleNamespace(createWriterFactory=_for_row_type),
    f"{_FLINK}.table.data.conversion.RowRowConverter": Converter,
}
