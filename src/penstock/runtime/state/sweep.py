"""Removing expired entries from pages, and giving state a time to live or taking it away after a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from penstock.core.state.ttl import StateTtlConfig
from penstock.core.time.clock import Clock
from penstock.runtime.codec import decode, dumps, encode, loads
from penstock.runtime.state.collections import BucketMap, SegmentList, item_size
from penstock.runtime.state.page import NO_TIMER, Page
from penstock.runtime.values import Entries, Stored

if TYPE_CHECKING:
    from penstock.runtime.state.backend import KeyedBackend

__all__ = ["Lifetime", "Sweeper", "stamped", "unstamped"]

_SWEPT_PAGES = 64


class Lifetime:
    """A `StateTtlConfig` made ready for use. `keep_ms`: how long after its stamp an entry is swept."""

    def __init__(self, config: StateTtlConfig, clock: Clock) -> None:
        cleanup = config.get_cleanup_strategies()
        few = cleanup.get_incremental_cleanup_strategy()
        self.now = clock.now_ms
        self.ttl_ms = config.get_ttl().to_milliseconds()
        self.on_read = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.lenient = config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        self.swept = few is not None or cleanup.in_full_snapshot()
        self.keep_ms = self.ttl_ms + (0 if cleanup.in_full_snapshot() else self.ttl_ms // 4)
        chosen = StateTtlConfig.CleanupStrategies.Strategies.INCREMENTAL_CLEANUP in cleanup._strategies
        self.pages = few.get_cleanup_size() if few is not None and chosen else _SWEPT_PAGES
        self.every_chunk = few is not None and few.run_cleanup_for_every_record()


class Sweeper:
    """Removes expired entries from a backend's pages once they are due. `lives`: by table."""

    def __init__(self, backend: KeyedBackend, clock: Clock) -> None:
        self.lives: dict[str, Lifetime] = {}
        self._backend = backend
        self._clock = clock

    @property
    def every_chunk(self) -> bool:
        """Whether a state asks to be swept after every chunk, not only after every batch."""
        return any(life.every_chunk for life in self.lives.values())

    def sweep(self) -> None:
        """Sweep every loaded page that is due, and load a limited number of others that are."""
        now, backend = self._clock.now_ms(), self._backend
        backend.load_due_for_sweep(now, max(life.pages for life in self.lives.values()))
        for page in [p for p in backend.loaded_pages() if p.sweep_ms <= now]:
            with backend.at(page):
                self._sweep_page(page, now)
            backend.note_sweep(page)

    def _sweep_page(self, page: Page, now: int) -> None:
        due = NO_TIMER
        for name, life in self.lives.items():
            table = page.tables.get(name)
            if table and life.swept:
                for key in list(table):
                    due = min(due, self._sweep_entry(page, table, key, life, now))
        page.sweep_ms = due

    def _sweep_entry(self, page: Page, table: Entries, key: object, life: Lifetime, now: int) -> int:
        """Remove expired entries of a key; returns when the oldest entry that is left is to be swept."""
        dead_until = now - life.ttl_ms
        kept, stamps = _alive(self._backend, table[key], dead_until)
        if kept is None:
            del table[key]
            page.dirty = True
            return NO_TIMER
        if kept is not table[key] or type(kept) in (SegmentList, BucketMap):
            table[key] = kept
            page.dirty = True
        return min(stamps) + life.keep_ms


def _alive(backend: KeyedBackend, stored: object, dead_until: int) -> tuple[object, Iterable[int]]:
    """The live part of a stored value (itself if nothing has expired, None if all has), with its stamps."""
    if type(stored) is list:
        return _alive_list(stored, dead_until)
    if type(stored) is dict:
        return _alive_dict(stored, dead_until)
    if type(stored) is SegmentList:
        return _alive_segments(backend, stored, dead_until)
    if type(stored) is BucketMap:
        return _alive_buckets(backend, stored, dead_until)
    stamp = _stamp(stored)
    return (stored, (stamp,)) if stamp > dead_until else (None, ())


def _stamp(item: object) -> int:
    stamp: int = decode(item)[0]
    return stamp


def _alive_list(items: list[Stored], dead_until: int) -> tuple[list[Stored] | None, list[int]]:
    stamps = list(map(_stamp, items))
    alive = [i for i, stamp in enumerate(stamps) if stamp > dead_until]
    if len(alive) == len(items):
        return items, stamps
    return [items[i] for i in alive] or None, [stamps[i] for i in alive]


def _alive_dict(entries: Entries, dead_until: int) -> tuple[Entries | None, list[int]]:
    stamps = {key: _stamp(item) for key, item in entries.items()}
    alive = {key: stamp for key, stamp in stamps.items() if stamp > dead_until}
    if len(alive) == len(entries):
        return entries, list(stamps.values())
    return {key: entries[key] for key in alive} or None, list(alive.values())


def _alive_segments(backend: KeyedBackend, stored: SegmentList, dead_until: int) -> tuple[object, list[int]]:
    """Segments were filled in order of time: expired ones are at the front, and only these are read."""
    while stored.runs:
        name = stored.keys(backend)[0]
        items = loads(backend.read_blobs([name])[0] or b"")
        kept, stamps = _alive_list(items, dead_until)
        if kept is not None:
            if kept is not items:
                backend.write_blob(name, dumps(kept))
            return stored, stamps
        backend.drop_blob(name)
        stored.drop_first()
    tail, stamps = _alive_list(stored.tail, dead_until)
    if tail is not None:
        stored.tail, stored.tail_bytes = tail, sum(map(item_size, tail))
    return (stored if tail else None), stamps


def _alive_buckets(backend: KeyedBackend, stored: BucketMap, dead_until: int) -> tuple[object, list[int]]:
    oldest = []
    for name in stored.names(backend):
        bucket = backend.bucket(name)
        kept, stamps = _alive_dict(bucket, dead_until)
        if kept is not bucket and bucket:
            stored.count -= len(bucket) - len(stamps)
            bucket = backend.bucket(name, change=True)
            for key in [k for k in bucket if kept is None or k not in kept]:
                del bucket[key]
        oldest += [min(stamps)] if stamps else []
    if not oldest:
        stored.drop(backend)
        return None, []
    return stored, oldest


# -- a state that gains or loses its time to live -------------------------------------------------


def stamped(backend: KeyedBackend, stored: object, life: Lifetime) -> Any:
    """A stored value of a state without TTL, with the present moment as the stamp of everything."""
    now = life.now()
    if life.swept:
        backend.page.sweep_ms = min(backend.page.sweep_ms, now + life.keep_ms)
    return _changed(backend, stored, lambda item: encode((now, decode(item))))


def unstamped(backend: KeyedBackend, stored: object) -> Any:
    """A stored value of a state with TTL, without stamps; expired entries that were not swept yet come back."""
    return _changed(backend, stored, lambda item: encode(decode(item)[1]))


def _changed(backend: KeyedBackend, stored: Stored, change: Callable[[Any], Any]) -> object:
    if type(stored) is list:
        return list(map(change, stored))
    if type(stored) is dict:
        return {key: change(item) for key, item in stored.items()}
    if type(stored) is SegmentList:
        for name in stored.keys(backend):
            backend.write_blob(name, dumps(list(map(change, loads(backend.read_blobs([name])[0] or b"")))))
        stored.tail = list(map(change, stored.tail))
        return stored
    if type(stored) is BucketMap:
        for name in stored.names(backend):
            bucket = backend.bucket(name, change=True)
            bucket.update({key: change(item) for key, item in bucket.items()})
        return stored
    return change(stored)
