"""Lays keyed state out anew, in another number of key groups."""

from __future__ import annotations

from penstock.runtime.codec import loads
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.collections import BucketMap, SegmentList
from penstock.runtime.state.page import Page
from penstock.runtime.state.timed import Runs
from penstock.state.keyed import make_backend, pages

__all__ = ["regrouped"]


def regrouped(old: KeyedBackend, uid: str, max_parallelism: int) -> KeyedBackend:
    """The same keys with the same state and timers, in pages of `max_parallelism` key groups."""
    new = make_backend(uid, (), max_parallelism)
    for page in pages(old):
        with old.at(page):
            _move_page(old, new, page)
    new.flush()
    return new


def _move_page(old: KeyedBackend, new: KeyedBackend, page: Page) -> None:
    for name, table in page.tables.items():
        slot = new.use(name)
        for key, stored in table.items():
            new.select(key)
            new.page.slots[slot][key] = _moved(old, new, stored)
            new.page.dirty = True
            new.page.sweep_ms = min(new.page.sweep_ms, old.sweep_of(page))
    for domain, timers in enumerate(page.timers):
        for timestamp, key, namespace in timers:
            new.select(key)
            new.register(domain, timestamp, namespace)


def _moved(old: KeyedBackend, new: KeyedBackend, stored: object) -> object:
    """A stored value for the new layout, still encoded; large collections get segments in their new key group."""
    if stored.__class__ is SegmentList:
        made = SegmentList([], [], 0)
        for blob in old.read_blobs(stored.keys(old)):
            assert blob is not None
            for item in loads(blob):
                made.append(new, item)
        for item in stored.tail:
            made.append(new, item)
        return made
    if stored.__class__ is BucketMap:
        return BucketMap.of(new, dict(stored.items(old)))
    if stored.__class__ is Runs:
        return stored.moved(old, new)
    if stored.__class__ is list:
        return [_moved(old, new, item) for item in stored]
    if stored.__class__ is dict:
        return {key: _moved(old, new, item) for key, item in stored.items()}
    return stored
