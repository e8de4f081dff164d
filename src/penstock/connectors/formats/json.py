"""JSON: one value a line or a message, with the types of a row."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cached_property
from typing import Any

from penstock.connectors.formats.files import LineFormat
from penstock.connectors.formats.json_schema import type_of_json_schema
from penstock.connectors.formats.kinds import element, fields, kind, mentions
from penstock.connectors.formats.scalars import WHOLE_BOUNDS, NumberText, reader, writer
from penstock.connectors.formats.schemas import DeserializationSchema, SerializationSchema
from penstock.connectors.formats.values import field_values, row_maker
from penstock.core.errors import ProgramError, RecordError
from penstock.core.types.row import Row
from penstock.core.types.type_info import TypeInformation

__all__ = ["JsonReaderFormat", "JsonRowDeserializationSchema", "JsonRowSerializationSchema"]

Convert = Callable[[Any], Any]


class JsonRowDeserializationSchema(DeserializationSchema[Row]):
    """JSON objects to rows; fields are found by name, a missing one is None.

    >>> from penstock.core.types.type_info import Types
    >>> row_type = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())])
    >>> schema = JsonRowDeserializationSchema.builder().type_info(row_type).build()
    >>> schema.deserialize(b'{"b": ["x"], "a": "7"}')
    Row(a=7, b=['x'])
    """

    def __init__(self, type_info: TypeInformation, fail_on_missing_field: bool, ignore_parse_errors: bool) -> None:
        self._type_info = type_info
        self._strict = fail_on_missing_field
        self._ignore = ignore_parse_errors

    @staticmethod
    def builder() -> JsonRowDeserializationSchema.Builder:
        """Begin a schema; give it the type with `type_info`."""
        return JsonRowDeserializationSchema.Builder()

    class Builder:
        """Builds a `JsonRowDeserializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None
            self._strict = self._ignore = False

        def type_info(self, type_info: TypeInformation) -> JsonRowDeserializationSchema.Builder:
            """The row that objects become."""
            self._type_info = type_info
            return self

        def json_schema(self, json_schema: str) -> JsonRowDeserializationSchema.Builder:
            """The row that a JSON Schema describes."""
            if json_schema is None:
                raise TypeError("The json_schema must not be None.")
            self._type_info = type_of_json_schema(json_schema)
            return self

        def fail_on_missing_field(self) -> JsonRowDeserializationSchema.Builder:
            """Refuse a message that lacks a field of the type; by default the field is None."""
            self._strict = True
            return self

        def ignore_parse_errors(self) -> JsonRowDeserializationSchema.Builder:
            """Leave out messages that are not JSON; a field that does not fit its type becomes None."""
            self._ignore = True
            return self

        def build(self) -> JsonRowDeserializationSchema:
            """The finished schema."""
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            if self._strict and self._ignore:
                raise ProgramError(
                    "JsonRowDeserializationSchema cannot both fail_on_missing_field() and ignore_parse_errors()"
                )
            _reader(self._type_info, self._strict, self._ignore)
            return JsonRowDeserializationSchema(self._type_info, self._strict, self._ignore)

    @cached_property
    def _read(self) -> Convert:
        return _reader(self._type_info, self._strict, self._ignore)

    @cached_property
    def _parse(self) -> Convert:
        return _parser(Decimal if mentions(self._type_info, "BIG_DEC") else None)

    def deserialize(self, message: bytes | None) -> Row | None:
        if message is None:
            return None
        try:
            row: Row | None = self._read(self._parse(message))
            return row
        except (ValueError, TypeError) as error:
            if self._ignore:
                return None
            raise RecordError(f"the message {message!r:.200} cannot be read as JSON: {error}") from error

    def get_produced_type(self) -> TypeInformation:
        return self._type_info


class JsonRowSerializationSchema(SerializationSchema):
    """Rows (tuples, dataclasses, dicts) to JSON objects, in the text that Jackson writes.

    >>> from penstock.core.types.type_info import Types
    >>> row_type = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.SQL_DATE()])
    >>> JsonRowSerializationSchema.builder().with_type_info(row_type).build().serialize((1, None))
    b'{"a":1,"b":null}'
    """

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    @staticmethod
    def builder() -> JsonRowSerializationSchema.Builder:
        """Begin a schema; give it the type with `with_type_info`."""
        return JsonRowSerializationSchema.Builder()

    class Builder:
        """Builds a `JsonRowSerializationSchema`."""

        def __init__(self) -> None:
            self._type_info: TypeInformation | None = None

        def with_type_info(self, type_info: TypeInformation) -> JsonRowSerializationSchema.Builder:
            """The row type of the records."""
            self._type_info = type_info
            return self

        def build(self) -> JsonRowSerializationSchema:
            """The finished schema."""
            if self._type_info is None:
                raise TypeError("Typeinfo should be set.")
            _writer(self._type_info)
            return JsonRowSerializationSchema(self._type_info)

    @cached_property
    def _write(self) -> Callable[[Any], str]:
        return _writer(self._type_info)

    def serialize(self, element: object) -> bytes:
        try:
            return self._write(element).encode()
        except (ValueError, TypeError) as error:
            raise RecordError(f"the record {element!r:.200} cannot be written as JSON: {error}") from error


class JsonReaderFormat(LineFormat):
    """Files of JSON values, one a line: rows of a type, or plain lists and dicts without one.

    >>> JsonReaderFormat.for_type_info().decode(b'{"a": [1]}')
    {'a': [1]}
    """

    @staticmethod
    def for_type_info(
        type_info: TypeInformation | None = None,
        fail_on_missing_field: bool = False,
        ignore_parse_errors: bool = False,
    ) -> JsonReaderFormat:
        """Read lines of JSON as rows of this type; without a type, as JSON gives them."""
        if type_info is None:
            return JsonReaderFormat(_AnyJson(ignore_parse_errors), skips=ignore_parse_errors)
        builder = JsonRowDeserializationSchema.builder().type_info(type_info)
        if fail_on_missing_field:
            builder.fail_on_missing_field()
        if ignore_parse_errors:
            builder.ignore_parse_errors()
        return JsonReaderFormat(builder.build().deserialize, skips=ignore_parse_errors)


class _AnyJson:
    def __init__(self, ignore: bool) -> None:
        self._ignore = ignore

    def __call__(self, line: bytes) -> object:
        try:
            return _parse_any(line)
        except ValueError as error:
            if self._ignore:
                return None
            raise RecordError(f"the line {line!r:.200} cannot be read as JSON: {error}") from error


def _parser(parse_float: Callable[[str], object] | None) -> Convert:
    """`json.loads`, at a fraction of its price for what is most common: UTF-8 without blanks around the value."""
    scan = json.JSONDecoder(parse_float=parse_float).raw_decode

    def parse(message: bytes) -> object:
        try:
            text = message.decode()
            value, end = scan(text)
            if end == len(text):
                return value
        except ValueError:
            pass  # what is not UTF-8, or begins with a blank; what is no JSON is refused below
        return json.loads(message, parse_float=parse_float)

    return parse


_parse_any = _parser(None)


# -- by type ------------------------------------------------------------------------------------------


def _reader(info: TypeInformation, strict: bool, ignore: bool) -> Convert:
    """A function from what `json` parsed to a value of the type; None stays None."""
    convert = _composite_reader(info, strict, ignore) or reader(info)
    if convert is None:
        raise ProgramError(f"JSON has no form for {info.name}")
    return _optional(convert)


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _composite_reader(info: TypeInformation, strict: bool, ignore: bool) -> Convert | None:
    match kind(info):
        case "ROW":
            return _row_reader(info, strict, ignore)
        case "TUPLE":
            parts = [_reader(t, strict, ignore) for t in info.params]
            return lambda value: tuple(r(v) for r, v in zip(parts, _expect(value, list), strict=True))
        case "LIST":
            item = _reader(element(info), strict, ignore)
            return lambda value: [item(v) for v in _expect(value, list)]
        case "MAP":
            key, item = (_reader(t, strict, ignore) for t in info.params)
            return lambda value: {key(k): item(v) for k, v in _expect(value, dict).items()}
    return None


def _row_reader(info: TypeInformation, strict: bool, ignore: bool) -> Convert:
    names = [name for name, _ in fields(info)]
    guard = _lenient if ignore else _same
    parts = [
        (n, _PLAIN.get(kind(t)), WHOLE_BOUNDS.get(kind(t)), _named(n, guard(_reader(t, strict, ignore))))
        for n, t in fields(info)
    ]
    make = row_maker(names)

    def read(value: object) -> Any:
        if strict and (missing := [n for n in names if n not in _expect(value, dict)]):
            raise ValueError(f"field {missing[0]!r} is missing")
        found = _expect(value, dict).get
        return make(
            [
                v if type(v := found(name)) is cls and (bound is None or -bound <= v < bound) else convert(v)
                for name, cls, bound, convert in parts
            ]
        )

    return read


_PLAIN: dict[str, type[Any]] = {
    **dict.fromkeys(("STRING", "CHAR"), str),
    **dict.fromkeys((*WHOLE_BOUNDS, "BIG_INT"), int),
    "DOUBLE": float,
    "BOOLEAN": bool,
}
"""By kind: the class of values that need no reader."""


def _same(convert: Convert) -> Convert:
    return convert


def _lenient(convert: Convert) -> Convert:
    def read(value: object) -> Any:
        try:
            return convert(value)
        except (ValueError, TypeError):
            return None

    return read


def _named(name: str, convert: Convert) -> Convert:
    def call(value: object) -> Any:
        try:
            return convert(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"field {name!r}: {error}") from error

    return call


def _expect(value: object, cls: type) -> Any:
    if not isinstance(value, cls):
        raise ValueError(f"{value!r:.100} is not {'an object' if cls is dict else 'an array'}")
    return value


def _writer(info: TypeInformation) -> Callable[[Any], str]:
    """A function from a value of the type to its JSON text; text at once, so that no digit of a decimal is lost."""
    convert = _composite_writer(info) or _scalar_writer(info)
    return lambda value: "null" if value is None else convert(value)


def _scalar_writer(info: TypeInformation) -> Callable[[Any], str]:
    convert = writer(info)
    if convert is None:
        raise ProgramError(f"JSON has no form for {info.name}")
    return lambda value: _text(convert(value))


def _text(value: object) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) is NumberText or (isinstance(value, Decimal) and value.is_finite()):
        return str(value)
    return json.dumps(str(value) if isinstance(value, Decimal) else value)


_UNUSUAL = re.compile(r"\\u00[01][0-9a-f]|[\U00010000-\U0010ffff]")


def _quoted(text: str) -> str:
    """A JSON string. Jackson escapes characters beyond 16 bits, in two halves, and writes escapes in capitals."""
    made = json.encoder.encode_basestring(text)
    if made.isascii() and "\\u" not in made:
        return made
    return _UNUSUAL.sub(_as_jackson, made)


def _as_jackson(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) > 1:
        return found[:2] + found[2:].upper()
    high, low = struct.unpack(">HH", found.encode("utf-16-be"))
    return f"\\u{high:04X}\\u{low:04X}"


def _composite_writer(info: TypeInformation) -> Callable[[Any], str] | None:
    match kind(info):
        case "ROW" | "TUPLE":
            return _row_writer(info)
        case "LIST":
            item = _writer(element(info))
            return lambda value: f"[{','.join(map(item, value))}]"
        case "MAP":
            key, item = (_writer(t) for t in info.params)
            return lambda value: _object([_key(key(k)) for k in value], map(item, value.values()))
    return None


def _key(text: str) -> str:
    return text if text.startswith('"') else f'"{text}"'


def _object(keys: Iterable[str], values: Iterable[str]) -> str:
    return "{" + ",".join(f"{k}:{v}" for k, v in zip(keys, values, strict=True)) + "}"


def _row_writer(info: TypeInformation) -> Callable[[Any], str]:
    names = [name for name, _ in fields(info)]
    keys = [_text(name) for name in names]
    parts = [_named(n, _writer(t)) for n, t in fields(info)]
    as_object = kind(info) == "ROW"

    def write(value: Any) -> str:
        texts = [c(v) for c, v in zip(parts, field_values(value, names, "JSON"), strict=True)]
        return _object(keys, texts) if as_object else f"[{','.join(texts)}]"

    return write
