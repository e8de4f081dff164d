"""Blobs: the entries of state stores, as a savepoint keeps them: by operator, kind and place."""

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
        return self._parsed.encode()

    @property
    def list_block(self) -> ListBlock:
        """Which block of which list it is, if its kind is `list`."""
        return self._parsed.list_block

    @property
    def _parsed(self) -> StoreKey:
        return StoreKey(uid_hash(self.operator), _KINDS[self.kind], self.place, self.rest)


def split_roots(items: Iterable[tuple[bytes, bytes]], roots: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a store without its roots, which are collected in `roots`: the metadata is made from them."""
    for key, value in items:
        if kind_of(key) is BlobKind.ROOT:
            roots[key] = value
        else:
            yield key, value


def blobs_of(items: Iterable[tuple[bytes, bytes]], uids: Mapping[bytes, str]) -> Iterator[Blob]:
    """The blobs of a store's entries, which must not contain roots; `uids` has each uid by its prefix in keys.

    Raises SavepointError for a key of an operator that is not among them.
    """
    for key, value in items:
        parsed = parse_key(key) if kind_of(key) in _NAMES else None
        uid = None if parsed is None else uids.get(parsed.uid_hash)
        if parsed is None or uid is None:
            raise SavepointError(f"The state store holds a key of no operator of this job: {key.hex()}")
        yield Blob(uid, _NAMES[parsed.kind], parsed.place, parsed.rest, value)
