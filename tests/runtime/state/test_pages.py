"""What pages, segments and buckets cost: what is written is what was touched (S6)."""

from typing import Any

import pytest

from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.handles import PagedListState, PagedMapState, PagedValueState
from penstock.runtime.state.page import NO_TIMER, Group
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import BlobKind, StoreKeys, kind_of


def open_backend(store: MemoryStore, page_bytes: int = 12 << 10, budget: int = 64 << 20, **kw: Any) -> KeyedBackend:
    return KeyedBackend(store, StoreKeys(b"12345678"), 8, page_bytes, budget, **kw)


def kinds(store: MemoryStore) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in store.blobs:
        found[chr(key[8])] = found.get(chr(key[8]), 0) + 1
    return found


def fill(backend: KeyedBackend, count: int) -> None:
    state = PagedValueState(backend, "value:v")
    backend.ensure(range(count))
    for key in range(count):
        backend.select(key)
        state.update(f"value of {key}")
    backend.flush()


def test_a_page_that_outgrows_its_size_splits() -> None:
    """S6"""
    store = MemoryStore()
    fill(open_backend(store, page_bytes=1_000), 2_000)
    pages = [len(blob) for key, blob in store.blobs.items() if kind_of(key) is BlobKind.PAGE]
    assert len(pages) > 30
    assert max(pages) <= 2_000
    again = open_backend(store, page_bytes=1_000)
    state = PagedValueState(again, "value:v")
    again.ensure(range(2_000))
    for key in range(2_000):
        again.select(key)
        assert state.value() == f"value of {key}"


def test_a_batch_reads_a_page_once_and_writes_only_what_changed() -> None:
    """S6"""
    store = MemoryStore()
    fill(open_backend(store, page_bytes=1_000), 2_000)
    store.reads = store.writes = 0
    backend = open_backend(store, page_bytes=1_000)
    state = PagedValueState(backend, "value:v")
    for _ in range(3):
        backend.ensure([5])
        backend.select(5)
        state.update("other")
    backend.ensure([6, 7, 8])
    backend.flush()
    assert store.reads <= 8
    assert store.writes == 1


def test_state_that_was_only_read_is_not_written() -> None:
    store = MemoryStore()
    fill(open_backend(store), 100)
    store.writes = 0
    backend = open_backend(store)
    state = PagedValueState(backend, "value:v")
    backend.ensure(range(200))
    for key in range(200):
        backend.select(key)
        state.value()
    backend.flush()
    assert store.writes == 0


def test_eviction_bounds_what_is_in_memory_and_changes_nothing() -> None:
    """S6"""
    store = MemoryStore()
    backend = open_backend(store, page_bytes=500, budget=20_000)
    state = PagedValueState(backend, "value:v")
    for round_ in range(3):
        for start in range(0, 4_000, 20):
            keys = range(start, start + 20)
            backend.ensure(keys)
            for key in keys:
                backend.select(key)
                assert state.value() == (None if round_ == 0 else (key, round_ - 1))
                state.update((key, round_))
            assert len(backend.page_of) < 1_000
    assert backend.evictions > 10


def test_an_append_to_a_long_list_writes_only_its_end() -> None:
    """S6: a list that grows for ever costs the same in every batch."""
    store = MemoryStore()
    costs = []
    for batch in range(20):
        backend = open_backend(store)
        state = PagedListState(backend, "list:l")
        store.bytes_written = 0
        backend.ensure(["k"])
        backend.select("k")
        state.add_all([f"record {batch} {i}" for i in range(5_000)])
        backend.flush()
        costs.append(store.bytes_written)
    assert max(costs[10:]) < 1.5 * costs[2]
    assert kinds(store)["S"] > 10
    read = list(state.get())
    assert len(read) == 100_000
    assert read[:2] == ["record 0 0", "record 0 1"]
    assert read[-1] == "record 19 4999"


def test_a_change_in_a_large_map_writes_only_its_part() -> None:
    """S6"""
    store = MemoryStore()
    backend = open_backend(store)
    state = PagedMapState(backend, "map:m")
    backend.ensure(["k"])
    backend.select("k")
    state.put_all({i: f"value {i}" for i in range(20_000)})
    backend.flush()
    whole = store.bytes_written
    store.bytes_written = 0
    state.put(77, "changed")
    state.remove(78)
    backend.flush()
    assert store.bytes_written < whole / 10
    assert state.get(77) == "changed"
    assert state.get(78) is None
    assert len(list(state.keys())) == 19_999
    assert sorted(state.keys())[:3] == [0, 1, 2]


def test_a_large_map_takes_keys_that_have_no_stable_hash() -> None:
    """S1: what works for a small map works for a large one."""
    store = MemoryStore()
    backend = open_backend(store)
    state = PagedMapState(backend, "map:m")
    backend.ensure(["k"])
    backend.select("k")
    assert not state.contains(frozenset([1]))
    state.put_all({i: i for i in range(3_000)})
    assert not state.contains(frozenset([1]))
    state.put(frozenset([1]), "set")
    assert state.get(frozenset([1])) == "set"
    state.put_all({i: i for i in range(20_000)})
    assert state.get(frozenset([1])) == "set"


