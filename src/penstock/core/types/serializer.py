"""Serializers of one type, as custom window assigners name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

T = TypeVar("T")

__all__ = ["TypeSerializer", "VoidNamespaceSerializer", "void"]

void = b""


class TypeSerializer(ABC, Generic[T]):
    """Writes values to a stream and reads them back. Two of the same class with the same fields are equal."""

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Append a value."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read the next value."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Of nothing.

    >>> VoidNamespaceSerializer().deserialize(BytesIO())
    b''
    """

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Writes nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:
        return void
