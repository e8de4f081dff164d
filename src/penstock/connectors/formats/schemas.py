"""Messages to and from bytes: the bases, and the schemas that need no format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from penstock.core.errors import ProgramError, RecordError
from penstock.core.types.row import Row
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_info import TypeInformation, Types
from penstock.core.types.type_variables import IN, OUT

__all__ = [
    "ByteArraySchema",
    "DeserializationSchema",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]


class SerializationSchema(Subscriptable, ABC, Generic[IN]):
    """Turns a record into bytes. Picklable; runs in workers.

    >>> class Hex(SerializationSchema):
    ...     def serialize(self, element):
    ...         return hex(element).encode()
    >>> Hex().serialize(255)
    b'0xff'
    """

    @abstractmethod
    def serialize(self, element: IN) -> bytes | None:
        """The bytes of a record; `RecordError` if it has none."""


class DeserializationSchema(Subscriptable, ABC, Generic[OUT]):
    """Turns bytes into a record. Picklable; runs in workers.

    >>> class Hex(DeserializationSchema):
    ...     def deserialize(self, message):
    ...         return int(message, 16)
    >>> Hex().deserialize(b"ff")
    255
    """

    @abstractmethod
    def deserialize(self, message: bytes | None) -> OUT | None:
        """The record; None to leave the message out; `RecordError` if it cannot be read."""

    def get_produced_type(self) -> TypeInformation[OUT]:
        """The type of the records, where a columnar sink needs it."""
        return Types.PICKLED_BYTE_ARRAY()


class SimpleStringSchema(SerializationSchema[str], DeserializationSchema[str]):
    """Strings.

    >>> SimpleStringSchema("latin-1").serialize("ü")
    b'\\xfc'
    """

    def __init__(self, charset: str = "UTF-8") -> None:
        try:
            "".encode(charset)
        except LookupError as error:
            raise ProgramError(f"SimpleStringSchema: {error}") from error
        self._charset = charset

    def serialize(self, element: str) -> bytes:
        if not isinstance(element, str):
            raise RecordError(f"SimpleStringSchema takes strings, got the {type(element).__name__} {element!r:.200}")
        try:
            return element.encode(self._charset)
        except UnicodeEncodeError as error:
            raise RecordError(f"the record {element!r:.200} cannot be written: {error}") from error

    def deserialize(self, message: bytes | None) -> str | None:
        if message is None:
            return None
        try:
            return message.decode(self._charset)
        except UnicodeDecodeError as error:
            raise RecordError(f"the message {message!r:.200} cannot be read as text: {error}") from error

    def get_produced_type(self) -> TypeInformation[str]:
        return Types.STRING()


class ByteArraySchema(SerializationSchema[bytes | bytearray], DeserializationSchema[bytes]):
    """Bytes as they are.

    >>> ByteArraySchema().deserialize(b"x")
    b'x'
    """

    def serialize(self, element: bytes | bytearray) -> bytes:
        if not isinstance(element, (bytes, bytearray)):
            raise RecordError(f"ByteArraySchema takes bytes, got the {type(element).__name__} {element!r:.200}")
        return bytes(element)

    def deserialize(self, message: bytes | None) -> bytes | None:
        return message


class RowFieldExtractorSchema(SerializationSchema[Row | Sequence[object] | None]):
    """One field of a row, which must hold bytes already; nothing (b"") of a field, or of a record, that is None.

    >>> RowFieldExtractorSchema(1).serialize(Row(1, b"key"))
    b'key'
    """

    def __init__(self, field_index: int) -> None:
        if field_index < 0:
            raise ValueError(f"Field index must be non-negative, got: {field_index}")
        self._index = field_index

    def serialize(self, element: Row | Sequence[object] | None) -> bytes:
        if element is None:
            return b""
        if not isinstance(element, (Row, tuple, list)) or len(element) <= self._index:
            raise RecordError(f"the record {element!r:.200} has no field {self._index}")
        value = element[self._index]
        if value is None:
            return b""
        if not isinstance(value, (bytes, bytearray)):
            raise RecordError(
                f"field {self._index} of the record {element!r:.200} is a {type(value).__name__}: "
                "RowFieldExtractorSchema takes bytes, encode it first"
            )
        return bytes(value)
