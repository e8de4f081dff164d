"""Live state handles over the backend's tables. Each acts on the current key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.core.functions.base import AggregateFunction
from penstock.core.state.keyed import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.runtime.codec import IMMUTABLE, Encoded, decode, encode, loads
from penstock.runtime.state.collections import (
    INLINE_ENTRIES,
    SEGMENT_BYTES,
    BucketMap,
    SegmentList,
    bucketable,
    item_size,
)
from penstock.runtime.state.space import StateSpace
from penstock.runtime.values import Entries, Records, Stored

if TYPE_CHECKING:
    from penstock.runtime.state.backend import KeyedBackend

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")

__all__ = [
    "PagedAggregatingState",
    "PagedListState",
    "PagedMapState",
    "PagedReducingState",
    "PagedValueState",
]

_ABSENT: object = object()


def _drop(backend: StateSpace, slot: int) -> Any:
    """Remove the current key from a table; returns its stored value."""
    stored = backend.page.slots[slot].pop(backend.key, _ABSENT)
    if stored is not _ABSENT:
        backend.page.dirty = True
    return stored


class PagedValueState(ValueState[T]):
    """A value per key. `_plain` is the class of the last value that needed no encoding: mostly that of the next one."""

    __slots__ = ("_backend", "_plain", "_slot")

    def __init__(self, backend: StateSpace, name: str) -> None:
        self._backend = backend
        self._plain: type = int
        self._slot = backend.use(name)

    def value(self) -> Any:
        """The value of the current key, decoded anew at each call if it is mutable."""
        backend = self._backend
        stored = backend.page.slots[self._slot].get(backend.key)
        return loads(stored) if type(stored) is Encoded else stored

    def update(self, value: T | None) -> None:
        """Replace the value of the current key; None clears it."""
        if type(value) is not self._plain:
            if value is None:
                return self.clear()
            value = self._encoded(value)
        backend = self._backend
        page = backend.page
        page.slots[self._slot][backend.key] = value
        page.dirty = True

    def _encoded(self, value: object) -> Any:
        if type(value) in IMMUTABLE:
            self._plain = type(value)
            return value
        return encode(value)

    def keep(self, value: object) -> None:
        """Update with a value that is known to be immutable, or has been encoded."""
        backend = self._backend
        page = backend.page
        page.slots[self._slot][backend.key] = value
        page.dirty = True

    def clear(self) -> None:
        """Forget the value of the current key."""
        _drop(self._backend, self._slot)


class PagedReducingState(ReducingState[T]):
    """Values of a key reduced to one."""

    def __init__(self, backend: StateSpace, name: str, reduce: Callable[[T, T], T]) -> None:
        self._backend = backend
        self._reduce = reduce
        self._slot = backend.use(name)

    def get(self) -> Any:
        """The result of the current key, or None."""
        backend = self._backend
        return decode(backend.page.slots[self._slot].get(backend.key))

    def add(self, value: T) -> None:
        """Reduce one more value of the current key."""
        self.fold(value)

    def fold(self, value: T) -> T:
        """Add a value and return the new result."""
        key, page = self._backend.key, self._backend.page
        table = page.slots[self._slot]
        stored = table.get(key, _ABSENT)
        result = value if stored is _ABSENT else self._reduce(decode(stored), value)
        table[key] = encode(result)
        page.dirty = True
        return result

    def fold_all(self, backend: KeyedBackend, values: Iterator[Any], keys: Sequence[Any]) -> list[Any]:
        """`fold` records of many keys, whose pages are loaded; returns the results, which share nothing mutable with
        state."""
        reduce, slot, are_immutable = self._reduce, self._slot, IMMUTABLE.issuperset
        results: Records = []
        for value, key, page in zip(values, keys, backend.pages(keys), strict=False):
            backend.key, backend.page = key, page
            table = page.slots[slot]
            result = table.get(key, _ABSENT)
            if result is _ABSENT:
                result = value
            else:
                result = reduce(result if type(result) is not Encoded else decode(result), value)
            if type(result) is tuple and are_immutable(map(type, result)):
                table[key] = result
            else:
                # most results are tuples of scalars; this one may be mutable, so state keeps it encoded
                table[key] = kept = encode(result)
                result = decode(kept)
            page.dirty = True
            results.append(result)
        return results

    def clear(self) -> None:
        """Forget the result of the current key."""
        _drop(self._backend, self._slot)


class PagedAggregatingState(AggregatingState[IN, OUT]):
    """Values of a key folded into an accumulator."""

    def __init__(self, backend: StateSpace, name: str, function: AggregateFunction) -> None:
        self._value: PagedValueState[object] = PagedValueState(backend, name)
        self._function = function

    def get(self) -> Any:
        """The result of the current key's accumulator, or None."""
        accumulator = self._value.value()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: IN) -> None:
        """Add a value to the current key's accumulator."""
        accumulator = self._value.value()
        if accumulator is None:
            accumulator = self._function.create_accumulator()
        self._value.update(self._function.add(value, accumulator))

    def clear(self) -> None:
        """Forget the accumulator of the current key."""
        self._value.clear()


