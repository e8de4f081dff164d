"""Blobs of large collections, beside the pages: segments of long lists and buckets of large maps."""

from __future__ import annotations

from typing import Protocol

from penstock.runtime.codec import dumps, loads
from penstock.runtime.state.store import StateStore
from penstock.runtime.values import Entries

__all__ = ["CollectionBlobs"]

_BUCKETS_KEPT = 64
_BLOBS_KEPT = 256


class _Owner(Protocol):
    """The owner of blobs: its store may change from batch to batch, and it counts its blobs."""

    store: StateStore
    size: list[int]


class CollectionBlobs:
    """Reads and writes blobs of one keyed operator; changes of this batch are seen before they are stored."""

    def __init__(self, owner: _Owner) -> None:
        self._owner = owner
        self._blobs: dict[bytes, bytes | None] = {}
        self._buckets: dict[bytes, Entries] = {}
        self._changed: set[bytes] = set()

    def read(self, keys: list[bytes]) -> list[bytes | None]:
        """Blobs of large collections; those written in this batch are seen."""
        missing = [k for k in keys if k not in self._blobs]
        found = dict(zip(missing, self._owner.store.get_many(missing), strict=True)) if missing else {}
        return [self._blobs[k] if k in self._blobs else found[k] for k in keys]

    def new(self, key: bytes, blob: bytes) -> None:
        """Write a blob that was not there before."""
        self._owner.size[2] += 1
        self.write(key, blob)

    def write(self, key: bytes, blob: bytes | None) -> None:
        """Write (or with None remove) the blob of a large collection; buckets go through `bucket`."""
        self._blobs[key] = blob
        if len(self._blobs) >= _BLOBS_KEPT:
            self.flush()

    def bucket(self, key: bytes, change: bool = False) -> Entries:
        """A bucket of a large map, decoded once and kept for a while; `change` says that the caller will alter it."""
        if key not in self._buckets:
            if len(self._buckets) >= _BUCKETS_KEPT:
                self.flush_buckets()
            blob = self.read([key])[0]
            assert blob is not None, "a bucket of a map is missing from the state store"
            self._buckets[key] = loads(blob)
        if change:
            self._changed.add(key)
        return self._buckets[key]

    def drop(self, key: bytes) -> None:
        """Remove the blob of a large collection."""
        self._buckets.pop(key, None)
        self._changed.discard(key)
        self._owner.size[2] -= 1
        self.write(key, None)

    def flush_buckets(self) -> None:
        """Encode the buckets that have changed, and forget all."""
        for key in self._changed:
            self.write(key, dumps(self._buckets[key]))
        self._changed.clear()
        self._buckets.clear()

    def flush(self) -> None:
        """Write all changes to the store."""
        self._owner.store.put_many((k, b) for k, b in self._blobs.items() if b is not None)
        self._owner.store.delete_many(k for k, b in self._blobs.items() if b is None)
        self._blobs.clear()
