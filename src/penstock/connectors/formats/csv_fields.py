"""The fields of a CSV record, by type: text to values and back."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from penstock.connectors.formats.csv_schema import CsvColumn, CsvDialect
from penstock.connectors.formats.kinds import element, fields, kind
from penstock.connectors.formats.scalars import WHOLE_BOUNDS, naive_utc, reader, writer
from penstock.connectors.formats.values import field_values, row_maker
from penstock.core.errors import ProgramError, RecordError
from penstock.core.types.type_info import TypeInformation

__all__ = ["CsvLine", "Marks", "column_reader", "element_separator", "field_reader", "split_line"]

Convert = Callable[[Any], Any]
_TEXT = ("STRING", "CHAR")
_BARE = frozenset({"BOOLEAN", *WHOLE_BOUNDS, "BIG_INT", "FLOAT", "DOUBLE", "BIG_DEC"})
"""Kinds whose values are not text to Jackson, so that it writes them without quotes."""
_MOST_CHECKED = 24
"""Characters of the longest text that Jackson looks through before it quotes it."""


def field_reader(name: str, info: TypeInformation, separator: str, null: str | None) -> Callable[[str], Any]:
    """From a field's text to its value; `null` stands for None, and without it an empty field that is not text."""
    convert = _reader(info, separator, null)
    empty_is_none = null is None and kind(info) not in (*_TEXT, "LIST")

    def read(text: str) -> Any:
        if text == null or (empty_is_none and not text.strip()):
            return None
        try:
            return convert(text)
        except (ValueError, TypeError) as error:
            raise ValueError(f"field {name!r}: {error}") from error

    return read


def column_reader(
    info: TypeInformation, null: str | None, read: Callable[[str], object]
) -> Callable[[Sequence[str]], Any]:
    """`read`, the field's reader, for all records of a batch at once: the commonest types without a call for each."""
    what, bound = kind(info), WHOLE_BOUNDS.get(kind(info))

    def read_all(texts: Sequence[str]) -> Sequence[Any]:
        if null is None or null not in texts:
            if what in _TEXT:
                return texts
            if bound is not None and all(map(str.isdecimal, texts)):
                numbers = list(map(int, texts))
                if max(numbers) < bound:
                    return numbers
        return list(map(read, texts))

    return read_all


def _reader(info: TypeInformation, separator: str, null: str | None) -> Convert:
    match kind(info):
        case "LIST":
            item = field_reader("element", element(info), separator, null)
            return lambda text: [item(t) for t in _parts(text, separator)]
        case "ROW" | "TUPLE":
            return _nested_reader(info, separator, null)
    convert = reader(info)
    if convert is None:
        raise ProgramError(f"CSV has no form for {info.name}")
    return convert if kind(info) in _TEXT else lambda text: convert(text.strip())


def _nested_reader(info: TypeInformation, separator: str, null: str | None) -> Convert:
    items = [field_reader(n, t, separator, null) for n, t in fields(info)]
    make: Callable[[Sequence[Any]], Any] = row_maker(list(info.field_names)) if kind(info) == "ROW" else tuple
    return lambda text: make([r(t) for r, t in zip(items, _parts(text, separator), strict=True)])


