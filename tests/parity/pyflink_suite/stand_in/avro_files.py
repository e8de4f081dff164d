"""Avro's Java classes for schemas, records and files, and its Python reader, on fastavro."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, BinaryIO

import fastavro

from penstock.datastream.formats.avro import AvroSchema


class JavaSchema(dict[str, Any]):
    """`Schema`: its JSON, so that PyFlink's class can be made of it again."""

    def getField(self, name: str) -> Any:
        found = next(field for field in self["fields"] if field["name"] == name)
        return SimpleNamespace(schema=lambda: _schema(found["type"]))

    def getElementType(self) -> Any:
        return _schema(self["items"])


def _schema(definition: Any) -> Any:
    return JavaSchema(definition) if isinstance(definition, dict) else definition


class Record(dict[str, Any]):
    """`GenericData.Record`: every field of its schema, null at first."""

    def __init__(self, schema: JavaSchema) -> None:
        super().__init__({field["name"]: None for field in schema["fields"]})

    def put(self, name: str, value: Any) -> None:
        self[name] = list(value) if isinstance(value, list) else value  # fastavro takes lists, and no other class


def enum_symbol(schema: JavaSchema, symbol: str) -> str:
    return symbol


class DataFileWriter:
    """Writes an Avro file on `close`."""

    def __init__(self, datum_writer: object) -> None:
        self._records: list[Record] = []

    def create(self, schema: JavaSchema, path: str) -> None:
        self._schema, self._path = schema, path

    def append(self, record: Record) -> None:
        self._records.append(record)

    def close(self) -> None:
        with open(self._path, "wb") as file:
            fastavro.writer(file, dict(self._schema), self._records)


class DatumReader:
    """Of Avro's Python package: its reader takes one."""


class DataFileReader:
    """Of Avro's Python package: the records of a file."""

    def __init__(self, file: BinaryIO, datum_reader: DatumReader) -> None:
        self._file = file

    def __iter__(self) -> Iterator[Any]:
        with self._file:
            yield from fastavro.reader(self._file)


_AVRO = "org.apache.flink.avro.shaded.org.apache.avro"
CLASSES = {
    f"{_AVRO}.file.DataFileWriter": DataFileWriter,
    f"{_AVRO}.generic.GenericData": SimpleNamespace(Record=Record, EnumSymbol=enum_symbol),
    f"{_AVRO}.generic.GenericDatumWriter": object,
}


def give_java_objects() -> None:
    AvroSchema._j_schema = property(lambda schema: _schema(schema.definition))  # type: ignore[attr-defined]
