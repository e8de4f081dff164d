"""CSV files and messages."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.csv_fields import CsvLine, field_reader, field_writer, split_line
from penstock.connectors.formats.csv_schema import CsvColumn, CsvDialect, CsvSchema, CsvSchemaBuilder
from penstock.connectors.formats.files import (
    RECORD_BYTES,
    Extent,
    StreamFormat,
    compressed,
    limit,
    malformed,
    open_file,
    seek_line,
)
from penstock.connectors.formats.kinds import fields, kind
from penstock.connectors.formats.schemas import DeserializationSchema, SerializationSchema
from penstock.connectors.formats.values import field_values, row_maker
from penstock.core.errors import RecordError, SourceError
from penstock.core.types import TypeInformation

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]

_READ_ROWS = 4096


class CsvReaderFormat(StreamFormat):
    """Rows of CSV files. A file with quotes is one split, since a line end inside of quotes ends no record.

    >>> schema = CsvSchema.builder().add_number_column("id").set_column_separator("|").build()
    >>> CsvReaderFormat.for_schema(schema).splittable("x.csv")
    False
    """

    def __init__(self, schema: CsvSchema) -> None:
        self._schema = schema
        self._readers  # noqa: B018 - a type without a form is refused now

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        return CsvReaderFormat(schema)

    def splittable(self, path: str) -> bool:
        return self._schema.dialect.quote is None and not compressed(path)

    def stop_for(self, extent: Extent, records: int) -> tuple[int, int]:
        """Always the beginning of a record."""
        if self.splittable(extent.path) or compressed(extent.path):
            return super().stop_for(extent, records)
        goal = extent.first + max(1, records) * RECORD_BYTES
        if goal >= extent.stop:
            return super().stop_for(extent, records)
        with open_file(extent) as file:
            stop = self._plain_stop(file, extent.first, goal)
            if stop is None:
                stop = self._quoted_stop(file, extent.first, goal)
        return stop, (stop - extent.first) // RECORD_BYTES + 1

    def _plain_stop(self, file: BinaryIO, first: int, goal: int) -> int | None:
        """The next line's beginning; None if there are quotes before it."""
        file.seek(first)
        stretch = file.read(goal - first) + file.readline()
        return None if (self._schema.dialect.quote or "").encode() in stretch else first + len(stretch)

    def _quoted_stop(self, file: BinaryIO, first: int, goal: int) -> int:
        lines = _Lines(file, seek_line(file, first), goal, False)
        for _ in csv.reader(lines, **self._schema.dialect.python()):
            lines.record_ends()
        return lines.at

    @cached_property
    def _readers(self) -> list[tuple[str, Callable[[str], Any]]]:
        schema = self._schema
        return [(c.name, field_reader(c.name, c.type_info, _separator(c), schema.dialect.null)) for c in schema.columns]

    def read(self, extent: Extent) -> Iterator[list[Any]]:
        with open_file(extent) as file:
            assemble = self._assembler(file, extent)
            lines = _Lines(file, seek_line(file, extent.first), limit(extent), self._schema.dialect.comments)
            rows = csv.reader(lines, strict=True, **self._schema.dialect.python())
            self._skip_head(rows, lines, extent.first)
            while batch := self._batch(rows, lines, assemble, extent.path):
                yield batch

    def _skip_head(self, rows: Iterator[list[str]], lines: _Lines, first: int) -> None:
        if first:
            return
        for _ in range(self._schema.use_header + self._schema.skip_first_row):
            next(rows, None)
            lines.record_ends()

    def _batch(self, rows: Iterator[list[str]], lines: _Lines, assemble: Any, path: str) -> list[Any]:
        batch: list[Any] = []
        try:
            for row in rows:
                if row:
                    batch.append(assemble(row))
                lines.record_ends()
                if len(batch) >= _READ_ROWS:
                    break
        except (csv.Error, ValueError, TypeError) as error:
            raise malformed(path, lines.began, error) from error
        return batch

    def _assembler(self, file: BinaryIO, extent: Extent) -> Callable[[list[str]], Any]:
        """From a record's texts to its row; columns are those of the header, if it is used."""
        names = [name for name, _ in self._readers]
        order = self._header_order(file, extent.path, names) if self._schema.use_header else names
        readers = dict(self._readers)
        places = [(order.index(n), readers[n]) if n in order else (len(order), readers[n]) for n in names]
        make, most, tolerant = row_maker(names), len(order), self._schema.extra_columns is not None

        def assemble(texts: list[str]) -> Any:
            if len(texts) > most and not tolerant:
                raise ValueError(f"{len(texts)} fields where {most} were expected: {texts!r:.200}")
            return make([read(texts[i]) if i < len(texts) else None for i, read in places])

        return assemble

    def _header_order(self, file: BinaryIO, path: str, names: list[str]) -> list[str]:
        lines = _Lines(file, seek_line(file, 0), float("inf"), self._schema.dialect.comments)
        header = [h.strip() for h in next(csv.reader(lines, **self._schema.dialect.python()), [])]
        file.seek(0)
        if self._schema.strict_headers and header != names:
            raise SourceError(f"{path}: the header names the columns {header}, the schema {names}")
        return header


