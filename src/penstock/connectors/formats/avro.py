"""Avro files and messages, through fastavro."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO, cast

from penstock.connectors.formats.avro_rows import Named, from_rows, to_rows, type_of
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.files import (
    BulkFormat,
    Extent,
    InputFormat,
    check_unchanged,
    damaged,
    refuse_empty,
)
from penstock.connectors.formats.schemas import DeserializationSchema, SerializationSchema
from penstock.core.errors import ProgramError, RecordError
from penstock.core.types.type_info import ResultTypeQueryable, TypeInformation

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]

_READ_RECORDS = 4096
_SYNC = 16
_SEARCH_BYTES = 1 << 16


class AvroSchema:
    """An Avro schema.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    >>> schema.type_info.field_names
    ('a',)
    """

    def __init__(self, definition: Any) -> None:
        self.definition = definition
        self.parsed  # noqa: B018 - a schema that is none is refused now

    @staticmethod
    def parse_string(json_schema: str) -> AvroSchema:
        """The schema in a text."""
        try:
            return AvroSchema(json.loads(json_schema))
        except ValueError as error:
            raise ProgramError(f"The Avro schema {json_schema!r:.100} is not JSON: {error}") from error

    @staticmethod
    def parse_file(file_path: str) -> AvroSchema:
        """The schema in a file."""
        with open(file_path, encoding="utf-8") as file:
            return AvroSchema.parse_string(file.read())

    def __str__(self) -> str:
        return json.dumps(self.definition)

    def __reduce__(self) -> tuple[Any, ...]:
        return AvroSchema, (self.definition,)

    @cached_property
    def named(self) -> Named:
        """Schemas by name, for references."""
        return self._parse()[1]

    @cached_property
    def parsed(self) -> Any:
        """The schema as fastavro has parsed it."""
        return self._parse()[0]

    def _parse(self) -> tuple[object, Named]:
        from fastavro import parse_schema
        from fastavro.schema import SchemaParseException, UnknownType

        named: Named = {}
        try:
            return parse_schema(self.definition, named_schemas=named), named
        except (SchemaParseException, UnknownType, KeyError, TypeError) as error:
            raise ProgramError(f"The Avro schema {self.definition!r:.200} is not valid: {error!r}") from error

    @property
    def type_info(self) -> TypeInformation:
        """The type of the rows."""
        return type_of(self.parsed, self.named)

    @cached_property
    def rows(self) -> Callable[[Any], Any]:
        """From fastavro's records to rows."""
        return to_rows(self.parsed, self.named)

    @cached_property
    def records(self) -> Callable[[Any], Any]:
        """From rows, or anything with fields, to fastavro's records."""
        return from_rows(self.parsed, self.named)


class GenericRecordAvroTypeInfo(TypeInformation):
    """The type hint for records of a schema: the row of its fields.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    >>> GenericRecordAvroTypeInfo(schema).field_names
    ('a',)
    """

    def __init__(self, schema: AvroSchema) -> None:
        row = schema.type_info
        for part in ("name", "params", "field_names"):
            object.__setattr__(self, part, getattr(row, part))


class AvroReaderFormat(BulkFormat):
    """Avro files, block by block, to dicts; a reader's schema may differ from the file's as Avro allows.

    >>> AvroReaderFormat.for_generic_record().splittable("x.avro")
    True
    """

    def __init__(self, schema: AvroSchema | None = None) -> None:
        self._schema = schema

    @staticmethod
    def for_generic_record(schema: AvroSchema | None = None) -> AvroReaderFormat:
        """Read Avro records as dicts; without a schema, by the schema of each file."""
        return AvroReaderFormat(schema)

    def stop_for(self, extent: Extent, records: int) -> tuple[int, int]:
        refuse_empty(extent)
        return super().stop_for(extent, records)

    def read(self, extent: Extent) -> Iterator[list[Any]]:
        check_unchanged(extent)
        refuse_empty(extent)
        with open(extent.path, "rb") as file:
            blocks = self._blocks(file, extent)
            while batch := self._next(blocks, extent.path):
                yield batch

    def _next(self, records: Iterator[Any], path: str) -> list[Any]:
        with damaged(path, Exception):
            return list(islice(records, _READ_RECORDS))

    def _blocks(self, file: BinaryIO, extent: Extent) -> Iterator[object]:
        from fastavro import block_reader

        header, sync = _header(file)
        begin = _block_at(file, max(extent.first, len(header)), len(header), sync, extent.stop)
        if begin is None:
            return
        file.seek(begin)
        reader_schema = self._schema.parsed if self._schema is not None else None
        for block in block_reader(cast(BinaryIO, _Joined(header, file)), reader_schema):
            if begin + block.offset - len(header) >= extent.stop:
                return
            yield from block


def _header(file: BinaryIO) -> tuple[bytes, bytes]:
    """The bytes before the first block, and the marker that ends every block."""
    from fastavro import reader

    reader(file)
    end = file.tell()
    file.seek(0)
    header = file.read(end)
    return header, header[-_SYNC:]


