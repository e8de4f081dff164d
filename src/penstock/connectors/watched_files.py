"""Folders that are watched for new files."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from penstock.connectors.file_listing import FoundFile, list_files
from penstock.connectors.file_source import FileSource
from penstock.connectors.formats.files import Extent, FileFormat
from penstock.core.errors import SourceError
from penstock.core.source import Lag, Position, ReadBatch, SourceClock
from penstock.core.starting import StartingOffsets
from penstock.core.time import Duration

__all__ = ["WatchedFileSource"]

_FILES_A_BATCH = 1000
_EARLIEST = StartingOffsets.earliest()
_HASH = 8


class WatchedFileSource(FileSource):
    """Files as they appear, without end: those found at a time in the order of (modification time, path).

    One split, since files come and go: a batch is one channel. A position names the stretches of files that make
    up the batch, so that it can be read again exactly, and which of the files that lie there have been begun (8
    bytes each): a file is read once, also one that appears with an old modification time. What is taken away is
    forgotten, so a position is as large as the folder is full: move files away once they have been read.
    """

    bounded = False

    def __init__(
        self,
        file_format: FileFormat,
        paths: tuple[str, ...],
        interval: Duration,
        start: StartingOffsets = _EARLIEST,
    ) -> None:
        super().__init__(file_format, paths, start=start)
        self.moving_start = start.kind == "latest"
        self._interval_ms = interval.to_milliseconds()
        # only on the driver, and only to save time: what the last look found, and the set that a position names
        self._looked_ms: int | None = None
        self._found: list[FoundFile] = []
        self._begun: tuple[str, frozenset[bytes]] = ("", frozenset())

    def split_parallelism(self, parallelism: int) -> int:
        return 1

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return 1

    def initial(self, split: int, splits: int) -> Position:
        there = list_files(self._paths, may_be_missing=True) if self.moving_start else []
        return self._position([], frozenset(_hash(file.path) for file in there))

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        begun = self._begun_at(start)
        self._look(clock.now_ms)
        stretches, fresh = self._take(start, begun, limit)
        if not stretches:
            return start
        present = {_hash(f.path) for f in self._found}
        return self._position(stretches, (begun & present) | fresh)

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        """By the modification time of the first file that waits; how many records it holds is not known."""
        waiting = next((file for file, _ in self._waiting(at, self._begun_at(at))), None)
        return Lag(None, 0 if waiting is None else max(0, clock.now_ms - waiting.mtime_ns // 1_000_000))

    def _begun_at(self, position: Position) -> frozenset[bytes]:
        text = position.at["begun"]
        if text != self._begun[0]:
            self._begun = (text, _unpack(text))
        return self._begun[1]

    def _position(self, stretches: list[list[Any]], begun: frozenset[bytes]) -> Position:
        text = base64.b85encode(b"".join(sorted(begun))).decode()
        self._begun = (text, begun)
        return Position({"files": stretches, "begun": text})

    def _look(self, now_ms: int) -> None:
        if self._looked_ms is None or now_ms - self._looked_ms >= self._interval_ms:
            self._looked_ms = now_ms
            found = filter(self._wanted, list_files(self._paths, may_be_missing=True))
            self._found = sorted(found, key=lambda f: (f.mtime_ns, f.path))

    def _take(self, start: Position, begun: frozenset[bytes], limit: int) -> tuple[list[list[Any]], frozenset[bytes]]:
        """The rest of the file that is being read, then new ones, until about `limit` records."""
        stretches: list[list[Any]] = []
        fresh: set[bytes] = set()
        for file, first in self._waiting(start, begun):
            if limit <= 0 or len(stretches) >= _FILES_A_BATCH:
                break
            stop, used = self._format.stop_for(Extent(file.path, first, file.size, file.size), limit)
            limit -= used
            fresh.add(_hash(file.path))
            stretches.append([file.path, file.size, file.mtime_ns, first, stop])
            if stop < file.size:  # only the last file of a batch may be left unfinished
                break
        return stretches, frozenset(fresh)

    def _waiting(self, start: Position, begun: frozenset[bytes]) -> Iterator[tuple[FoundFile, int]]:
        for path, size, mtime_ns, _, stop in start.at["files"][-1:]:
            if stop < size:
                yield FoundFile(path, size, mtime_ns), stop
        for file in self._found:
            if _hash(file.path) not in begun and (now := _as_it_is(file.path)) is not None:
                yield now, self._first_of(file.path)

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        assert end is not None, "a source without end cannot be read to its end"
        for path, size, mtime_ns, first, stop in end.at["files"]:
            _check_time(path, mtime_ns)
            for values in self._format.read(Extent(path, first, stop, size)):
                yield values, None


def _hash(path: str) -> bytes:
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=_HASH).digest()


def _unpack(text: str) -> frozenset[bytes]:
    data = base64.b85decode(text)
    return frozenset(data[i : i + _HASH] for i in range(0, len(data), _HASH))


def _as_it_is(path: str) -> FoundFile | None:
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return FoundFile(path, stat.st_size, stat.st_mtime_ns)


def _check_time(path: str, mtime_ns: int) -> None:
    now = _as_it_is(path)
    if now is not None and now.mtime_ns != mtime_ns:
        raise SourceError(
            f"{path} was modified after the source had found it. Files must be complete when they get their name: "
            "write under a name that begins with '.' or '_' and rename"
        )
