"""State larger than memory: pages are written through as they grow, not only when a batch ends (S6)."""

from collections.abc import Iterable

from penstock.runtime.state.backend import EVENT, KeyedBackend
from penstock.runtime.state.handles import PagedListState
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import StoreKeys


def values(key: str) -> list[str]:
    """Four kilobytes, no two alike."""
    return [f"{key}/{i}".ljust(1000) for i in range(4)]


def test_values_that_grow_in_memory_are_counted() -> None:
    """S6: one batch that writes ten times the budget keeps no more than about the budget in memory."""
    budget = 1 << 20
    backend = KeyedBackend(MemoryStore(), StoreKeys(b"x"), 128, 12 << 10, budget)
    state = PagedListState(backend, "list:kept")
    most = 0
    for number in range(400):
        keys = [f"k{number}-{i}" for i in range(5)]
        backend.ensure(keys)
        for key in keys:
            backend.select(key)
            state.add_all(values(key))
        most = max(most, sum(len(page.encode() or b"") for page in backend._pages.values()))
    assert backend.evictions > 0
    assert most < 2 * budget, f"{most:,} bytes were held with a budget of {budget:,}"
    backend.ensure(["k0-0"])
    backend.select("k0-0")
    assert list(state.get()) == values("k0-0")


def test_timers_that_are_due_together_are_not_loaded_together() -> None:
    """S6: ten times the budget of pages, all with a timer at the same moment, fire a few pages at a time."""
    budget = 1 << 20
    store = MemoryStore()
    backend = KeyedBackend(store, StoreKeys(b"x"), 128, 12 << 10, budget)
    state = PagedListState(backend, "list:kept")
    keys = [f"k{i}" for i in range(3000)]
    for first in range(0, len(keys), 50):
        backend.ensure(keys[first : first + 50])
        for key in keys[first : first + 50]:
            backend.select(key)
            state.add_all(values(key))
            backend.register(EVENT, 100)
    backend.flush()
    later = KeyedBackend(store, StoreKeys(b"x"), 128, 12 << 10, budget, dict(backend.group_timers))
    state = PagedListState(later, "list:kept")
    most, fired = 0, []
    for _, key, _ in later.due(EVENT, 100):
        fired.append(key)
        assert list(state.get()) == values(key)
        if len(fired) % 100 == 0:
            most = max(most, sum(len(page.encode() or b"") for page in later._pages.values()))
    assert sorted(fired) == sorted(keys)
    assert most < 5 * budget, f"{most:,} bytes were held with a budget of {budget:,}"


class PartsStore(MemoryStore):
    """Notes how many bytes it is given at a time."""

    largest = 0

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        given = list(items)
        self.largest = max(self.largest, sum(len(blob) for _, blob in given))
        super().put_many(given)


def test_pages_that_are_not_split_yet_are_written_in_parts() -> None:
    """S6: 40 MiB in a few large pages are not encoded all at once when they are written through."""
    store = PartsStore()
    backend = KeyedBackend(store, StoreKeys(b"x"), 128, 12 << 10, 1 << 30)
    state = PagedListState(backend, "list:kept")
    keys = [f"k{i}" for i in range(10_000)]
    backend.ensure(keys)
    for key in keys:
        backend.select(key)
        state.add_all(values(key))
    backend.flush()
    assert sum(map(len, store.blobs.values())) > 40_000_000
    assert store.largest < 6 << 20, f"{store.largest:,} bytes were written at once"
