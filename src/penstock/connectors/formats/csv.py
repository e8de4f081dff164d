"""CSV files."""

from __future__ import annotations

import csv
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, BinaryIO

from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.csv_edges import after_head, last_record_end
from penstock.connectors.formats.csv_fields import (
    CsvLine,
    column_reader,
    element_separator,
    field_reader,
)
from penstock.connectors.formats.csv_schema import CsvDialect, CsvSchema, CsvSchemaBuilder
from penstock.connectors.formats.files import (
    RECORD_BYTES,
    Extent,
    StreamFormat,
    compressed,
    limit,
    malformed,
    next_lines,
    open_file,
    seek_line,
)
from penstock.connectors.formats.values import row_maker
from penstock.core.errors import SourceError
from penstock.core.types.row import rows_of

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
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
        _Assembler(schema)  # a type without a form is refused now

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        """Read CSV files with the columns of this schema."""
        return CsvReaderFormat(schema)

    def splittable(self, path: str) -> bool:
        return self._schema.dialect.quote is None and not compressed(path)

    def tails(self, path: str) -> bool:
        return not compressed(path)

    def tail_stop(self, extent: Extent, records: int) -> tuple[int, int]:
        """Looks no further than for so many records, since quotes can only be followed from the front."""
        room = max(1, records) * RECORD_BYTES
        while True:
            goal = min(extent.stop, extent.first + room)
            end = last_record_end(extent.path, extent.first, goal, self._schema.dialect)
            if end > extent.first or goal == extent.stop:
                used = (end - extent.first) // RECORD_BYTES + 1
                return end, used if goal == extent.stop else max(used, records)
            room *= 4

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
        lines = _Lines(file, seek_line(file, first), goal, replace(self._schema.dialect, comments=False))
        for _ in csv.reader(lines, **self._schema.dialect.python()):
            lines.record_ends()
        return lines.at

    def read(self, extent: Extent) -> Iterator[list[Any]]:
        with open_file(extent) as file:
            if self._schema.use_header and not extent.first:
                self._check_header(self._header(file, extent.path), extent.path)
            assemble = _Assembler(self._schema)
            # rows that are not data may lie in an earlier extent, in this one, or across the edge of two
            first = max(extent.first, after_head(file, self._schema))
            lines = _Lines(file, seek_line(file, first), limit(extent), self._schema.dialect)
            rows = csv.reader(lines, strict=True, **self._schema.dialect.python())
            while lines.more():
                batch = self._plain_batch(lines, assemble)
                if batch is None:
                    batch = self._batch(rows, lines, assemble, extent.path)
                if batch:
                    yield batch

    def _header(self, file: BinaryIO, path: str) -> list[str] | None:
        """The first record of a file; None if there is none."""
        lines = _Lines(file, seek_line(file, 0), float("inf"), self._schema.dialect)
        try:
            return next(csv.reader(lines, strict=True, **self._schema.dialect.python()), None)
        except (csv.Error, UnicodeDecodeError) as error:
            raise malformed(path, lines.began, error) from error

    def _check_header(self, header: list[str] | None, path: str) -> None:
        """Columns go by position, whatever the header says; with strict headers it must say what the schema says."""
        names = [column.name for column in self._schema.columns]
        if header is None or header == names:
            return
        if self._schema.strict_headers:
            raise SourceError(
                f"{path}: the header names the columns {header}, the schema {names}. Give the schema the columns of "
                "the file, in its order, or leave out set_strict_headers()"
            )
        if sorted(header) == sorted(names):
            warnings.warn(
                f"{path}: the header names the columns {header}, the schema {names}: the same in another order. "
                "Columns are taken by position, not by name: add them to the schema in the order of the file",
                RuntimeWarning,
                stacklevel=2,
            )

    def _plain_batch(self, lines: _Lines, assemble: _Assembler) -> list[object] | None:
        """The records of the next lines if they are plain; None if they are not, or if one is at fault."""
        ahead = lines.ahead(_READ_ROWS)
        if not ahead:
            return None
        separator = self._schema.dialect.delimiter
        try:
            batch = assemble.all_at_once(
                [text.split(separator) for text in b"".join(ahead).decode().split("\n") if text]
            )
        except (ValueError, TypeError):
            return None
        lines.skip(len(ahead))
        return batch

    def _batch(self, rows: Iterator[list[str]], lines: _Lines, assemble: _Assembler, path: str) -> list[object]:
        texts: list[list[str]] = []
        places: list[int] = []
        broken: csv.Error | UnicodeDecodeError | None = None
        try:
            for row in rows:
                if row:
                    texts.append(row)
                    places.append(lines.began)
                lines.record_ends()
                if len(texts) >= _READ_ROWS:
                    break
        except (csv.Error, UnicodeDecodeError) as error:
            broken = error
        try:
            batch = assemble.all_at_once(texts)
        except (ValueError, TypeError):
            batch = [_assembled(assemble, row, path, place) for row, place in zip(texts, places, strict=True)]
        if broken is not None:
            raise malformed(path, lines.began, broken) from broken
        return batch