def _separator(column: CsvColumn) -> str:
    return ";" if column.separator is None else column.separator


class _Lines(Iterator[str]):
    """Lines as `csv` wants them, with the byte at which the current record began."""

    def __init__(self, file: BinaryIO, at: int, stop: float, comments: bool) -> None:
        self._file, self._stop, self._comments = file, stop, comments
        self.at = self.began = at

    def __next__(self) -> str:
        while True:
            inside = self.began < self.at
            if not inside and self.at >= self._stop:
                raise StopIteration
            line = self._file.readline()
            if not line:
                raise StopIteration
            self.at += len(line)
            if inside or not (self._comments and line.startswith(b"#")):
                return line.decode()
            self.began = self.at

    def record_ends(self) -> None:
        """The lines so far make whole records."""
        self.began = self.at


class CsvBulkWriters:
    """CSV files.

    >>> schema = CsvSchema.builder().add_number_column("id").build()
    >>> CsvBulkWriters.for_schema(schema).suffix
    '.csv'
    """

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        return _CsvFactory(schema)


class _CsvFactory(BulkWriterFactory):
    suffix = ".csv"

    def __init__(self, schema: CsvSchema) -> None:
        self._schema = schema
        self._writers  # noqa: B018 - a type without a form is refused now

    @cached_property
    def _writers(self) -> list[Callable[[Any], str]]:
        schema = self._schema
        return [field_writer(c.name, c.type_info, _separator(c), schema.dialect.null) for c in schema.columns]

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> Any:
        line = state or CsvLine(self._schema.dialect)
        names = [c.name for c in self._schema.columns]
        if state is None and self._schema.use_header:
            file.write(line.of(names).encode())
        file.write("".join(line.of(_texts(v, names, self._writers)) for v in values).encode())
        return line

    def finish(self, state: Any) -> None:
        """Lines are complete as they are."""


def _texts(value: Any, names: Sequence[str], writers: Sequence[Callable[[Any], str]]) -> list[str]:
    try:
        return [w(v) for w, v in zip(writers, field_values(value, names, "CSV"), strict=True)]
    except (ValueError, TypeError) as error:
        raise RecordError(f"the record {value!r:.200} cannot be written as CSV: {error}") from error


# -- messages ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Settings:
    type_info: TypeInformation
    dialect: CsvDialect
    separator: str = ";"
    ignore: bool = False

    def columns(self) -> list[tuple[str, TypeInformation]]:
        return fields(self.type_info) if kind(self.type_info) in ("ROW", "TUPLE") else [("f0", self.type_info)]


