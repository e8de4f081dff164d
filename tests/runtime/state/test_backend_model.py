"""Keyed state and timers behave like plain dicts, whatever is paged, split, pushed out or restarted (S1, S4, S6)."""

from collections import defaultdict
from typing import Any
from unittest.mock import patch

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.runtime.state import collections, handles
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.handles import PagedListState, PagedMapState, PagedReducingState, PagedValueState
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.state.store_keys import StoreKeys
from tests.effort import examples

KEYS = [*range(30), "a", "b", ("a", 1), None, 2.5]
keys = st.sampled_from(KEYS)
numbers = st.integers(-5, 5)
values = st.one_of(
    numbers, st.text(max_size=30), st.lists(numbers, max_size=8), st.tuples(numbers, st.text(max_size=3))
)
times = st.integers(0, 40)
domains = st.sampled_from([EVENT, PROCESSING])


class BackendAgainstDicts(RuleBasedStateMachine):
    """Every rule acts on one key of the backend and on the model alike."""

    def __init__(self) -> None:
        super().__init__()
        self.small = [
            patch.object(collections, "SEGMENT_BYTES", 1_000),
            patch.object(handles, "SEGMENT_BYTES", 1_000),
            patch.object(handles, "INLINE_ENTRIES", 200),
            patch.object(collections, "BUCKET_ENTRIES", 30),
        ]
        for patched in self.small:
            patched.start()

    @initialize(page_bytes=st.sampled_from([40, 300, 12_000]), budget=st.sampled_from([0, 2_000, 1 << 20]))
    def start(self, page_bytes: int, budget: int) -> None:
        self.sizes = (page_bytes, budget)
        self.store = MemoryStore()
        self.timers_by_group: dict[int, tuple[int, int]] = {}
        self.model: dict[str, dict[Any, Any]] = defaultdict(dict)
        self.timers: tuple[set[Any], set[Any]] = (set(), set())
        self.build()

    def build(self) -> None:
        names = StoreKeys(b"12345678")
        self.backend = KeyedBackend(self.store, names, 4, *self.sizes, self.timers_by_group)
        self.value = PagedValueState(self.backend, "value:v")
        self.list = PagedListState(self.backend, "list:l")
        self.map = PagedMapState(self.backend, "map:m")
        self.sum = PagedReducingState(self.backend, "reducing:r", lambda a, b: a + b)

    def at(self, key: Any) -> None:
        self.backend.ensure([key])
        self.backend.select(key)

    @rule(key=keys, value=values)
    def update(self, key: Any, value: Any) -> None:
        self.at(key)
        self.value.update(value)
        self.model["v"][key] = value

    @rule(key=keys)
    def clear_value(self, key: Any) -> None:
        self.at(key)
        self.value.clear()
        self.model["v"].pop(key, None)

    @rule(key=keys, added=st.lists(values, max_size=6))
    def append(self, key: Any, added: list[Any]) -> None:
        self.at(key)
        self.list.add_all(added)
        if added or key in self.model["l"]:
            self.model["l"][key] = [*self.model["l"].get(key, []), *added]

    @rule(key=keys, count=st.integers(130, 400))
    def append_many(self, key: Any, count: int) -> None:
        self.append(key, list(range(count)))

    @rule(key=keys, new=st.lists(values, max_size=4))
    def replace_list(self, key: Any, new: list[Any]) -> None:
        self.at(key)
        self.list.update(new)
        self.model["l"].pop(key, None)
        if new:
            self.model["l"][key] = new

    @rule(key=keys, entry=keys, value=values)
    def put(self, key: Any, entry: Any, value: Any) -> None:
        self.at(key)
        self.map.put(entry, value)
        self.model["m"].setdefault(key, {})[entry] = value

    @rule(key=keys, count=st.integers(256, 400))
    def put_many(self, key: Any, count: int) -> None:
        self.at(key)
        entries = {f"k{i}": i for i in range(count)}
        self.map.put_all(entries)
        self.model["m"].setdefault(key, {}).update(entries)

    @rule(key=keys, entry=st.one_of(keys, st.integers(0, 400).map(lambda i: f"k{i}")))
    def remove(self, key: Any, entry: Any) -> None:
        self.at(key)
        self.map.remove(entry)
        entries = self.model["m"].get(key, {})
        entries.pop(entry, None)
        if not entries:
            self.model["m"].pop(key, None)

    @rule(key=keys)
    def clear_map(self, key: Any) -> None:
        self.at(key)
        self.map.clear()
        self.model["m"].pop(key, None)

    @rule(key=keys, value=numbers)
    def reduce(self, key: Any, value: int) -> None:
        self.at(key)
        self.sum.add(value)
        self.model["r"][key] = self.model["r"].get(key, 0) + value

    @rule(domain=domains, key=keys, time=times)
    def register(self, domain: int, key: Any, time: int) -> None:
        self.at(key)
        self.backend.register(domain, time)
        self.timers[domain].add((time, key))

    @rule(domain=domains, key=keys, time=times)
    def delete(self, domain: int, key: Any, time: int) -> None:
        self.at(key)
        self.backend.delete(domain, time)
        self.timers[domain].discard((time, key))

    @rule(domain=domains, upto=times)
    def fire(self, domain: int, upto: int) -> None:
        fired = []
        for timer in self.backend.due(domain, upto):
            assert self.backend.key == timer[1]
            assert self.value.value() == self.model["v"].get(timer[1])
            fired.append(timer[:2])
        expected = {timer for timer in self.timers[domain] if timer[0] <= upto}
        assert [t for t, _ in fired] == sorted(t for t, _ in expected)
        assert set(fired) == expected
        self.timers[domain].difference_update(expected)

    @rule()
    def end_batch(self) -> None:
        self.backend.flush()
        self.timers_by_group = dict(self.backend.group_timers)

    @rule()
    def restart(self) -> None:
        self.end_batch()
        self.build()

    @rule(key=keys)
    def look(self, key: Any) -> None:
        self.at(key)
        assert self.value.value() == self.model["v"].get(key)
        assert list(self.list.get()) == self.model["l"].get(key, [])
        assert dict(self.map.items()) == self.model["m"].get(key, {})
        assert self.map.is_empty() == (key not in self.model["m"])
        assert self.sum.get() == self.model["r"].get(key)

    @rule()
    def clear_everything(self) -> None:
        for key in KEYS:
            self.at(key)
            for state in (self.value, self.list, self.map, self.sum):
                state.clear()
            for domain in (EVENT, PROCESSING):
                for time in range(41):
                    self.backend.delete(domain, time)
        self.model.clear()
        self.timers[EVENT].clear()
        self.timers[PROCESSING].clear()
        self.end_batch()
        assert self.store.blobs == {}
        assert self.timers_by_group == {}

    @invariant()
    def earliest_is_never_late(self) -> None:
        if not hasattr(self, "timers"):
            return
        for domain in (EVENT, PROCESSING):
            if self.timers[domain]:
                assert self.backend.earliest(domain) <= min(time for time, _ in self.timers[domain])

    def teardown(self) -> None:
        if hasattr(self, "backend"):
            self.restart()
            for key in KEYS:
                self.look(key)
        for patched in self.small:
            patched.stop()


TestBackendAgainstDicts = BackendAgainstDicts.TestCase
TestBackendAgainstDicts.settings = settings(
    max_examples=examples(25),
    stateful_step_count=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