class PagedListState(ListState[T]):
    """A list per key: a plain list in the page while short, a `SegmentList` once long."""

    def __init__(self, backend: StateSpace, name: str) -> None:
        self._backend = backend
        self._slot = backend.use(name)

    @property
    def _table(self) -> Entries:
        table: Entries = self._backend.page.slots[self._slot]
        return table

    def get(self) -> Iterable[T]:
        """The items of the current key; a long list is read in pieces, as it was at the time of the call."""
        stored = self._table.get(self._backend.key)
        if stored is None:
            return []
        if type(stored) is list:
            return list(map(decode, stored))
        return _SegmentView(self._backend, stored)

    def add(self, value: T) -> None:
        """Append an item."""
        self._append((value,))

    def add_all(self, values: Iterable[T]) -> None:
        """Append several items."""
        self._append(values)

    def update(self, values: Iterable[T]) -> None:
        """Replace the whole list."""
        kept = list(values)
        self.clear()
        self._append(kept)

    def _append(self, values: Iterable[T]) -> None:
        backend = self._backend
        stored: Stored = self._table.get(backend.key)
        if stored is None:
            stored = self._table[backend.key] = []
        for value in values:
            item = encode(value)
            if type(stored) is list:
                stored.append(item)
                if len(stored) & 127 == 0 and sum(map(item_size, stored)) >= SEGMENT_BYTES:
                    stored = self._table[backend.key] = SegmentList([], stored, SEGMENT_BYTES)
            else:
                stored.append(backend, item)
        if type(stored) is list and not stored:
            del self._table[backend.key]
        backend.page.dirty = True

    def clear(self) -> None:
        """Forget the list of the current key."""
        stored = _drop(self._backend, self._slot)
        if type(stored) is SegmentList:
            stored.drop(self._backend)


class _SegmentView:
    """A long list as it was at the time of the call; it can be read more than once, in pieces."""

    def __init__(self, backend: StateSpace, stored: SegmentList) -> None:
        self._backend, self._stored = backend, stored
        self._keys, self._tail = stored.keys(backend), list(stored.tail)

    def __iter__(self) -> Iterator[Any]:
        return self._stored.read(self._backend, self._keys, self._tail)


class PagedMapState(MapState[K, V]):
    """A map per key: a plain dict in the page while small, a `BucketMap` once large."""

    def __init__(self, backend: StateSpace, name: str) -> None:
        self._backend = backend
        self._slot = backend.use(name)

    @property
    def _table(self) -> Entries:
        table: Entries = self._backend.page.slots[self._slot]
        return table

    def get(self, key: K) -> Any:
        """The value of a map key, or None."""
        found = self._find(key)
        if type(found) is Encoded:
            return loads(found)
        return None if found is _ABSENT else found

    def contains(self, key: K) -> bool:
        """Whether a map key is there."""
        return self._find(key) is not _ABSENT

    def _find(self, key: K) -> Any:
        backend = self._backend
        stored = backend.page.slots[self._slot].get(backend.key)
        if type(stored) is dict:
            return stored.get(key, _ABSENT)
        return _ABSENT if stored is None else stored.get(backend, key, _ABSENT)

    def put(self, key: K, value: V) -> None:
        """Put one entry."""
        self.put_encoded(key, value if type(value) in IMMUTABLE else encode(value))

    def put_encoded(self, key: K, item: object) -> None:
        """Put a value that has been encoded already."""
        backend = self._backend
        page = backend.page
        table = page.slots[self._slot]
        stored: Stored = table.get(backend.key)
        if type(stored) is dict:
            stored[key] = item
            if len(stored) > INLINE_ENTRIES and not len(stored) & 255 and all(map(bucketable, stored)):
                table[backend.key] = BucketMap.of(backend, stored)
        elif stored is None:
            table[backend.key] = {key: item}
        else:
            stored.put(backend, key, item)
        page.dirty = True

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Put several entries."""
        for key, value in dict_value.items():
            self.put(key, value)

    def remove(self, key: K) -> None:
        """Remove one entry, if it is there."""
        backend = self._backend
        stored: Stored = self._table.get(backend.key)
        if stored is None:
            return
        if type(stored) is dict:
            stored.pop(key, None)
        else:
            stored.remove(backend, key)
        if not (stored if type(stored) is dict else stored.count):
            self.clear()
        backend.page.dirty = True

    def items(self) -> Iterable[tuple[K, V]]:
        """All entries."""
        return [(k, decode(v)) for k, v in self._entries()]

    def keys(self) -> Iterable[K]:
        """All map keys."""
        return [k for k, _ in self._entries()]

    def values(self) -> Iterable[V]:
        """All values."""
        return [decode(v) for _, v in self._entries()]

    def _entries(self) -> Iterable[tuple[K, V]]:
        stored = self._table.get(self._backend.key)
        if stored is None:
            return ()
        return stored.items() if type(stored) is dict else stored.items(self._backend)

    def is_empty(self) -> bool:
        """Whether the current key has no entry."""
        return self._table.get(self._backend.key) is None

    def clear(self) -> None:
        """Forget the map of the current key."""
        stored = _drop(self._backend, self._slot)
        if type(stored) is BucketMap:
            stored.drop(self._backend)
