"""The durable map that pages live in. Spark's state store is one; a dict is another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = ["MemoryStore", "StateStore"]


class StateStore(Protocol):
    """A map from bytes to bytes. Calls come in bulk because each may be a round trip."""

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The blobs, None where there is none."""

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Write blobs."""

    def delete_many(self, keys: Iterable[bytes]) -> None:
        """Remove blobs that exist."""


class MemoryStore:
    """A store in a dict, which counts reads and writes.

    >>> store = MemoryStore()
    >>> store.put_many([(b"a", b"1")])
    >>> store.get_many([b"a", b"b"])
    [b'1', None]
    """

    def __init__(self, blobs: dict[bytes, bytes] | None = None) -> None:
        self.blobs: dict[bytes, bytes] = dict(blobs or {})
        self.reads = 0
        self.writes = 0
        self.bytes_written = 0

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The blobs, None where there is none."""
        self.reads += len(keys)
        return [self.blobs.get(key) for key in keys]

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep blobs."""
        for key, blob in items:
            self.writes += 1
            self.bytes_written += len(blob)
            self.blobs[key] = blob

    def delete_many(self, keys: Iterable[bytes]) -> None:
        """Forget blobs."""
        for key in keys:
            self.writes += 1
            self.blobs.pop(key, None)