class _Builder:
    def __init__(self, type_info: TypeInformation) -> None:
        if type_info is None:
            raise TypeError("Type information must not be None")
        self._settings = _Settings(type_info, CsvDialect())

    def _mark(self, **changes: Any) -> Any:
        self._settings = replace(self._settings, dialect=replace(self._settings.dialect, **changes))
        return self

    def set_array_element_delimiter(self, delimiter: str) -> Any:
        self._settings = replace(self._settings, separator=delimiter)
        return self

    def set_quote_character(self, c: str) -> Any:
        return self._mark(quote=c)

    def set_escape_character(self, c: str) -> Any:
        return self._mark(escape=c)


class CsvRowDeserializationSchema(DeserializationSchema):
    """One CSV record a message, to a row.

    >>> from penstock.core.types import Types
    >>> row_type = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    >>> CsvRowDeserializationSchema.Builder(row_type).set_field_delimiter("|").build().deserialize(b'1|"x|y"')
    Row(a=1, b='x|y')
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    class Builder(_Builder):
        """Builds a `CsvRowDeserializationSchema`."""

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            self._mark(delimiter=delimiter)
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            self._mark(null=null_literal)
            return self

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            """Messages that begin with `#` are left out."""
            self._mark(comments=allow_comments)
            return self

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Leave out messages that do not fit."""
            self._settings = replace(self._settings, ignore=ignore_parse_errors)
            return self

        def build(self) -> CsvRowDeserializationSchema:
            made = CsvRowDeserializationSchema(self._settings)
            made._readers  # noqa: B018 - a type without a form is refused now
            return made

    @cached_property
    def _readers(self) -> list[Callable[[str], Any]]:
        s = self._settings
        return [field_reader(n, t, s.separator, s.dialect.null) for n, t in s.columns()]

    @cached_property
    def _make(self) -> Callable[[Sequence[Any]], Any]:
        info = self._settings.type_info
        if kind(info) == "ROW":
            return row_maker(list(info.field_names))
        return tuple if kind(info) == "TUPLE" else lambda values: values[0]

    def deserialize(self, message: bytes | None) -> Any:
        if message is None or (self._settings.dialect.comments and message.startswith(b"#")):
            return None
        try:
            texts = split_line(message.decode(), self._settings.dialect)
            if len(texts) != len(self._readers):
                raise ValueError(f"{len(texts)} fields where {len(self._readers)} were expected")
            return self._make([read(text) for read, text in zip(self._readers, texts, strict=True)])
        except (csv.Error, ValueError, TypeError) as error:
            if self._settings.ignore:
                return None
            raise RecordError(f"the message {message!r:.200} cannot be read as CSV: {error}") from error

    def get_produced_type(self) -> TypeInformation:
        return self._settings.type_info


class CsvRowSerializationSchema(SerializationSchema):
    """Rows (tuples, dataclasses, dicts) to one CSV record each, with its line end.

    >>> from penstock.core.types import Types
    >>> row_type = Types.ROW([Types.INT(), Types.LIST(Types.STRING())])
    >>> CsvRowSerializationSchema.Builder(row_type).build().serialize((1, ["x", "y"]))
    b'1,x;y\\n'
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    class Builder(_Builder):
        """Builds a `CsvRowSerializationSchema`."""

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            self._mark(delimiter=c)
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            self._mark(null=s)
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """What ends a record; "" for nothing."""
            self._mark(line_end=delimiter)
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            self._mark(quote=None)
            return self

        def build(self) -> CsvRowSerializationSchema:
            made = CsvRowSerializationSchema(self._settings)
            made._writers  # noqa: B018 - a type without a form is refused now
            return made

    @cached_property
    def _writers(self) -> list[Callable[[Any], str]]:
        s = self._settings
        return [field_writer(n, t, s.separator, s.dialect.null) for n, t in s.columns()]

    def serialize(self, element: Any) -> bytes:
        columns = self._settings.columns()
        value = element if kind(self._settings.type_info) in ("ROW", "TUPLE") else [element]
        texts = _texts(value, [name for name, _ in columns], self._writers)
        return CsvLine(self._settings.dialect).of(texts).encode()
