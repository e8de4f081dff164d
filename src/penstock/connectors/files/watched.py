"""Folders that are watched for new files, and for new lines in files that were read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from penstock.connectors.files.ledger import GIVEN_UP, Known, Ledger, pack, unpack, unpack_hashes
from penstock.connectors.files.listing import FoundFile, edges, list_files, path_hash, stat_file
from penstock.connectors.files.source import FileSource
from penstock.connectors.formats.files import Extent, FileFormat, gone
from penstock.core.contracts.source import Lag, Notice, Position, ReadBatch, SourceClock
from penstock.core.contracts.starting_offsets import StartingOffsets
from penstock.core.time.spans import Duration
from penstock.core.types.type_variables import T_co

__all__ = ["WatchedFileSource"]

_FILES_A_BATCH = 1000
_EARLIEST = StartingOffsets.earliest()
_MANY = 1 << 20
_PATIENCE_MS = 60_000
"""How long a last line without a line end may wait before the source says so."""

CHANGED = "changed_files"


class WatchedFileSource(FileSource[T_co]):
    """Files as they appear and grow, without end: those found at a time in the order of (modification time, path).

    One split, since files come and go: a batch is one channel. A position names the stretches of files that make
    up the batch, so that it can be read again exactly, and how far each file that lies there has been read (20 bytes
    each). What is taken away is forgotten, so a position is as large as the folder is full: move files away once they
    have been read.

    A file that the format can tail is read up to its last complete unit, and on from there when it has grown. A file
    is known again by the bytes before the place (`edges`): if these differ, or the file has become shorter, or it has
    changed and its format cannot be tailed, the file is reported, counted and left alone.
    """

    bounded = False

    def __init__(
        self,
        file_format: FileFormat[T_co],
        paths: tuple[str, ...],
        interval: Duration,
        start: StartingOffsets = _EARLIEST,
    ) -> None:
        super().__init__(file_format, paths, start=start)
        self.moving_start = start.kind == "latest"
        self._interval_ms = interval.to_milliseconds()
        # only on the driver, and only to save time or to say things once
        self._memory = _Memory()

    def split_parallelism(self, parallelism: int) -> int:
        return 1

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return 1

    def initial(self, split: int, splits: int) -> Position:
        there = list_files(self._paths, may_be_missing=True) if self.moving_start else []
        return _position([], self._ledger((file, self._last_stop(file)) for file in there), [])

    # -- planning -----------------------------------------------------------------------------------

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        batch = self._batch(start, clock.now_ms)
        for file, first in self._waiting(start, batch):
            if limit <= 0 or len(batch.stretches) >= _FILES_A_BATCH:
                break
            with suppress(FileNotFoundError):  # taken away just now
                limit -= self._take(file, first, limit, batch)
        self._note_waiting_lines(batch, clock.now_ms)
        if not (batch.stretches or batch.notes or "known" not in start.at):
            return start
        present = {path_hash(file.path) for file in self._memory.found}
        ledger = {k: v for k, v in batch.known.items() if k in present}
        return _position(batch.stretches or self._left(start, batch.known), ledger, batch.notes)

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        """By the modification time of the first file that waits; how many records it holds is not known."""
        batch = _Batch(dict(self._known_at(at)))
        waiting = next((file for file, first in self._waiting(at, batch) if self._ready(file, first)), None)
        return Lag(None, 0 if waiting is None else max(0, clock.now_ms - waiting.mtime_ns // 1_000_000))

    def _batch(self, start: Position, now_ms: int) -> _Batch:
        """Nothing planned yet; files that were away at a look since the position are not known any more."""
        memory, known = self._memory, self._known_at(start)
        if memory.looked_ms is None or now_ms - memory.looked_ms >= self._interval_ms:
            found = filter(self._wanted, list_files(self._paths, may_be_missing=True))
            memory.look(sorted(found, key=lambda f: (f.mtime_ns, f.path)), now_ms)
        return _Batch({k: v for k, v in known.items() if k not in memory.absent})

    def _known_at(self, position: Position) -> Ledger:
        memory = self._memory
        if position != memory.position:
            ledger = unpack(position.at["known"]) if "known" in position.at else self._adopted(position)
            memory.position, memory.ledger, memory.absent = position, ledger, set()
        return memory.ledger

    def _adopted(self, position: Position) -> Ledger:
        """What a position of the older form knows: of files of its own batch how far they were read, of others only
        that they were. These are read on from the size that they have now."""
        begun = set(unpack_hashes(position.at["begun"]))
        ends = {path: (size, stop) for path, size, _, _, stop in position.at["files"]}
        there = [file for file in list_files(self._paths, may_be_missing=True) if path_hash(file.path) in begun]
        return self._ledger(_as_planned(f, *ends.get(f.path, (f.size, f.size))) for f in there)

    def _ledger(self, read: Iterable[tuple[FoundFile, int]]) -> Ledger:
        """Files and how far they have been read."""
        known: Ledger = {}
        for file, stop in read:
            with suppress(FileNotFoundError):
                known[path_hash(file.path)] = self._as_read(file, stop)
        return known

    # -- what waits ---------------------------------------------------------------------------------

    def _waiting(self, start: Position, batch: _Batch) -> Iterator[tuple[FoundFile, int]]:
        """Files with bytes to read, and from where on: first the rest of the file that is being read."""
        for path, size, mtime_ns, _, stop, *begins in self._left(start, batch.known):
            known = Known(stop, bytes.fromhex(begins[0])) if begins else None
            yield from self._rest(FoundFile(path, size, mtime_ns), stop, known, batch)
        for file in self._memory.found:
            if batch.stretches and file.path == batch.stretches[0][0]:
                continue  # its rest has just been taken
            known = batch.known.get(path_hash(file.path))
            yield from self._fresh(file) if known is None else self._grown(file, known, batch)

    def _left(self, start: Position, known: Ledger) -> list[list[Any]]:
        """The rest of the file that a batch left unfinished, as a stretch of which nothing is read yet."""
        for path, size, mtime_ns, _, stop, *begins in start.at["files"][-1:]:
            entry = known.get(path_hash(path))
            if stop < size and entry != GIVEN_UP:
                if entry is not None and self._format.tails(path):
                    begins = begins or [entry.edges.hex()]  # a position of the older form has none
                return [[path, size, mtime_ns, stop, stop, *begins]]
        return []

    def _rest(self, file: FoundFile, stop: int, known: Known | None, batch: _Batch) -> Iterator[tuple[FoundFile, int]]:
        """Of a file that was left unfinished: no further than it reached then, so that others have their turn."""
        if stat_file(file.path) is None:
            raise gone(file.path)
        if known is None:
            yield file, stop
        else:
            yield from self._grown(file, known, batch)

    def _fresh(self, file: FoundFile) -> Iterator[tuple[FoundFile, int]]:
        now = stat_file(file.path)
        if now is not None:
            yield now, self._first_of(file.path)

    def _grown(self, file: FoundFile, known: Known, batch: _Batch) -> Iterator[tuple[FoundFile, int]]:
        if known == GIVEN_UP:
            return
        try:
            changed = self._change(file, known)
            if changed and (now := stat_file(file.path)) != file:  # it went on since the last look
                changed = self._change(now, known) if now is not None else ""
        except FileNotFoundError:
            return  # taken away since the last look
        if changed:
            batch.known[path_hash(file.path)] = GIVEN_UP
            batch.notes.append([changed, CHANGED])
        elif file.size > known.at:
            yield file, known.at

    def _change(self, file: FoundFile, known: Known) -> str:
        """How a file that was read has changed, other than by growing; empty if it has not."""
        sound, tails = self._memory.sound, self._format.tails(file.path)
        if sound.get(file.path) == (file, known):
            return ""
        if file.size < known.at:
            return _was_changed(file.path, f"was shortened from {known.at} to {file.size} bytes")
        if file.size > known.at and not tails:
            return _was_changed(
                file.path,
                f"has grown from {known.at} to {file.size} bytes, and what was added cannot be read: "
                "a compressed file, or one of this format, is read once",
            )
        if edges(file.path, known.at) != known.edges:
            return _was_changed(file.path, "was replaced or rewritten")
        sound[file.path] = (file, known)
        return ""

    # -- what is taken ------------------------------------------------------------------------------

    def _take(self, file: FoundFile, first: int, limit: int, batch: _Batch) -> int:
        """Plan a file from a byte on; returns how many of `limit` records that will be."""
        if not self._format.tails(file.path):
            stop, used = self._format.stop_for(Extent(file.path, first, file.size, file.size, file.mtime_ns), limit)
            batch.add(file, first, stop, self._as_read(file, stop), False)
            # a file is read to its end before the next is begun
            return used if stop == file.size else limit
        if self._memory.barren.get(file.path) == (file, first):
            return 0
        stop, used = self._format.tail_stop(Extent(file.path, first, file.size, file.size, begins=b""), limit)
        if stop == first:
            self._memory.barren[file.path] = (file, first)
            return 0
        batch.add(file, first, stop, self._as_read(file, stop), True)
        return used

    def _ready(self, file: FoundFile, first: int) -> bool:
        """Whether something complete is there to be read."""
        with suppress(FileNotFoundError):
            return not self._format.tails(file.path) or self._take(file, first, 1, _Batch({})) > 0
        return False

    def _last_stop(self, file: FoundFile) -> int:
        """Behind what is complete now."""
        stop, tails = 0, self._format.tails(file.path)
        while tails:
            at, _ = self._format.tail_stop(Extent(file.path, stop, file.size, file.size, begins=b""), _MANY)
            if at == stop:
                break
            stop = at
        return stop

    def _note_waiting_lines(self, batch: _Batch, now_ms: int) -> None:
        """Say once of each file that its last line has waited for its end for long."""
        memory = self._memory
        for path, (file, first) in memory.barren.items():
            if first < file.size and path not in memory.told:
                since_ms = memory.unfinished.setdefault(file, now_ms)
                if now_ms - since_ms >= _PATIENCE_MS:
                    memory.told.add(path)
                    batch.notes.append([_waits(file, first), None])

    # -- stretches ----------------------------------------------------------------------------------

    def _as_read(self, file: FoundFile, stop: int) -> Known:
        """A file that has been read up to a place; where the format cannot tail it, it is known by all its bytes."""
        at = stop if self._format.tails(file.path) else file.size
        return Known(at, edges(file.path, at))

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        assert end is not None, "a source without end cannot be read to its end"
        for path, size, mtime_ns, first, stop, *begins in end.at["files"]:
            known = bytes.fromhex(begins[0]) if begins else None
            yield from self._read(Extent(path, first, stop, size, mtime_ns, known))

    def notices(self, end: Position) -> list[Notice]:
        return [Notice(text, counted_as) for text, counted_as in end.at.get("notes", ())]


class _Batch:
    """The files and byte ranges planned for one batch."""

    def __init__(self, known: Ledger) -> None:
        self.known = known
        self.stretches: list[list[Any]] = []
        self.notes: list[list[str | None]] = []

    def add(self, file: FoundFile, first: int, stop: int, known: Known, tails: bool) -> None:
        """Read a file from here to there; then this is known of it."""
        named: list[Any] = [file.path, file.size, file.mtime_ns, first, stop]
        self.stretches.append([*named, known.edges.hex()] if tails else named)
        self.known[path_hash(file.path)] = known


class _Memory:
    """A cache of the planner, kept between batches in the driver. A new driver starts without it and plans the same."""

    def __init__(self) -> None:
        self.looked_ms: int | None = None
        self.found: list[FoundFile] = []
        # the last position that was asked about, what it knows, and which of that was away at a look since
        self.position: Position | None = None
        self.ledger: Ledger = {}
        self.absent: set[bytes] = set()
        # files as they were when their bytes were last compared, and when nothing complete was found from a byte on
        self.sound: dict[str, tuple[FoundFile, Known]] = {}
        self.barren: dict[str, tuple[FoundFile, int]] = {}
        # last lines without a line end: since when, and of which files the user has been told
        self.unfinished: dict[FoundFile, int] = {}
        self.told: set[str] = set()

    def look(self, found: list[FoundFile], now_ms: int) -> None:
        """Take note of what is there now, and forget what is not."""
        self.found, self.looked_ms = found, now_ms
        paths, files = {file.path for file in found}, set(found)
        self.absent.update(set(self.ledger) - set(map(path_hash, paths)))
        self.sound = {path: seen for path, seen in self.sound.items() if path in paths}
        self.barren = {path: seen for path, seen in self.barren.items() if seen[0] in files}
        self.told &= paths
        self.unfinished = {file: since_ms for file, since_ms in self.unfinished.items() if file in files}


def _position(stretches: list[list[object]], known: Ledger, notes: list[list[str | None]]) -> Position:
    at = {"files": stretches, "known": pack(known)}
    return Position({**at, "notes": notes} if notes else at)


def _as_planned(file: FoundFile, size: int, stop: int) -> tuple[FoundFile, int]:
    """A file with the size it had when it was planned; as it is now if it has become shorter since."""
    return (file._replace(size=size), stop) if file.size >= size else (file, file.size)


def _was_changed(path: str, what: str) -> str:
    return f"{path} {what}, after it had been read. It is left alone from now on: give new contents another name"


def _waits(file: FoundFile, end: int) -> str:
    return (
        f"{file.path} does not end in a line end: its last {file.size - end} byte(s) are kept back until one is there"
    )