def _parts(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else [text]


def _field_writer(name: str, info: TypeInformation, separator: str, null: str | None) -> Callable[[Any], str]:
    """From a value to its field's text, without quotes."""
    convert = _writer(info, separator, null)

    def write(value: Any) -> str:
        if value is None:
            return null or ""
        try:
            return convert(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"field {name!r}: {error}") from error

    return write


def _writer(info: TypeInformation, separator: str, null: str | None) -> Callable[[Any], str]:
    match kind(info):
        case "LIST":
            item = _field_writer("element", element(info), separator, null)
            return lambda value: _joined([item(v) for v in value], separator)
        case "ROW" | "TUPLE":
            items = [_field_writer(n, t, separator, null) for n, t in fields(info)]
            return lambda value: _joined([w(v) for w, v in zip(items, value, strict=True)], separator)
    convert = _AS_IN_SQL.get(kind(info)) or writer(info)
    if convert is None:
        raise ProgramError(f"CSV has no form for {info.name}")
    return lambda value: _shown(convert(value))


def _time_out(value: object) -> str:
    if not isinstance(value, datetime.time):
        raise ValueError(f"{value!r} is a {type(value).__name__}")
    return value.isoformat()


def _timestamp_out(value: object) -> str:
    """As `java.sql.Timestamp` shows it: a blank, and a fraction of one digit at least."""
    if not isinstance(value, datetime.datetime):
        raise ValueError(f"{value!r} is a {type(value).__name__}")
    moment = naive_utc(value)
    fraction = f"{moment.microsecond:06}".rstrip("0") or "0"
    return f"{moment.date()} {moment:%H:%M:%S}.{fraction}"


_AS_IN_SQL = {"SQL_TIME": _time_out, "SQL_TIMESTAMP": _timestamp_out}
"""Kinds that Flink writes to CSV as `java.sql` shows them, and not as ISO 8601 has it."""


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _joined(parts: list[str], separator: str) -> str:
    if spoilt := [p for p in parts if separator and separator in p]:
        raise ValueError(f"the element {spoilt[0]!r} holds the separator {separator!r} of elements")
    if len(parts) > 1 and not separator:
        raise ValueError("there are several elements and no separator between them")
    return separator.join(parts)


class CsvLine:
    """Writes the records of one file or message as lines."""

    def __init__(self, columns: Sequence[CsvColumn], dialect: CsvDialect) -> None:
        null, self._marks = dialect.null, Marks(dialect)
        self._names = [column.name for column in columns]
        self._fields = [
            (_field_writer(c.name, c.type_info, element_separator(c), null), kind(c.type_info) in _BARE)
            for c in columns
        ]

    def header(self) -> str:
        """The line with the names of the columns."""
        return self._marks.line([self._marks.text(name) for name in self._names])

    def of(self, record: object) -> str:
        """One line, with its end; `RecordError` if the record cannot be written."""
        try:
            values = field_values(record, self._names, "CSV")
            return self._marks.line(
                [
                    self._marks.bare(write(value)) if bare or value is None else self._marks.text(write(value))
                    for (write, bare), value in zip(self._fields, values, strict=True)
                ]
            )
        except (ValueError, TypeError) as error:
            raise RecordError(f"the record {record!r:.200} cannot be written as CSV: {error}") from error


class Marks:
    """Puts quotes around fields where Jackson does.

    Jackson quotes text that is longer than 24 characters, and text with a character that is not above all marks of the
    dialect or is the escape character. Python's `csv` would quote less; readers see the same fields.
    """

    def __init__(self, dialect: CsvDialect) -> None:
        self._delimiter, self._quote, self._escape = dialect.delimiter, dialect.quote, dialect.escape
        self._end = dialect.line_end
        last = max(f"{dialect.delimiter}{dialect.quote or ''}{dialect.line_end}")
        escape = dialect.escape or "\\"
        self._doubtful = re.compile(f"[\0-{re.escape(last)}\r\n{re.escape(escape)}]")
        marks = f"{dialect.delimiter}{dialect.quote or ''}{dialect.escape or ''}\r\n"
        self._breaking = re.compile(f"[{re.escape(marks)}]")

    def text(self, text: str) -> str:
        """A field that holds text."""
        if self._quote is not None and (_java_length(text) > _MOST_CHECKED or self._doubtful.search(text)):
            return self._quoted(text)
        return text if self._quote is not None else self._escaped(text)

    def bare(self, text: str) -> str:
        """A field that holds a number, a boolean or nothing: quoted only if the line would break without."""
        if self._quote is None:
            return self._escaped(text)
        return self._quoted(text) if self._breaking.search(text) else text

    def _quoted(self, text: str) -> str:
        assert self._quote is not None
        if self._escape is not None:
            text = text.replace(self._escape, 2 * self._escape)
        return f"{self._quote}{text.replace(self._quote, 2 * self._quote)}{self._quote}"

    def _escaped(self, text: str) -> str:
        found = self._breaking.search(text)
        if found is None:
            return text
        if self._escape is None:
            raise ValueError(
                f"the field {text!r:.100} holds {found.group()!r}, and neither a quote nor an escape character is set"
            )
        return self._breaking.sub(lambda match: f"{self._escape}{match.group()}", text)

    def line(self, fields: list[str]) -> str:
        """A record of fields that have their quotes."""
        if fields == [""]:  # a line without anything is no record to most readers, ours among them
            if self._quote is None:
                raise ValueError("the only field is empty, which cannot be told from no record without quotes")
            fields = [2 * self._quote]
        return self._delimiter.join(fields) + self._end


def _java_length(text: str) -> int:
    """Jackson counts UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def element_separator(column: CsvColumn) -> str:
    """The separator between the elements of an array in a column."""
    return ";" if column.separator is None else column.separator


def split_line(text: str, dialect: CsvDialect) -> list[str]:
    """The fields of one record; line ends inside of quotes belong to their field."""
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, **dialect.python()))
    if len(rows) > 1:
        raise ValueError(f"{len(rows)} records where one was expected")
    return rows[0] if rows else []
