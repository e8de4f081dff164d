"""State that expires: handles around the plain ones, which hold `(stamp, value)` in place of values.

A stamp is the processing time of the last write (or read). An expired entry leaves the store when it
is met, and otherwise by a *sweep*: a page knows when its oldest entry is to be swept (a quarter of the
time to live after it expires, so that a page is not swept for every entry), its group's directory
remembers that for pages that are not loaded, and the end of a batch sweeps what is due. States without
TTL have tables of other names and know nothing of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.core.functions.base import AggregateFunction
from penstock.core.state.keyed import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.core.state.ttl import StateTtlConfig
from penstock.core.time.clock import Clock
from penstock.runtime.state.handles import PagedListState, PagedMapState, PagedValueState
from penstock.runtime.state.sweep import Lifetime, Sweeper

if TYPE_CHECKING:
    from penstock.runtime.state.backend import KeyedBackend

T = TypeVar("T")
E = TypeVar("E")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")

__all__ = [
    "TtlAggregatingState",
    "TtlListState",
    "TtlMapState",
    "TtlReducingState",
    "TtlValueState",
    "lifetime",
]


def lifetime(backend: KeyedBackend, name: str, config: StateTtlConfig, clock: Clock) -> Lifetime:
    """The lifetime of a table's entries; from now on the backend sweeps them."""
    life = Lifetime(config, clock)
    if backend.sweeper is None:
        backend.sweeper = Sweeper(backend, clock)
    backend.sweeper.lives[name] = life
    return life


class _Expiring:
    """Base of the handles: stamps values and knows which have expired."""

    def __init__(self, backend: KeyedBackend, life: Lifetime) -> None:
        self._backend = backend
        self._life = life

    def _stamped(self, value: E) -> tuple[int, E]:
        """A value with the present time; makes sure that its page is swept in time."""
        life = self._life
        now = life.now()
        if life.swept and now + life.keep_ms < self._backend.page.sweep_ms:
            self._backend.page.sweep_ms = now + life.keep_ms
        return now, value

    def _dead(self, pair: tuple[int, object]) -> bool:
        return pair[0] + self._life.ttl_ms <= self._life.now()


class TtlValueState(_Expiring, ValueState[T]):
    """A value per key that expires."""

    def __init__(self, backend: KeyedBackend, name: str, life: Lifetime) -> None:
        super().__init__(backend, life)
        self._inner: PagedValueState[tuple[int, T]] = PagedValueState(backend, name)

    def value(self) -> Any:
        """The value of the current key, unless it has expired."""
        found = self._inner.value()
        if found is None:
            return None
        if self._dead(found):
            self._inner.clear()
            return found[1] if self._life.lenient else None
        if self._life.on_read:
            self._inner.update(self._stamped(found[1]))
        return found[1]

    def update(self, value: T | None) -> None:
        """Replace the value of the current key and stamp it; None clears it."""
        if value is None:
            return self._inner.clear()
        self._inner.update(self._stamped(value))

    def base(self, absent: object) -> Any:
        """The value that an addition starts from, or `absent`; an expired value counts only if it may still be seen."""
        found = self._inner.value()
        if found is None or (self._dead(found) and not self._life.lenient):
            return absent
        return found[1]

    def clear(self) -> None:
        """Forget the value of the current key."""
        self._inner.clear()


_ABSENT: object = object()


class TtlReducingState(ReducingState[T]):
    """Values of a key reduced to one, which expires; every addition is a write."""

    def __init__(self, backend: KeyedBackend, name: str, life: Lifetime, reduce: Callable[[T, T], T]) -> None:
        self._value: TtlValueState[T] = TtlValueState(backend, name, life)
        self._reduce = reduce

    def get(self) -> Any:
        """The result of the current key, or None."""
        return self._value.value()

    def add(self, value: T) -> None:
        """Reduce one more value of the current key."""
        self.fold(value)

    def fold(self, value: T) -> T:
        """Add a value and return the new result."""
        base = self._value.base(_ABSENT)
        result = value if base is _ABSENT else self._reduce(base, value)
        self._value.update(result)
        return result

    def clear(self) -> None:
        """Forget the result of the current key."""
        self._value.clear()


