"""Buffers of records in order of time; a long buffer keeps all but its newest records in segments beside the page.

A buffer is a plain list, since there is one for each key and side and all are pickled with their page: its earliest
timestamp, its `Runs` or None, and the entries in the page. None of these is before the last of the runs.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, cast

from penstock.pickled import stable
from penstock.runtime.codec import dumps
from penstock.runtime.state.collections import SEGMENT_BYTES, item_size
from penstock.runtime.state.space import StateSpace

__all__ = ["Buffer", "Entry", "Runs", "add", "forget", "latest", "meet"]

Entry = tuple[int, bool, Any]
"""Timestamp, whether it must be told that nothing matched it, and the encoded record."""

Buffer = list[Any]

_CHECK = 63
"""One less than the number of records after which the length of a buffer is looked at: a power of two."""
_SCANNED = 8


def add(space: StateSpace, buffer: Buffer, entry: Entry) -> bool:
    """Keep one more record; returns whether it is now the earliest."""
    time = entry[0]
    entries = buffer[2]
    if buffer[1] is not None and time < buffer[1].last:
        buffer[1].add(space, entry)
    else:
        if not entries or time >= entries[-1][0]:
            entries.append(entry)
        else:
            _insert(entries, entry)
        if not len(entries) & _CHECK and _is_long(entries):
            _spill(space, buffer)
    if time >= buffer[0]:
        return False
    buffer[0] = time
    return True


def meet(space: StateSpace, buffer: Buffer, first: int, last: int, mark: bool) -> list[Entry]:
    """The entries of a range of time, in order; with `mark`, they are noted as having a match."""
    entries: list[Entry] = buffer[2]
    if buffer[1] is None:
        if not mark and len(entries) <= _SCANNED:
            return [entry for entry in entries if first <= entry[0] <= last]
        return _met(entries, first, last, mark)
    return [*buffer[1].meet(space, first, last, mark), *_met(entries, first, last, mark)]


def forget(space: StateSpace, buffer: Buffer, before: int, wanted: bool) -> list[Entry]:
    """Drop the entries before a timestamp, and return them if they are wanted. The caller removes an empty buffer."""
    entries: list[Entry] = buffer[2]
    if buffer[1] is None and entries[-1][0] < before:
        buffer[2] = []
        return entries
    gone: list[Entry] = []
    if buffer[1] is not None:
        gone = buffer[1].forget(space, before, wanted)
        if buffer[1].places:
            buffer[0] = buffer[1].places[0][0]
            return gone
        buffer[1] = None
    cut = bisect_left(entries, (before,))
    gone += entries[:cut]
    del entries[:cut]
    if entries:
        buffer[0] = entries[0][0]
    return gone


def latest(buffer: Buffer) -> int:
    """The last timestamp in a buffer that is not empty."""
    entries: list[Entry] = buffer[2]
    return entries[-1][0] if entries else int(buffer[1].last)


def _met(entries: list[Entry], first: int, last: int, mark: bool) -> list[Entry]:
    start, end = bisect_left(entries, (first,)), bisect_left(entries, (last + 1,))
    met = entries[start:end]
    if mark:
        entries[start:end] = [(time, False, value) for time, _, value in met]
    return met


def _insert(entries: list[Entry], entry: Entry) -> None:
    """Insert an entry behind those of the same time."""
    entries.insert(bisect_left(entries, (entry[0] + 1,)), entry)


def _is_long(entries: list[Entry]) -> bool:
    """Whether entries are long, judged by the newest: records of a stream are of similar size."""
    return len(entries) * item_size(entries[-1]) >= SEGMENT_BYTES


def _spill(space: StateSpace, buffer: Buffer) -> None:
    """Move the older entries into a segment; the newest stay, since most records come nearly in order."""
    entries = buffer[2]
    cut = len(entries) * 3 // 4
    if buffer[1] is None:
        buffer[1] = Runs([], 0)
    buffer[1].append(space, entries[:cut])
    del entries[:cut]


@stable("Runs")
class Runs:
    """Segments in order of time: `places` are their earliest timestamps and numbers, `last` is the last timestamp.

    Neighbours may share a timestamp, otherwise they do not overlap.
    """

    __slots__ = ("last", "places")

    def __init__(self, places: list[tuple[int, int]], last: int) -> None:
        self.places = places
        self.last = last

    def __reduce__(self) -> tuple[object, ...]:
        return (Runs, (self.places, self.last))

    def append(self, space: StateSpace, entries: list[Entry]) -> None:
        """Add a segment behind all others."""
        self._put(space, len(self.places), entries)
        self.last = entries[-1][0]

    def add(self, space: StateSpace, entry: Entry) -> None:
        """Insert an entry that is not behind the last one."""
        time = entry[0]
        index = max(bisect_left(self.places, (time + 1,)) - 1, 0)
        first, number = self.places[index]
        entries = self._entries(space, number, change=True)
        _insert(entries, entry)
        self.places[index] = (min(first, time), number)
        if not len(entries) & _CHECK and _is_long(entries):
            half = len(entries) // 2
            rest = entries[half:]
            del entries[half:]
            self._put(space, index + 1, rest)

    def meet(self, space: StateSpace, first: int, last: int, mark: bool) -> list[Entry]:
        """The entries of a range of time."""
        found: list[Entry] = []
        for index in range(max(bisect_left(self.places, (first,)) - 1, 0), len(self.places)):
            begin, number = self.places[index]
            if begin > last:
                break
            met = _met(self._entries(space, number), first, last, False)
            if mark and any(alone for _, alone, _ in met):
                _met(self._entries(space, number, change=True), first, last, True)
            found += met
        return found

    def forget(self, space: StateSpace, before: int, wanted: bool) -> list[Entry]:
        """Drop the entries before a timestamp; segments that go as a whole are read only if they are wanted."""
        gone: list[Entry] = []
        while self.places and self.places[0][0] < before:
            number = self.places[0][1]
            end = self.places[1][0] if len(self.places) > 1 else self.last
            if wanted or end >= before:
                gone += self._cut(space, number, before)
            if end < before or not self._entries(space, number):
                space.drop_blob(self._name(space, number))
                del self.places[0]
            else:
                self.places[0] = (self._entries(space, number)[0][0], number)
        return gone

    def _cut(self, space: StateSpace, number: int, before: int) -> list[Entry]:
        entries = self._entries(space, number, change=True)
        cut = bisect_left(entries, (before,))
        gone = entries[:cut]
        del entries[:cut]
        return gone

    def segments(self, space: StateSpace) -> list[list[Entry]]:
        """All entries, segment by segment."""
        return [list(self._entries(space, number)) for _, number in self.places]

    def moved(self, old: StateSpace, new: StateSpace) -> Runs:
        """A copy of the runs in another space."""
        made = Runs([], 0)
        for entries in self.segments(old):
            made.append(new, entries)
        return made

    def _put(self, space: StateSpace, index: int, entries: list[Entry]) -> None:
        group = space.group_of(space.page)
        number = group.take_segment()
        space.new_blob(space.names.segment(group.number, number), dumps(entries))
        self.places.insert(index, (entries[0][0], number))

    def _entries(self, space: StateSpace, number: int, change: bool = False) -> list[Entry]:
        """The entries of a segment; valid until the next call only."""
        return cast(list[Entry], space.bucket(self._name(space, number), change))

    @staticmethod
    def _name(space: StateSpace, number: int) -> bytes:
        return space.names.segment(space.page.ident[0], number)
