"""Large collections leave the page: long lists as chains of segments, large maps as buckets.

Small ones are plain lists and dicts of encoded values inside the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.core.errors import KeyTypeError
from penstock.pickled import stable
from penstock.runtime.codec import Encoded, decode, dumps, loads
from penstock.runtime.keyhash import stable_hash
from penstock.runtime.state.space import StateSpace
from penstock.runtime.values import Entries, Stored

__all__ = ["BucketMap", "SegmentList", "bucketable", "item_size"]

SEGMENT_BYTES = 32 << 10
INLINE_ENTRIES = 1024
BUCKET_ENTRIES = 512
_READ_AHEAD = 16


def item_size(item: Any) -> int:
    """A rough size of an encoded item, for cutting segments."""
    if type(item) in (Encoded, str, bytes):
        return 8 + len(item)
    return 16 + sum(map(item_size, item)) if type(item) is tuple else 24


@stable("SegmentList")
class SegmentList:
    """A long list: full segments in blobs of their own, the tail in the page.

    `runs` are (first, count) of segment numbers, in order.
    """

    __slots__ = ("runs", "tail", "tail_bytes")

    def __init__(self, runs: list[tuple[int, int]], tail: list[Stored], tail_bytes: int) -> None:
        self.runs = runs
        self.tail = tail
        self.tail_bytes = tail_bytes

    def __reduce__(self) -> tuple[object, ...]:
        return (SegmentList, (self.runs, self.tail, self.tail_bytes))

    def append(self, backend: StateSpace, item: object) -> None:
        """Append an encoded item; a full tail becomes a segment."""
        self.tail.append(item)
        self.tail_bytes += item_size(item)
        if self.tail_bytes >= SEGMENT_BYTES:
            self._seal(backend)

    def _seal(self, backend: StateSpace) -> None:
        group = backend.group_of(backend.page)
        number = group.take_segment()
        backend.new_blob(backend.names.segment(group.number, number), dumps(self.tail))
        if self.runs and sum(self.runs[-1]) == number:
            self.runs[-1] = (self.runs[-1][0], self.runs[-1][1] + 1)
        else:
            self.runs.append((number, 1))
        self.tail, self.tail_bytes = [], 0

    def keys(self, backend: StateSpace) -> list[bytes]:
        """Store keys of the segments, in order."""
        group = backend.page.ident[0]
        return [backend.names.segment(group, n) for first, count in self.runs for n in range(first, first + count)]

    def read(self, backend: StateSpace, keys: list[bytes], tail: list[Stored]) -> Iterator[Any]:
        """All items, a few segments in memory at a time. `keys` and `tail` were taken when the key was current."""
        for start in range(0, len(keys), _READ_AHEAD):
            for blob in backend.read_blobs(keys[start : start + _READ_AHEAD]):
                assert blob is not None, "a segment of a list is missing from the state store"
                yield from map(decode, loads(blob))
        yield from map(decode, tail)

    def drop_first(self) -> None:
        """Forget the first segment, whose blob is gone."""
        first, count = self.runs[0]
        self.runs[:1] = [(first + 1, count - 1)] if count > 1 else []

    def drop(self, backend: StateSpace) -> None:
        """Remove all segments from the store."""
        for key in self.keys(backend):
            backend.drop_blob(key)


def bucketable(key: object) -> bool:
    """Whether a map key has a stable hash, without which a map cannot be split."""
    try:
        stable_hash(key)
    except KeyTypeError:
        return False
    return True


def _bucket(key: object, width: int) -> int:
    """The bucket of a map key; keys without a stable hash all share the first."""
    try:
        return stable_hash(key) % width
    except KeyTypeError:
        return 0


@stable("BucketMap")
class BucketMap:
    """A large map: entries in buckets by hash, each a blob of its own."""

    __slots__ = ("buckets", "count")

    def __init__(self, buckets: list[int], count: int) -> None:
        self.buckets = buckets
        self.count = count

    def __reduce__(self) -> tuple[object, ...]:
        return (BucketMap, (self.buckets, self.count))

    @staticmethod
    def of(backend: StateSpace, entries: Entries) -> BucketMap:
        """A map that outgrew its page, in buckets."""
        made = BucketMap([], 0)
        made._rebuild(backend, entries)
        return made

    def _rebuild(self, backend: StateSpace, entries: Entries) -> None:
        width = 1 << (2 * len(entries) // BUCKET_ENTRIES).bit_length()
        parts: list[Entries] = [{} for _ in range(width)]
        for key, value in entries.items():
            parts[_bucket(key, width)][key] = value
        group = backend.group_of(backend.page)
        self.buckets = [group.take_segment() for _ in parts]
        self.count = len(entries)
        for number, part in zip(self.buckets, parts, strict=True):
            backend.new_blob(backend.names.segment(group.number, number), dumps(part))

    def _name(self, backend: StateSpace, key: object) -> bytes:
        number = self.buckets[_bucket(key, len(self.buckets))]
        return backend.names.segment(backend.page.ident[0], number)

    def get(self, backend: StateSpace, key: object, default: object) -> Any:
        """The encoded value of a map key."""
        return backend.bucket(self._name(backend, key)).get(key, default)

    def put(self, backend: StateSpace, key: object, value: object) -> None:
        """Put an encoded value; buckets that have grown too large are made anew."""
        bucket = backend.bucket(self._name(backend, key), change=True)
        self.count += key not in bucket
        bucket[key] = value
        if self.count > 2 * BUCKET_ENTRIES * len(self.buckets):
            entries = dict(self.items(backend))
            self.drop(backend)
            self._rebuild(backend, entries)

    def remove(self, backend: StateSpace, key: object) -> None:
        """Remove a map key, if it is there."""
        bucket = backend.bucket(self._name(backend, key), change=True)
        if bucket.pop(key, bucket) is not bucket:
            self.count -= 1

    def names(self, backend: StateSpace) -> list[bytes]:
        """Store keys of the buckets."""
        return [backend.names.segment(backend.page.ident[0], n) for n in self.buckets]

    def items(self, backend: StateSpace) -> Iterator[tuple[Any, Any]]:
        """All entries, still encoded, one bucket after the other."""
        for name in self.names(backend):
            yield from list(backend.bucket(name).items())

    def drop(self, backend: StateSpace) -> None:
        """Remove all buckets from the store."""
        for name in self.names(backend):
            backend.drop_blob(name)
