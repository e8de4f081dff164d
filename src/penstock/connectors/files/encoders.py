"""One record, one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Generic

from penstock.connectors.formats.csv_fields import Marks
from penstock.connectors.formats.csv_schema import CsvDialect
from penstock.connectors.formats.schemas import SerializationSchema
from penstock.connectors.formats.values import plain
from penstock.core.errors import RecordError
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, T

__all__ = ["Encoder"]


class Encoder(Subscriptable, Generic[IN]):
    """Turns one record into the bytes of one line.

    >>> Encoder.json_encoder().encode((1, {"a": 2}))
    b'[1,{"a":2}]\\n'
    """

    def __init__(self, encode: Callable[[IN], bytes], suffix: str = "") -> None:
        self.encode = encode
        self.suffix = suffix

    @staticmethod
    def simple_string_encoder(charset_name: str = "UTF-8") -> Encoder[object]:
        """`str(record)`, one a line."""
        return Encoder(_TextEncoder(charset_name))

    @staticmethod
    def json_encoder() -> Encoder[object]:
        """One JSON value a line; rows, named tuples and dataclasses become objects."""
        return Encoder(_json_line, ".json")

    @staticmethod
    def csv_encoder() -> Encoder[object]:
        """Fields of a tuple, row, dataclass or list, quoted where needed."""
        return Encoder(_csv_line, ".csv")

    @staticmethod
    def schema_encoder(schema: SerializationSchema[T], suffix: str = "") -> Encoder[T]:
        """An encoder that writes the bytes of a serialization schema, and adds a line end where they have none."""
        return Encoder(_SchemaEncoder(schema), suffix)


class _TextEncoder:
    def __init__(self, charset: str) -> None:
        self._charset = charset

    def __call__(self, value: object) -> bytes:
        return str(value).encode(self._charset) + b"\n"


class _SchemaEncoder(Generic[IN]):
    def __init__(self, schema: SerializationSchema[IN]) -> None:
        self._schema = schema

    def __call__(self, value: IN) -> bytes:
        data = self._schema.serialize(value) or b""
        return data if data.endswith(b"\n") else data + b"\n"


def _json_line(value: object) -> bytes:
    try:
        return json.dumps(plain(value), ensure_ascii=False, default=str, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise RecordError(f"the record {value!r:.200} cannot be written as JSON: {error}") from error


def _csv_line(value: object) -> bytes:
    made = plain(value)
    fields = list(made.values()) if isinstance(made, dict) else made
    if not isinstance(fields, list):
        raise RecordError(
            f"the record {value!r:.200} cannot be written as CSV: it must have fields (tuple, Row, dataclass)"
        )
    return _MARKS.line([_MARKS.bare("" if field is None else str(field)) for field in fields]).encode()


_MARKS = Marks(CsvDialect())
