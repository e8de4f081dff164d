"""CSV messages: one record each."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from penstock.connectors.formats.csv_fields import CsvLine, field_reader, split_line
from penstock.connectors.formats.csv_schema import CsvColumn, CsvDialect
from penstock.connectors.formats.kinds import fields, kind
from penstock.connectors.formats.schemas import DeserializationSchema, SerializationSchema
from penstock.connectors.formats.values import row_maker
from penstock.core.errors import RecordError
from penstock.core.types.type_info import TypeInformation

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]


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

    def _mark(self, **changes: Any) -> Self:
        self._settings = replace(self._settings, dialect=replace(self._settings.dialect, **changes))
        return self

    def set_array_element_delimiter(self, delimiter: str) -> Self:
        self._settings = replace(self._settings, separator=delimiter)
        return self

    def set_quote_character(self, c: str) -> Self:
        return self._mark(quote=c)

    def set_escape_character(self, c: str) -> Self:
        return self._mark(escape=c)


class CsvRowDeserializationSchema(DeserializationSchema):
    """One CSV record a message, to a row.

    >>> from penstock.core.types.type_info import Types
    >>> row_type = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    >>> CsvRowDeserializationSchema.Builder(row_type).set_field_delimiter("|").build().deserialize(b'1|"x|y"')
    Row(a=1, b='x|y')
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    class Builder(_Builder):
        """Builds a `CsvRowDeserializationSchema`."""

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            """The character between two fields; a comma by default."""
            self._mark(delimiter=delimiter)
            return self

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            """The text that stands for None."""
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
            """The finished schema."""
            made = CsvRowDeserializationSchema(self._settings)
            made._readers  # noqa: B018 - a type without a form is refused now
            return made

    @cached_property
    def _readers(self) -> list[Callable[[str], Any]]:
        s = self._settings
        return [field_reader(n, t, s.separator, s.dialect.null) for n, t in s.columns()]

    @cached_property
    def _make(self) -> Callable[[Sequence[Any]], object]:
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

    >>> from penstock.core.types.type_info import Types
    >>> row_type = Types.ROW([Types.INT(), Types.LIST(Types.STRING())])
    >>> CsvRowSerializationSchema.Builder(row_type).build().serialize((1, ["x", "y"]))
    b'1,x;y\\n'
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    class Builder(_Builder):
        """Builds a `CsvRowSerializationSchema`."""

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            """The character between two fields; a comma by default."""
            self._mark(delimiter=c)
            return self

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            """The text that stands for None."""
            self._mark(null=s)
            return self

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """The characters that end a record; "" for none."""
            self._mark(line_end=delimiter)
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            """Write fields without quotes, whatever they hold."""
            self._mark(quote=None)
            return self

        def build(self) -> CsvRowSerializationSchema:
            """The finished schema."""
            made = CsvRowSerializationSchema(self._settings)
            made._line  # noqa: B018 - a type without a form is refused now
            return made

    @cached_property
    def _line(self) -> CsvLine:
        s = self._settings
        return CsvLine([CsvColumn(name, info, s.separator) for name, info in s.columns()], s.dialect)

    def serialize(self, element: object) -> bytes:
        value = element if kind(self._settings.type_info) in ("ROW", "TUPLE") else [element]
        return self._line.of(value).encode()