class TtlAggregatingState(AggregatingState[IN, OUT]):
    """Values of a key folded into an accumulator, which expires; every addition is a write."""

    def __init__(self, backend: KeyedBackend, name: str, life: Lifetime, function: AggregateFunction) -> None:
        self._value: TtlValueState[object] = TtlValueState(backend, name, life)
        self._function = function

    def get(self) -> Any:
        """The result of the current key's accumulator, or None."""
        accumulator = self._value.value()
        return None if accumulator is None else self._function.get_result(accumulator)

    def add(self, value: IN) -> None:
        """Add a value to the current key's accumulator."""
        base = self._value.base(_ABSENT)
        accumulator = self._function.create_accumulator() if base is _ABSENT else base
        self._value.update(self._function.add(value, accumulator))

    def clear(self) -> None:
        """Forget the accumulator of the current key."""
        self._value.clear()


class TtlListState(_Expiring, ListState[T]):
    """A list per key whose elements expire one by one."""

    def __init__(self, backend: KeyedBackend, name: str, life: Lifetime) -> None:
        super().__init__(backend, life)
        self._inner: PagedListState[tuple[int, T]] = PagedListState(backend, name)

    def get(self) -> Iterable[T]:
        """The items of the current key that have not expired."""
        pairs = self._inner.get()
        if type(pairs) is not list and not self._life.on_read:
            return _LiveView(pairs, self._life)
        pairs = list(pairs)
        alive = [pair for pair in pairs if not self._dead(pair)]
        if self._life.on_read:
            self._inner.update([self._stamped(value) for _, value in alive])
        elif len(alive) != len(pairs):
            self._inner.update(alive)
        return [value for _, value in (pairs if self._life.lenient else alive)]

    def add(self, value: T) -> None:
        """Append an item."""
        self._inner.add(self._stamped(value))

    def add_all(self, values: Iterable[T]) -> None:
        """Append several items."""
        self._inner.add_all(map(self._stamped, values))

    def update(self, values: Iterable[T]) -> None:
        """Replace the whole list."""
        self._inner.update(map(self._stamped, values))

    def clear(self) -> None:
        """Forget the list of the current key."""
        self._inner.clear()


class _LiveView(Generic[T]):
    """A long list without its expired elements; read in pieces, as often as wanted. Sweeps remove them."""

    def __init__(self, pairs: Iterable[tuple[int, T]], life: Lifetime) -> None:
        self._pairs, self._life = pairs, life
        self._dead_until = life.now() - life.ttl_ms

    def __iter__(self) -> Iterator[T]:
        lenient, dead_until = self._life.lenient, self._dead_until
        return (value for stamp, value in self._pairs if lenient or stamp > dead_until)


class TtlMapState(_Expiring, MapState[K, V]):
    """A map per key whose entries expire one by one."""

    def __init__(self, backend: KeyedBackend, name: str, life: Lifetime) -> None:
        super().__init__(backend, life)
        self._inner: PagedMapState[K, tuple[int, V]] = PagedMapState(backend, name)

    def get(self, key: K) -> V | None:
        """The value of a map key, or None."""
        found = self._seen(key)
        return None if found is None else found[1]

    def contains(self, key: K) -> bool:
        """Whether a map key is there."""
        return self._seen(key) is not None

    def _seen(self, key: K) -> tuple[int, V] | None:
        """An entry as a read sees it: removed if it has expired, else stamped again if reads prolong it."""
        found: tuple[int, V] | None = self._inner.get(key)
        if found is None:
            return None
        if self._dead(found):
            self._inner.remove(key)
            return found if self._life.lenient else None
        if self._life.on_read:
            self._inner.put(key, self._stamped(found[1]))
        return found

    def put(self, key: K, value: V) -> None:
        """Put one entry."""
        self._inner.put(key, self._stamped(value))

    def put_all(self, dict_value: dict[K, V]) -> None:
        """Put several entries."""
        for key, value in dict_value.items():
            self.put(key, value)

    def remove(self, key: K) -> None:
        """Remove one entry, if it is there."""
        self._inner.remove(key)

    def items(self) -> Iterable[tuple[K, V]]:
        """All entries; expired ones are left out."""
        seen = ((key, self._seen(key)) for key in self._inner)
        return [(key, found[1]) for key, found in seen if found is not None]

    def keys(self) -> Iterable[K]:
        """All map keys; expired ones are left out."""
        return [key for key, _ in self.items()]

    def values(self) -> Iterable[V]:
        """All values; expired ones are left out."""
        return [value for _, value in self.items()]

    def is_empty(self) -> bool:
        """Whether the current key has no entry."""
        if self._life.lenient:
            return self._inner.is_empty()
        return all(map(self._dead, self._inner.values()))

    def clear(self) -> None:
        """Forget the map of the current key."""
        self._inner.clear()