def _block_at(file: BinaryIO, first: int, header: int, sync: bytes, stop: int) -> int | None:
    """The first place from `first` to `stop` where a block begins: behind a marker."""
    at = max(first - _SYNC, header - _SYNC)
    while at < stop:
        file.seek(at)
        stretch = file.read(_SEARCH_BYTES + _SYNC)
        found = stretch.find(sync)
        if found >= 0:
            begin = at + found + _SYNC
            return begin if begin < stop else None
        if len(stretch) < _SEARCH_BYTES + _SYNC:
            return None
        at += _SEARCH_BYTES
    return None


class _Joined(io.RawIOBase):
    """A header, then the rest of a file from where it stands."""

    def __init__(self, header: bytes, file: BinaryIO) -> None:
        self._header, self._file = io.BytesIO(header), file
        self._given = 0

    def read(self, size: int = -1) -> bytes:
        data = self._header.read(size)
        if size < 0 or len(data) < size:
            data += self._file.read(size - len(data) if size >= 0 else -1)
        self._given += len(data)
        return data

    def tell(self) -> int:
        return self._given


class AvroInputFormat(InputFormat, ResultTypeQueryable):
    """An Avro file, or folder of them, for `env.create_input`.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": []}')
    >>> AvroInputFormat("/data/users.avro", schema).path
    '/data/users.avro'
    """

    def __init__(self, path: str, schema: AvroSchema) -> None:
        super().__init__(path, AvroReaderFormat(schema))
        self.schema = schema

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        return GenericRecordAvroTypeInfo(self.schema)


class AvroBulkWriters:
    """Avro files.

    >>> schema = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": []}')
    >>> AvroBulkWriters.for_generic_record(schema).suffix
    '.avro'
    """

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """Write Avro files of dicts or rows with this schema."""
        return _AvroFactory(schema)


class _AvroFactory(BulkWriterFactory):
    suffix = ".avro"

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> object:
        from fastavro.write import Writer

        # a marker made of the file's name: an attempt that is repeated writes the same bytes
        writer = state or Writer(file, self._schema.parsed, codec="deflate", sync_marker=_marker(file))
        for value in values:
            with _unfit(value):
                writer.write(self._schema.records(value))
        return writer

    def finish(self, state: Any) -> None:
        state.flush()


def _marker(file: BinaryIO) -> bytes:
    from hashlib import blake2b

    return blake2b(os.path.basename(str(getattr(file, "name", ""))).encode(), digest_size=_SYNC).digest()


class _unfit:
    """Turns fastavro's complaints about a record into a `RecordError`."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, RecordError):
            raise RecordError(f"the record {self._value!r:.200} cannot be written as Avro: {error}") from error


# -- messages ------------------------------------------------------------------------------------------


def _given_schema(name: str, record_class: str | None, avro_schema_string: str | None) -> AvroSchema:
    if avro_schema_string is not None:
        return AvroSchema.parse_string(avro_schema_string)
    if record_class is None:
        raise TypeError("record_class or avro_schema_string should be specified.")
    raise ProgramError(f"{name}: record_class {record_class!r} is a class of the JVM; give avro_schema_string instead")


class AvroRowDeserializationSchema(DeserializationSchema):
    """Avro's binary form, without a header, to rows.

    >>> definition = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'
    >>> AvroRowDeserializationSchema(avro_schema_string=definition).deserialize(b"\\x06")
    Row(a=3)
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._schema = _given_schema("AvroRowDeserializationSchema", record_class, avro_schema_string)

    def deserialize(self, message: bytes | None) -> Any:
        from fastavro import schemaless_reader

        if message is None:
            return None
        stream = io.BytesIO(message)
        try:
            record = schemaless_reader(stream, self._schema.parsed, None)
        except Exception as error:
            raise RecordError(f"the message {message!r:.200} cannot be read as Avro: {error!r}") from error
        if rest := len(message) - stream.tell():
            raise RecordError(f"the message {message!r:.200} cannot be read as Avro: {rest} byte(s) are left over")
        return self._schema.rows(record)

    def get_produced_type(self) -> TypeInformation:
        return self._schema.type_info


class AvroRowSerializationSchema(SerializationSchema):
    """Rows (tuples, dataclasses, dicts) to Avro's binary form, without a header.

    >>> definition = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'
    >>> AvroRowSerializationSchema(avro_schema_string=definition).serialize((3,))
    b'\\x06'
    """

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        self._schema = _given_schema("AvroRowSerializationSchema", record_class, avro_schema_string)

    def serialize(self, element: Any) -> bytes:
        from fastavro import schemaless_writer

        stream = io.BytesIO()
        with _unfit(element):
            schemaless_writer(stream, self._schema.parsed, self._schema.records(element))
        return stream.getvalue()
