"""Pages in memory over a store, read at most once and written at most once a batch.

A page's tables are the very dicts that were unpickled, and are pickled again as they are if one of them changed. Pages
that grow are split; pages beyond the memory budget are written through and dropped, least recently used first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.runtime.keyhash import stable_hash
from penstock.runtime.memory import trim_memory
from penstock.runtime.state.collection_blobs import CollectionBlobs
from penstock.runtime.state.kind_check import StateKindCheck
from penstock.runtime.state.page import NO_TIMER, Earliest, Group, Page, page_without_key
from penstock.runtime.state.store import StateStore
from penstock.runtime.state.store_keys import PageId, StoreKeys
from penstock.runtime.state.timers import TimerQueues
from penstock.runtime.values import Key

__all__ = ["PageCache"]

_PREFETCH = 64
_KEY_WEIGHT = 160
_WEIGH_EVERY = 8
_SAMPLE = 16
_PART_PAGES = 256
_PART_BYTES = 4 << 20


class PageCache:
    """The pages of one keyed operator in one subtask; `page_of` has the page of each known key."""

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
        # configuration
        self.store = store
        self.names = names
        self._max_parallelism = max_parallelism
        self._page_bytes = page_bytes
        self._budget_bytes = budget_bytes
        self.kinds = kinds if kinds is not None else StateKindCheck("The operator", {})
        # current record
        self.key: Key = None
        self.page: Page = page_without_key()
        # loaded
        self.page_of: dict[Key, Page] = {}
        self._ensured: tuple[Iterable[Key], list[Page]] = (), []
        self._names: list[str] = []
        self._pages: dict[PageId, Page] = {}
        self._groups: dict[int, Group] = {}
        self._blobs = CollectionBlobs(self)
        self.group_timers = group_timers if group_timers is not None else {}
        self._timers = TimerQueues(self._still_far)
        # memory
        self._tick = 0
        self._weight = 0
        self._died = False
        self.evictions = 0
        self.size = [0, 0, 0]
        """Pages, their bytes, and blobs of large collections in the store."""
        for group, earliest in self.group_timers.items():
            self._timers.note_far((group, -1, 0), earliest)

    def _adopt(self, page: Page) -> None:
        """Called for every page that has been read from the store, before its keys are known."""

    def _still_far(self, domain: int, noted: Iterable[tuple[int, PageId]]) -> set[tuple[int, PageId]]:
        """Drop stale entries: keep an entry only if it matches the directory's current timer for an unloaded page, or
        stands for a whole unloaded key group."""
        return {
            (at, ident)
            for at, ident in noted
            if (group := self._groups.get(ident[0])) is None
            or (ident not in self._pages and group.pages.get(ident[1:], ())[domain : domain + 1] == (at,))
        }

    # -- keys ---------------------------------------------------------------------------------

    def use(self, name: str) -> int:
        """Give every page a table of this name; returns its slot."""
        if name not in self._names:
            self.kinds.use(name)
            self._names.append(name)
            for page in self._pages.values():
                self.kinds.check(page.tables)
                page.slots.append(page.tables.setdefault(name, {}))
        return self._names.index(name)

    def ensure(self, keys: Iterable[Key]) -> None:
        """Load the pages of all `keys`, so that `page_of` knows them. Called before a chunk is processed."""
        self._tick += 1
        if self._tick % _WEIGH_EVERY == 0:
            self._weigh()
        try:
            pages = list(map(self.page_of.__getitem__, keys))
        except KeyError:
            self._load_keys(set(keys).difference(self.page_of))
            pages = list(map(self.page_of.__getitem__, keys))
        self._ensured = keys, pages
        if self._weight > self._budget_bytes * 3 // 4:
            self._touch(pages)
            if self._weight > self._budget_bytes:
                self._split_large(set(keys))
                self._evict()

    def pages(self, keys: Iterable[Key]) -> Iterable[Page]:
        """The page of each key; the keys must have been ensured. The pages of a whole chunk are looked up once."""
        ensured, pages = self._ensured
        return pages if ensured is keys else map(self.page_of.__getitem__, keys)

    def select(self, key: object) -> None:
        """Make `key` the current one, loading its page if need be."""
        if key not in self.page_of:
            self._load_keys((key,))
        self.key = key
        self.page = self.page_of[key]

    def each_key(self, groups: Iterable[int], slot: int) -> Iterator[Key]:
        """Every key of these key groups that has a value in a slot; each is made the current one."""
        for number in groups:
            self._tick += 1
            self._load_groups([number])
            for depth, bits in list(self._groups[number].pages):
                self._load_pages([(number, depth, bits)])
                page = self._pages[number, depth, bits]
                page.used = self._tick
                for key in list(page.slots[slot]):
                    self.key, self.page = key, page
                    yield key
            if self._weight > self._budget_bytes:
                self._evict()

    def group_of(self, page: Page) -> Group:
        """The directory that a page belongs to."""
        return self._groups[page.ident[0]]

    def _load_keys(self, keys: Iterable[Key]) -> None:
        places: dict[PageId, list[Key]] = {}
        hashes = {key: stable_hash(key) for key in keys}
        self._load_groups({h % self._max_parallelism for h in hashes.values()})
        for key, hashed in hashes.items():
            group = self._groups[hashed % self._max_parallelism]
            places.setdefault(group.leaf(hashed // self._max_parallelism), []).append(key)
        self._load_pages(places)
        for ident, members in places.items():
            page = self._pages[ident]
            page.used = self._tick
            self.page_of.update(dict.fromkeys(members, page))
            self._add_weight(page, _KEY_WEIGHT * len(members))

    def _load_groups(self, numbers: Iterable[int]) -> None:
        missing = [n for n in numbers if n not in self._groups]
        for number, blob in zip(missing, self.store.get_many([self.names.group(n) for n in missing]), strict=True):
            group = Group.decode(number, blob)
            self._groups[number] = group
            for (depth, bits), earliest in group.pages.items():
                self._timers.note_far((number, depth, bits), earliest)

    def _load_pages(self, idents: Iterable[PageId]) -> None:
        missing = [i for i in idents if i not in self._pages]
        for start in range(0, len(missing), _PREFETCH):
            part = missing[start : start + _PREFETCH]
            for ident, blob in zip(part, self.store.get_many([self.names.page(i) for i in part]), strict=True):
                self._load_page(ident, blob)

    def _load_page(self, ident: PageId, blob: bytes | None) -> None:
        page = Page.decode(ident, blob, self._names)
        page.used = self._tick
        self._pages[ident] = page
        self._weight += page.weight
        if blob is None:
            return
        page.size = len(blob)
        self.kinds.check(page.tables)
        for domain, timers in enumerate(page.timers):
            for timer in timers:
                self._timers.push(domain, timer, page)
        self._adopt(page)
        keys = page.members()
        self.page_of.update(dict.fromkeys(keys, page))
        self._add_weight(page, len(blob) + _KEY_WEIGHT * len(keys))

    # -- writing --------------------------------------------------------------------------------

    def flush(self) -> None:
        """Write every dirty page and directory; called at the end of a batch."""
        self._blobs.flush_buckets()
        self._blobs.flush()
        self._write([p for p in self._pages.values() if p.dirty])
        for page in [p for p in self._pages.values() if not p.stored]:
            self._groups[page.ident[0]].pages.pop(page.ident[1:], None)
            self._forget(page)
        self._sweep()
        self._flush_groups()

    def _flush_groups(self) -> None:
        changed = [g for g in self._groups.values() if g.dirty]
        self.store.put_many((self.names.group(g.number), g.encode()) for g in changed if not g.empty)
        self.store.delete_many(self.names.group(g.number) for g in changed if g.empty)
        for group in changed:
            group.dirty = False
            earliest = group.earliest()
            if earliest == (NO_TIMER, NO_TIMER):
                self.group_timers.pop(group.number, None)
            else:
                self.group_timers[group.number] = earliest

    def _write(self, pages: list[Page]) -> None:
        """Write pages in parts of limited number and size: a page that has not been split yet may be large."""
        puts: list[tuple[bytes, bytes]] = []
        drops: list[bytes] = []
        size = 0
        for page in pages:
            counted = len(puts)
            self._write_page(page, puts, drops)
            size += sum(len(blob) for _, blob in puts[counted:])
            if len(puts) >= _PART_PAGES or size >= _PART_BYTES:
                self._send(puts, drops)
                size = 0
        self._send(puts, drops)

    def _send(self, puts: list[tuple[bytes, bytes]], drops: list[bytes]) -> None:
        self.store.delete_many(drops)
        self.store.put_many(puts)
        puts.clear()
        drops.clear()

    def _write_page(self, page: Page, puts: list[tuple[bytes, bytes]], drops: list[bytes]) -> None:
        group, depth, bits = page.ident
        blob = page.encode()
        page.dirty = False
        if blob is None:
            self._groups[group].drop_page(depth, bits)
            self._drop_stored(page, drops)
            self._forget(page)
            return
        if len(blob) > self._page_bytes:
            children = self._split(page, len(blob))
            if children:
                self._groups[group].drop_page(depth, bits)
                self._drop_stored(page, drops)
                for child in children:
                    self._write_page(child, puts, drops)
                return
        self._groups[group].set_page(depth, bits, page.earliest(), new=not page.stored)
        self.size[0] += not page.stored
        self.size[1] += len(blob) - page.size
        page.size = len(blob)
        page.stored = True
        self._add_weight(page, len(blob) + _KEY_WEIGHT * max(map(len, page.tables.values()), default=0) - page.weight)
        puts.append((self.names.page(page.ident), blob))

    def _drop_stored(self, page: Page, drops: list[bytes]) -> None:
        if page.stored:
            drops.append(self.names.page(page.ident))
            self.size[0] -= 1
            self.size[1] -= page.size

    def _split(self, page: Page, size: int) -> list[Page]:
        """Split a page into children of about half the target size; returns none if all keys have the same hash."""
        group, depth, _ = page.ident
        step = max(1, (2 * size // self._page_bytes).bit_length() - 1)
        mask = (1 << (depth + step)) - 1
        tails = {key: (stable_hash(key) // self._max_parallelism) & mask for key in page.members()}
        if depth + step > 31 or len(set(tails.values())) < 2:
            return []
        children = {
            tail: Page((group, depth + step, tail), False, {name: {} for name in page.tables}, self._names)
            for tail in set(tails.values())
        }
        for name, table in page.tables.items():
            for key, value in table.items():
                children[tails[key]].tables[name][key] = value
        for domain, timers in enumerate(page.timers):
            for timer in timers:
                child = children[tails[timer[1]]]
                child.timers[domain][timer] = None
                self._timers.push(domain, timer, child)
        self.page_of.update({key: children[tail] for key, tail in tails.items()})
        self._replace(page, children.values())
        return list(children.values())

    def _replace(self, page: Page, children: Iterable[Page]) -> None:
        self._forget(page)
        for child in children:
            child.used = page.used
            child.sweep_ms = page.sweep_ms
            self._pages[child.ident] = child
            self._weight += child.weight

    # -- memory ---------------------------------------------------------------------------------

    def _add_weight(self, page: Page, weight: int) -> None:
        page.weight += weight
        self._weight += weight

    def _weigh(self) -> None:
        """Estimate by a sample how much dirty pages have grown in memory, and write them if it is too much."""
        dirty = [page for page in self._pages.values() if page.dirty]
        sample = dirty[:: max(1, len(dirty) // _SAMPLE)]
        if not sample:
            return
        grown = sum(len(page.encode() or b"") - page.weight for page in sample) // len(sample) * len(dirty)
        if self._weight + grown > self._budget_bytes:
            self._write(dirty)
            self._sweep()

    def _touch(self, pages: Iterable[Page]) -> None:
        for page in pages:
            page.used = self._tick

    def _split_large(self, wanted: set[Key]) -> None:
        """Write large pages, which splits them: otherwise a page that every chunk uses would grow and never be
        dropped."""
        self._write([p for p in self._pages.values() if p.dirty and p.weight > 2 * self._page_bytes])
        self._sweep()
        self._load_keys(wanted.difference(self.page_of))

    def _evict(self) -> None:
        """Write and drop the pages used least recently, down to half the budget; never pages of the current chunk."""
        self.evictions += 1
        victims = []
        weight = self._weight
        for page in sorted(self._pages.values(), key=lambda p: p.used):
            if weight <= self._budget_bytes // 2 or page.used >= self._tick:
                break
            victims.append(page)
            weight -= page.weight
        self._write([p for p in victims if p.dirty])
        for page in victims:
            if page.live:
                self._leave(page)
        self._sweep()
        self._timers.sweep()
        trim_memory()

    def _leave(self, page: Page) -> None:
        """Drop a page from memory; one that was never written leaves no trace in its group's directory."""
        pages = self._groups[page.ident[0]].pages
        if page.stored:
            self._timers.note_far(page.ident, pages[page.ident[1:]])
        else:
            pages.pop(page.ident[1:], None)
        self._forget(page)

    def _forget(self, page: Page) -> None:
        """Drop a page from memory; `_sweep` must follow before the next record."""
        if self._pages.pop(page.ident, None) is not None:
            page.live = False
            self._ensured = (), []
            page.tables, page.slots = {}, []  # a timer queue may still refer to the page
            self._died = True
            self._weight -= page.weight

    def _sweep(self) -> None:
        """Forget the keys of pages that were dropped. Keys without a value are known to `page_of` alone."""
        if self._died:
            self._died = False
            for key in [k for k, page in self.page_of.items() if not page.live]:
                del self.page_of[key]
