"""State larger than memory: pages are written through as they grow, not only when a batch ends (S6)."""

from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.handles import PagedListState
from penstock.runtime.state.page import StoreKeys
from penstock.runtime.state.store import MemoryStore


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
