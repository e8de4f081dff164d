"""Pages and key-group directories: the units in which keyed state is read and written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from penstock.core.errors import KeylessStateError
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.runtime.codec import dumps, loads
from penstock.runtime.state.store_keys import PageId
from penstock.runtime.values import Entries, Key

__all__ = ["NO_TIMER", "Earliest", "Group", "Page", "Timer", "page_without_key"]

NO_TIMER = MAX_TIMESTAMP + 1
"""Later than every timer: what a page without timers reports as its earliest."""

Timer = tuple[int, Any, Any]
"""(timestamp, key, namespace): the identity of a timer within its domain."""

Earliest = tuple[int, ...]
"""The earliest event-time and processing-time timers, and for pages with state that expires the next sweep."""


class Page:
    """A loaded page: for each state a table of values by key, and the timers of these keys.

    `slots` are the tables of the states in use, by the number that the backend gave them.
    """

    __slots__ = ("dirty", "ident", "live", "size", "slots", "stored", "sweep_ms", "tables", "timers", "used", "weight")

    def __init__(self, ident: PageId, stored: bool, tables: dict[str, Entries], names: Iterable[str] = ()) -> None:
        self.ident = ident
        self.tables = tables
        self.slots = [tables.setdefault(name, {}) for name in names]
        self.timers: tuple[dict[Timer, None], dict[Timer, None]] = ({}, {})
        self.dirty = False
        self.live = True
        self.stored = stored
        self.size = 0
        self.sweep_ms = NO_TIMER
        self.used = 0
        self.weight = 64

    @staticmethod
    def decode(ident: PageId, blob: bytes | None, names: Iterable[str]) -> Page:
        """A page from its blob, with a table for every state in use."""
        if blob is None:
            return Page(ident, False, {}, names)
        tables, event, processing = loads(blob)
        page = Page(ident, True, tables, names)
        page.timers = (dict.fromkeys(event), dict.fromkeys(processing))
        return page

    def encode(self) -> bytes | None:
        """The blob of the page; None if the page is empty."""
        tables = {name: table for name, table in self.tables.items() if table}
        event, processing = self.timers
        if not tables and not event and not processing:
            return None
        return dumps((tables, list(event), list(processing)))

    def members(self) -> set[Key]:
        """Every key that has a value or a timer."""
        found: set[Key] = set()
        found.update(*self.tables.values())
        found.update(timer[1] for timers in self.timers for timer in timers)
        return found

    def earliest(self) -> Earliest:
        """The earliest timer of each domain and, if anything in it expires, when it is to be swept."""
        event, processing = self.timers
        timers = (
            min((t[0] for t in event), default=NO_TIMER),
            min((t[0] for t in processing), default=NO_TIMER),
        )
        return timers if self.sweep_ms == NO_TIMER else (*timers, self.sweep_ms)


class _NoTables(list[Entries]):
    """The tables of a page where no key is current."""

    def __getitem__(self, index: object) -> Any:
        raise KeylessStateError(
            "keyed state was read or changed where no record is being processed, so there is no key whose state it "
            "could be. In open(), get the state from the runtime context and keep it; read and change it in the "
            "methods that are given a record or a timer"
        )


def page_without_key() -> Page:
    """The current page before the first record, e.g. in `open`: it refuses every access to state."""
    page = Page((0, 0, 0), False, {})
    page.slots = _NoTables()
    return page


@dataclass(slots=True)
class Group:
    """Directory of a key group: its pages with their earliest timers, and the next free segment number."""

    number: int
    pages: dict[tuple[int, int], Earliest] = field(default_factory=dict)
    next_segment: int = 0
    deepest: int = 0
    dirty: bool = False

    @staticmethod
    def decode(number: int, blob: bytes | None) -> Group:
        """A directory from its blob; an empty one if there is none."""
        if blob is None:
            return Group(number)
        pages, next_segment = loads(blob)
        return Group(number, pages, next_segment, max((d for d, _ in pages), default=0))

    def encode(self) -> bytes:
        """Its blob."""
        return dumps((self.pages, self.next_segment))

    @property
    def empty(self) -> bool:
        """Whether no page is left, hence no key and no segment: numbers may start from 0 again."""
        return not self.pages

    def leaf(self, hashed: int) -> PageId:
        """The page that holds a hash (the part of it that does not tell the key group)."""
        for depth in range(self.deepest, -1, -1):
            bits = hashed & ((1 << depth) - 1)
            if (depth, bits) in self.pages:
                return (self.number, depth, bits)
        return self._cover(hashed)

    def _cover(self, hashed: int) -> PageId:
        """Make a place for a hash that no page covers: the shallowest one that overlaps no page."""
        for depth in range(self.deepest + 1):
            bits = hashed & ((1 << depth) - 1)
            if not any(d > depth and b & ((1 << depth) - 1) == bits for d, b in self.pages):
                self.pages[depth, bits] = (NO_TIMER, NO_TIMER)
                return (self.number, depth, bits)
        raise AssertionError("unreachable: the deepest level always has room")

    def set_page(self, depth: int, bits: int, earliest: Earliest, new: bool) -> None:
        """Note a page and its earliest timers."""
        if new or self.pages.get((depth, bits)) != earliest:
            self.pages[depth, bits] = earliest
            self.deepest = max(self.deepest, depth)
            self.dirty = True

    def drop_page(self, depth: int, bits: int) -> None:
        """Forget a page that is empty or was split."""
        if self.pages.pop((depth, bits), None) is not None:
            self.dirty = True

    def take_segment(self) -> int:
        """A number for a new segment."""
        number = self.next_segment
        self.next_segment += 1
        self.dirty = True
        return number

    def earliest(self) -> Earliest:
        """The earliest timers of all its pages."""
        columns = zip_longest((NO_TIMER, NO_TIMER), *self.pages.values(), fillvalue=NO_TIMER)
        return tuple(map(min, columns))
