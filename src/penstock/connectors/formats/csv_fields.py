"""The fields of a CSV record, by type: text to values and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from penstock.connectors.formats.csv_schema import CsvDialect
from penstock.connectors.formats.kinds import element, fields, kind
from penstock.connectors.formats.scalars import READ, WHOLE_BOUNDS, WRITE
from penstock.connectors.formats.values import row_maker
from penstock.core.errors import ProgramError, RecordError
from penstock.core.types import TypeInformation

__all__ = ["CsvLine", "column_reader", "field_reader", "field_writer", "split_line"]

Convert = Callable[[Any], Any]
_TEXT = ("STRING", "CHAR")


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
    info: TypeInformation, null: str | None, read: Callable[[str], Any]
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
    convert = READ.get(kind(info))
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


def field_writer(name: str, info: TypeInformation, separator: str, null: str | None) -> Callable[[Any], str]:
    """From a value to its field's text."""
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
            item = field_writer("element", element(info), separator, null)
            return lambda value: _joined([item(v) for v in value], separator)
        case "ROW" | "TUPLE":
            items = [field_writer(n, t, separator, null) for n, t in fields(info)]
            return lambda value: _joined([w(v) for w, v in zip(items, value, strict=True)], separator)
    convert = WRITE.get(kind(info))
    if convert is None:
        raise ProgramError(f"CSV has no form for {info.name}")
    return lambda value: _shown(convert(value))


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _joined(parts: list[str], separator: str) -> str:
    if spoilt := [p for p in parts if separator and separator in p]:
        raise ValueError(f"the element {spoilt[0]!r} holds the separator {separator!r} of elements")
    if len(parts) > 1 and not separator:
        raise ValueError("there are several elements and no separator between them")
    return separator.join(parts)


class CsvLine:
    """Writes records of one file or message as lines; fields are quoted where they must be."""

    def __init__(self, dialect: CsvDialect) -> None:
        self._buffer = io.StringIO()
        marks = dialect.python()
        self._sparing = csv.writer(self._buffer, **marks)
        # Python leaves a carriage return bare, which ends a record when it is read again
        self._careful = csv.writer(
            self._buffer, **marks | {"quoting": csv.QUOTE_ALL if dialect.quote else csv.QUOTE_NONE}
        )

    def of(self, texts: Sequence[str]) -> str:
        """One line, with its end."""
        writer = self._careful if any("\r" in t or "\n" in t for t in texts) else self._sparing
        try:
            writer.writerow(texts)
        except csv.Error as error:
            raise RecordError(f"the fields {texts!r:.200} cannot be written as CSV: {error}") from error
        text = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return text


def split_line(text: str, dialect: CsvDialect) -> list[str]:
    """The fields of one record; line ends inside of quotes belong to their field."""
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, **dialect.python()))
    if len(rows) > 1:
        raise ValueError(f"{len(rows)} records where one was expected")
    return rows[0] if rows else []
