"""A blob of state outside its store: whose it is, of which kind, where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.core.errors import SavepointError
from penstock.runtime.state.store_keys import BlobKind, ListBlock, StoreKey, kind_of, parse_key, uid_hash

__all__ = ["KEYED", "Blob", "blobs_of", "split_roots"]

_NAMES = {
    BlobKind.PAGE: "page",
    BlobKind.DIRECTORY: "directory",
    BlobKind.SEGMENT: "segment",
    BlobKind.OPERATOR: "operator",
    BlobKind.LIST: "list",
}
_KINDS = {name: kind for kind, name in _NAMES.items()}

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
        return self._parsed.encode()

    @property
    def list_block(self) -> ListBlock:
        """Which block of which list it is, if its kind is `list`."""
        return self._parsed.list_block

    @property
    def _parsed(self) -> StoreKey:
        return StoreKey(uid_hash(self.operator), _KINDS[self.kind], self.place, self.rest)


def split_roots(items: Iterable[tuple[bytes, bytes]], roots: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
    """What a store holds but its roots, which are put aside: they say what goes into the metadata."""
    for key, value in items:
        if kind_of(key) is BlobKind.ROOT:
            roots[key] = value
        else:
            yield key, value


def blobs_of(items: Iterable[tuple[bytes, bytes]], uids: Mapping[bytes, str]) -> Iterator[Blob]:
    """The blobs of a store, without roots; `uids`: by their prefix in keys."""
    for key, value in items:
        parsed = parse_key(key) if kind_of(key) in _NAMES else None
        uid = None if parsed is None else uids.get(parsed.uid_hash)
        if parsed is None or uid is None:
            raise SavepointError(f"The state store holds a key of no operator of this job: {key.hex()}")
        yield Blob(uid, _NAMES[parsed.kind], parsed.place, parsed.rest, value)
