"""Blobs: the entries of state stores, as a savepoint keeps them: by operator, kind and place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.core.errors import SavepointError
from penstock.runtime.task import store_prefix

__all__ = ["KEYED", "Blob", "blobs_of", "split_roots"]

_KINDS = {b"P": "page", b"G": "directory", b"S": "segment", b"O": "operator", b"L": "list"}
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}

KEYED = frozenset({"page", "directory", "segment"})
"""Kinds of blobs whose place is a key group; the place of the others is a subtask."""


class Blob(NamedTuple):
    """One entry of a state store. `operator` is a uid, `value` the bytes as the store has them.

    `place` is a key group for keyed state, else a subtask; `rest` is the rest of the key.
    """

    operator: str
    kind: str
    place: int
    rest: bytes
    value: bytes

    @property
    def key(self) -> bytes:
        """The key of the blob in a state store."""
        return b"%b%b%b%b" % (
            store_prefix(self.operator),
            _LETTERS[self.kind],
            self.place.to_bytes(4, "big"),
            self.rest,
        )


def split_roots(items: Iterable[tuple[bytes, bytes]], roots: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a store without its roots, which are collected in `roots`: the metadata is made from them."""
    for key, value in items:
        if key[8:9] == b"R":
            roots[key] = value
        else:
            yield key, value


def blobs_of(items: Iterable[tuple[bytes, bytes]], uids: Mapping[bytes, str]) -> Iterator[Blob]:
    """The blobs of a store's entries, which must not contain roots; `uids` has each uid by its prefix in keys.

    Raises SavepointError for a key of an operator that is not among them.
    """
    for key, value in items:
        uid, kind = uids.get(key[:8]), _KINDS.get(key[8:9])
        if uid is None or kind is None:
            raise SavepointError(f"The state store holds a key of no operator of this job: {key.hex()}")
        yield Blob(uid, kind, int.from_bytes(key[9:13], "big"), key[13:], value)