class _Assembler:
    """Makes rows of texts, which come in the order of the schema's columns."""

    def __init__(self, schema: CsvSchema) -> None:
        null = schema.dialect.null
        self._names = [column.name for column in schema.columns]
        self._readers = [field_reader(c.name, c.type_info, element_separator(c), null) for c in schema.columns]
        self._columns = [
            column_reader(c.type_info, null, read) for c, read in zip(schema.columns, self._readers, strict=True)
        ]
        self._make, self._tolerant = row_maker(self._names), schema.extra_columns is not None

    def one(self, texts: list[str]) -> object:
        """The row of one record."""
        count = len(self._readers)
        if len(texts) < count or (len(texts) > count and not self._tolerates(texts[count:])):
            raise ValueError(f"{len(texts)} fields where {count} were expected: {texts!r:.200}")
        return self._make([read(text) for read, text in zip(self._readers, texts, strict=False)])

    def _tolerates(self, rest: list[str]) -> bool:
        """Whether fields beyond the last column may be dropped: by wish, or because a separator ends the line."""
        return self._tolerant or (len(rest) == 1 and not rest[0].strip())

    def all_at_once(self, records: list[list[str]]) -> list[Any]:
        """The rows of many; column by column if they have as many fields as columns. Does not say which is at fault."""
        if not records or set(map(len, records)) != {len(self._readers)}:
            return list(map(self.one, records))
        given = zip(*records, strict=True)
        columns = [read(texts) for read, texts in zip(self._columns, given, strict=True)]
        return rows_of(self._names, map(list, zip(*columns, strict=True)))


def _assembled(assemble: _Assembler, texts: list[str], path: str, place: int) -> object:
    try:
        return assemble.one(texts)
    except (ValueError, TypeError) as error:
        raise malformed(path, place, error) from error


class _Lines(Iterator[str]):
    """Lines as `csv` wants them, with the byte at which the current record began."""

    def __init__(self, file: BinaryIO, at: int, stop: float, dialect: CsvDialect) -> None:
        self._file, self._stop, self._comments = file, stop, dialect.comments
        self._marks = [mark.encode() for mark in (dialect.quote, dialect.escape, "\r") if mark is not None]
        self._block: list[bytes] = []
        self._used, self._plain = 0, False
        self.at = self.began = at

    def more(self) -> bool:
        """Whether there is another line."""
        return self._used < len(self._block) or self._fill()

    def _fill(self) -> bool:
        self._block, self._used = next_lines(self._file, self.at, self._stop), 0
        if self.at == 0 and self._block and self._block[0].startswith(BOM_UTF8):
            self._block[0] = self._block[0].removeprefix(BOM_UTF8)
            self.at = self.began = len(BOM_UTF8)
        if not self._block and self.began < self.at:  # a record goes on behind the stop
            self._block = [line for line in [self._file.readline()] if line]
        text = b"".join(self._block)
        self._plain = not self._comments and not any(mark in text for mark in self._marks)
        return bool(self._block)

    def ahead(self, most: int) -> list[bytes]:
        """The next lines if they are plain: each is a record, and what lies between separators is a field."""
        return self._block[self._used : self._used + most] if self._plain else []

    def skip(self, count: int) -> None:
        """Lines from `ahead` have been read: whole records."""
        self.at += sum(map(len, self._block[self._used : self._used + count]))
        self._used += count
        self.record_ends()

    def __next__(self) -> str:
        while self.more():
            inside = self.began < self.at
            line = self._block[self._used]
            self._used += 1
            self.at += len(line)
            if inside or not (self._comments and line.startswith(b"#")):
                return line.decode()
            self.began = self.at
        raise StopIteration

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
        """Write CSV files with the columns of this schema."""
        return _CsvFactory(schema)


class _CsvFactory(BulkWriterFactory):
    suffix = ".csv"

    def __init__(self, schema: CsvSchema) -> None:
        self._schema = schema
        self._line  # noqa: B018 - a type without a form is refused now

    @cached_property
    def _line(self) -> CsvLine:
        return CsvLine(self._schema.columns, self._schema.dialect)

    def write(self, file: BinaryIO, values: Sequence[Any], state: Any) -> object:
        if state is None and self._schema.use_header:
            file.write(self._line.header().encode())
        file.write("".join(map(self._line.of, values)).encode())
        return True

    def finish(self, state: object) -> None:
        """Lines are complete as they are."""
