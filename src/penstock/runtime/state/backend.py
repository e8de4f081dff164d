"""The keyed backend: state and timers of the keys of one operator, in pages over a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import heappop
from typing import TYPE_CHECKING, Any

from penstock.runtime.state.kind_check import Probe, StateKindCheck, probe_of
from penstock.runtime.state.page import NO_TIMER, Earliest, Page, Timer
from penstock.runtime.state.page_cache import PageCache
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import PageId, StoreKeys
from penstock.runtime.state.timers import EVENT, PROCESSING, SWEEP
from penstock.runtime.values import Namespace

if TYPE_CHECKING:
    from penstock.runtime.state.sweep import Sweeper

__all__ = ["EVENT", "PROCESSING", "SWEEP", "KeyedBackend"]

_PREFETCH = 64


class KeyedBackend(PageCache):
    """State and timers of one keyed operator in one subtask. `key` and `page` are those of the current record."""

    def __init__(
        self,
        store: StateStore,
        names: StoreKeys,
        max_parallelism: int,
        page_bytes: int,
        budget_bytes: int,
        group_timers: dict[int, Earliest] | None = None,
        kinds: StateKindCheck | None = None,
    ) -> None:
        super().__init__(store, names, max_parallelism, page_bytes, budget_bytes, group_timers, kinds)
        self._heaps, self._far, self._order = self._timers.near, self._timers.far, self._timers.order
        self._adopted: dict[str, tuple[str, Callable[[Any], object]]] = {}
        self.sweeper: Sweeper | None = None
        self.probe: Probe | None = None
        # bound methods, so that access to large collections costs no further call
        self.read_blobs, self.write_blob, self.new_blob = self._blobs.read, self._blobs.write, self._blobs.new
        self.bucket, self.drop_blob = self._blobs.bucket, self._blobs.drop

    def flush(self) -> None:
        """Sweep expired entries, and write every dirty page and directory; called at the end of a batch."""
        if self.sweeper is not None:
            self.sweeper.sweep()
        super().flush()

    def find_probe(self) -> Probe | None:
        """A probe of one of the keys, made once."""
        if self.probe is None and self.page_of:
            key, page = next(iter(self.page_of.items()))
            self.probe = probe_of((key,), page.ident[0])
        return self.probe

    # -- timers -------------------------------------------------------------------------------

    def register(self, domain: int, timestamp: int, namespace: Namespace = None) -> None:
        """Set a timer of the current key; setting it twice makes one timer."""
        timer = (timestamp, self.key, namespace)
        page = self.page
        if timer not in page.timers[domain]:
            page.timers[domain][timer] = None
            page.dirty = True
            self._heaps[domain].push((timestamp, next(self._order), page, self.key, namespace))

    def delete(self, domain: int, timestamp: int, namespace: object = None) -> None:
        """Delete a timer of the current key, if it is set."""
        if self.page.timers[domain].pop((timestamp, self.key, namespace), self) is None:
            self.page.dirty = True

    def earliest(self, domain: int) -> int:
        """The earliest timer of all, or one that is a little too early (a deleted one, or a page's old minimum)."""
        return self._timers.earliest(domain)

    def due(self, domain: int, upto: int) -> Iterator[Timer]:
        """Timers with timestamp ≤ `upto`, in order of timestamp; each is removed and its key made current.

        Timers that are set meanwhile are included.
        """
        heap, far = self._heaps[domain], self._far[domain]
        fired = 0
        while True:
            if far and far[0][0] <= upto and (not heap or far[0][0] < heap[0][0]):
                self._load_far(domain, upto)
                continue
            if not heap or heap[0][0] > upto:
                return
            timestamp, _, page, key, namespace = heappop(heap)
            timer = (timestamp, key, namespace)
            if not page.live or timer not in page.timers[domain]:
                continue
            del page.timers[domain][timer]
            page.dirty = True
            page.used = self._tick
            self.key, self.page = key, page
            yield timer
            fired += 1
            if fired % 1024 == 0:
                self._tick += 1
                if self._weight > self._budget_bytes:
                    self._evict()

    def timer_count(self, domain: int) -> int:
        """How many timers loaded pages hold; for tests."""
        return sum(len(p.timers[domain]) for p in self._pages.values())

    def _load_far(self, domain: int, upto: int, limit: int = _PREFETCH) -> None:
        far = self._far[domain]
        groups: set[int] = set()
        pages: set[PageId] = set()
        while far and far[0][0] <= upto and len(pages) < limit:
            _, ident = heappop(far)
            if ident[1] < 0:
                groups.add(ident[0])
            elif ident not in self._pages and ident[1:] in self._groups[ident[0]].pages:
                pages.add(ident)
        self._load_groups(groups)
        self._load_pages(pages)

    # -- state with a time to live ------------------------------------------------------------------

    def adopt(self, old: str, new: str, change: Callable[[Any], Any]) -> None:
        """Move the entries of the table `old`, changed, to the table `new`: a state gained or lost its time to live."""
        self._adopted[old] = (new, change)
        for page in self._pages.values():
            self._adopt(page)

    def _adopt(self, page: Page) -> None:
        group = self._groups[page.ident[0]].pages.get(page.ident[1:], ())
        page.sweep_ms = min(page.sweep_ms, *group[SWEEP:], NO_TIMER)
        for old, (new, change) in self._adopted.items():
            if table := page.tables.pop(old, None):
                with self.at(page):
                    moved = {key: change(stored) for key, stored in table.items()}
                page.tables.setdefault(new, {}).update(moved)
                page.dirty = True

    @contextmanager
    def at(self, page: Page) -> Iterator[None]:
        """Work on a page that is not the current record's."""
        before, self.page = self.page, page
        try:
            yield
        finally:
            self.page = before

    def loaded_pages(self) -> Iterable[Page]:
        """The pages in memory."""
        return self._pages.values()

    def load_due_for_sweep(self, upto: int, limit: int) -> None:
        """Load pages that are to be swept, about `limit` of them."""
        far, before = self._far[SWEEP], len(self._pages)
        while far and far[0][0] <= upto and len(self._pages) - before < limit:
            self._load_far(SWEEP, upto, limit)

    def note_sweep(self, page: Page) -> None:
        """Note in its directory when a swept page is due again, even if nothing in it had expired."""
        if page.stored:
            self._groups[page.ident[0]].set_page(*page.ident[1:], page.earliest(), new=False)

    def sweep_of(self, page: Page) -> int:
        """When a page is to be swept, as its directory has it."""
        self._load_groups([page.ident[0]])
        return min((*self._groups[page.ident[0]].pages.get(page.ident[1:], ())[SWEEP:], NO_TIMER))

    def next_sweep_ms(self) -> int:
        """When something expired may have to be removed; NO_TIMER if nothing expires."""
        if self.sweeper is None:
            return NO_TIMER
        return min(self.earliest(SWEEP), min((p.sweep_ms for p in self._pages.values()), default=NO_TIMER))
