"""A blob of state outside its store: whose it is, of which kind, where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.core.errors import SavepointError
from penstock.runtime.task import store_prefix

__all__ = ["KEYED", "Blob", "blobs_of", "split_roots"]

_KINDS = {b"P": "page", b"G": "directory", b"S": "segment", b"O": "operator", b"L": "list"}
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}

KEYED = frozenset({"page", "directory", "segment"})
"""Kinds whose place is a key group; the place of the others is a subtask."""


class Blob(NamedTuple):
    """What lies under one key of a state store. `place`: key group or subtask; `rest`: the rest of the key."""

    operator: str
    kind: str
    place: int
    rest: bytes
    value: bytes

    @property
    def key(self) -> bytes:
        """Its key in a state store."""
        return b"%b%b%b%b" % (
            store_prefix(self.operator),
            _LETTERS[self.kind],
            self.place.to_bytes(4, "big"),
            self.rest,
        )


def split_roots(items: Iterable[tuple[bytes, bytes]], roots: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
    """What a store holds but its roots, which are put aside: they say what goes into the metadata."""
    for key, value in items:
        if key[8:9] == b"R":
            roots[key] = value
        else:
            yield key, value


def blobs_of(items: Iterable[tuple[bytes, bytes]], uids: Mapping[bytes, str]) -> Iterator[Blob]:
    """The blobs of a store, without roots; `uids`: by their prefix in keys."""
    for key, value in items:
        uid, kind = uids.get(key[:8]), _KINDS.get(key[8:9])
        if uid is None or kind is None:
            raise SavepointError(f"The state store holds a key of no operator of this job: {key.hex()}")
        yield Blob(uid, kind, int.from_bytes(key[9:13], "big"), key[13:], value)