@pytest.mark.parametrize("budget", [0, 64 << 20])
def test_nothing_is_left_after_clear(budget: int) -> None:
    """S1, S6: pages, directories, segments and buckets."""
    store = MemoryStore()
    for clear in (False, True):
        backend = open_backend(store, page_bytes=100, budget=budget)
        value = PagedValueState(backend, "value:v")
        list_ = PagedListState(backend, "list:l")
        map_ = PagedMapState(backend, "map:m")
        for key in range(20):
            backend.ensure([key])
            backend.select(key)
            if clear:
                value.clear()
                list_.clear()
                map_.clear()
                backend.delete(EVENT, key)
            else:
                value.update([key])
                list_.add_all(["x" * 50] * 2_000)
                map_.put_all(dict.fromkeys(range(3_000), 1))
                backend.register(EVENT, key)
        backend.flush()
        assert bool(store.blobs) != clear


def test_a_watermark_reads_only_pages_with_something_due() -> None:
    """S4: each directory knows the earliest timer of its pages, each root that of its groups."""
    store = MemoryStore()
    backend = open_backend(store, page_bytes=300)
    backend.ensure(range(1_000))
    for key in range(1_000):
        backend.select(key)
        backend.register(EVENT, 1_000 + key)
    backend.flush()
    known = dict(backend.group_timers)
    again = open_backend(store, page_bytes=300, group_timers=known)
    store.reads = 0
    assert list(again.due(EVENT, 999)) == []
    assert store.reads == 0
    assert [t[:2] for t in again.due(EVENT, 1_000)] == [(1_000, 0)]
    assert store.reads < 10
    assert [t[0] for t in again.due(EVENT, 5_000)] == list(range(1_001, 2_000))
    assert again.earliest(EVENT) == NO_TIMER
    again.flush()
    assert store.blobs == {}
    assert again.group_timers == {}


def test_the_two_clocks_have_their_own_timers() -> None:
    """S4"""
    backend = open_backend(MemoryStore())
    backend.ensure(["k"])
    backend.select("k")
    backend.register(EVENT, 5)
    backend.register(PROCESSING, 5)
    backend.delete(PROCESSING, 5)
    assert list(backend.due(PROCESSING, 10)) == []
    assert list(backend.due(EVENT, 10)) == [(5, "k", None)]


def test_namespaces_keep_timers_apart() -> None:
    """S4"""
    backend = open_backend(MemoryStore())
    backend.ensure(["k"])
    backend.select("k")
    backend.register(EVENT, 5, "w1")
    backend.register(EVENT, 5, "w2")
    backend.register(EVENT, 5, "w1")
    assert sorted(t[2] for t in backend.due(EVENT, 5)) == ["w1", "w2"]


def test_a_directory_finds_one_page_for_every_hash() -> None:
    group = Group(0)
    group.set_page(2, 0b01, (NO_TIMER, NO_TIMER), new=True)
    group.set_page(1, 0b0, (NO_TIMER, NO_TIMER), new=True)
    assert group.leaf(0b1101) == (0, 2, 0b01)
    assert group.leaf(0b1110) == (0, 1, 0b0)
    assert group.leaf(0b1111) == (0, 2, 0b11)
    assert Group.decode(0, group.encode()).leaf(0b1111) == (0, 2, 0b11)


def heap_sizes(backend: KeyedBackend) -> tuple[int, int]:
    return len(backend._heaps[EVENT]), len(backend._far[EVENT])


def test_timers_of_pages_that_left_memory_leave_no_trace_in_it() -> None:
    """S4, S6: pages that go and come again do not pile up timers, and all of them fire once, in order."""
    backend = open_backend(MemoryStore(), page_bytes=200, budget=2_000)
    for key in range(400):
        backend.ensure([key])
        backend.select(key)
        backend.register(EVENT, 1_000 + key)
    backend.flush()
    for round_ in range(20):
        for key in range(0, 400, 7):
            backend.ensure([key])
            backend.select(key)
            backend.register(EVENT, 5_000 + round_)
            backend.delete(EVENT, 5_000 + round_)
    loaded = backend.timer_count(EVENT)
    in_heap, far = heap_sizes(backend)
    assert backend.evictions > 50
    assert in_heap <= 2 * loaded + 256
    assert far <= 2 * 400 + 256
    assert len({id(entry[2]) for entry in backend._heaps[EVENT] if not entry[2].live}) == 0
    assert [timer[0] for timer in backend.due(EVENT, 10_000)] == list(range(1_000, 1_400))


def test_a_timer_moved_again_and_again_does_not_grow_the_heap() -> None:
    """S4"""
    backend = open_backend(MemoryStore())
    backend.ensure(["a"])
    backend.select("a")
    for number in range(10_000):
        backend.register(PROCESSING, 10**9)
        backend.register(PROCESSING, 10**9 + number)
        backend.delete(PROCESSING, 10**9 + number)
    backend.register(PROCESSING, 10**9)
    assert len(backend._heaps[PROCESSING]) < 300
    assert [timer[0] for timer in backend.due(PROCESSING, 10**10)] == [10**9]
