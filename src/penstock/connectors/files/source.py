"""Files as a source, with explicit positions so that a job can start anywhere in them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any, Generic, Self

from penstock.connectors.files.listing import FoundFile, fingerprint, list_files, local_path, path_hash
from penstock.connectors.formats.files import BulkFormat, Extent, FileFormat, StreamFormat, check_unchanged
from penstock.core.config.compat import warn_once
from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock
from penstock.core.contracts.starting_offsets import StartingOffsets, refuse_start
from penstock.core.errors import ProgramError, SourceError
from penstock.core.time.spans import Duration, Span, duration_of
from penstock.core.types.type_variables import T, T_co

__all__ = [
    "BulkFormat",
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "StreamFormat",
]

_BLOCK = 32 << 20
_OPEN_COST = 1 << 20
"""What opening a file costs, in bytes that could be read instead: keeps thousands of tiny files out of one split."""
_DEALT = struct.Struct(">8sH")
"""A file in a position: its path's hash, and the number of its first block modulo the number of splits."""


class FileEnumeratorProvider:
    """Whether files may be cut into blocks.

    >>> FileEnumeratorProvider.default_non_splittable_file_enumerator().splittable
    False
    """

    def __init__(self, splittable: bool) -> None:
        self.splittable = splittable

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Large files of formats that allow it are read in parts."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Each file is read as a whole."""
        return FileEnumeratorProvider(False)


class FileSplitAssignerProvider:
    """Accepted for compatibility.

    >>> isinstance(FileSplitAssignerProvider.locality_aware_split_assigner(), FileSplitAssignerProvider)
    True
    """

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """The only assigner there is to name."""
        return FileSplitAssignerProvider()


_EARLIEST = StartingOffsets.earliest()


class FileSourceBuilder(Generic[T]):
    """Builds a `FileSource`."""

    def __init__(self, file_format: FileFormat[T], paths: tuple[str, ...]) -> None:
        self._format, self._paths = file_format, paths
        self._interval: Duration | None = None
        self._cut = True
        self._start = StartingOffsets.earliest()

    def monitor_continuously(self, discovery_interval: Span) -> Self:
        """Go on looking for new files, and for new lines of text, CSV and JSON files, every so often.

        A line is read when its line end is there; a file that does not end in one keeps its last line back. Files of
        other formats, and compressed ones, are read once: they must be complete when they get their name, so write
        them under a name that begins with `.` or `_` and rename. A file that was read and is then replaced, shortened
        or rewritten is reported, counted as `changed_files` and left alone: give new contents another name.
        """
        interval = duration_of(discovery_interval)
        if interval.to_milliseconds() <= 0:
            raise ProgramError(f"monitor_continuously() takes a positive interval, got {discovery_interval}")
        self._interval = interval
        return self

    def process_static_file_set(self) -> Self:
        """Read what is there when the job starts; the default."""
        self._interval = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> Self:
        """Whether a file may be read in several blocks at a time."""
        self._cut = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> Self:
        """Accepted without effect: Spark places the readers."""
        warn_once("FileSourceBuilder.set_split_assigner")
        return self

    def start_from(self, start: StartingOffsets) -> Self:
        """Leave out what was there before: by modification time; given offsets, by path, are places in files (the
        byte at which a record begins). A watched folder may start from the latest: what is there is left out."""
        if start.kind == "offsets" and not isinstance(start.value, dict):
            raise TypeError(f"FileSource takes offsets as a dict by path, got {start.value!r}")
        self._start = start
        return self

    def build(self) -> FileSource[T]:
        """The finished source."""
        from penstock.connectors.files.watched import WatchedFileSource

        if self._interval is None:
            return FileSource(self._format, self._paths, self._cut, self._start)
        return WatchedFileSource(self._format, self._paths, self._interval, self._start)


class FileSource(Source[T_co]):
    """The records of files; folders are taken with all files below them, hidden ones left out.

    Files are cut into blocks. Read at once, a split is a run of blocks. In micro-batches there are as many splits
    as subtasks, and blocks are dealt to them in turn: one subtask reads all files in the order of their paths. A
    position is (block, byte, the files with blocks for this split: 10 bytes each). Files that are added after the job
    began are left alone, whatever their modification time; if one of the set has changed the job is refused.

    >>> FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/data/*.txt").build().bounded
    True
    """

    emits_watermarks = False

    def __init__(
        self,
        file_format: FileFormat[T_co],
        paths: tuple[str, ...],
        cut: bool = True,
        start: StartingOffsets = _EARLIEST,
    ) -> None:
        if not paths:
            raise ProgramError("FileSource needs at least one path")
        if not isinstance(file_format, FileFormat):
            raise TypeError(f"FileSource takes a StreamFormat or BulkFormat, got {type(file_format).__name__}")
        for path in paths:
            local_path(path, "FileSource")
        self._format = file_format
        self._paths = paths
        self._cut = cut
        if start.kind == "latest" and self.bounded:
            known = "earliest, timestamp (of modification) or offsets; only a watched folder has a latest"
            raise refuse_start("FileSource", start, known)
        self._start = start
        # settled when the job is planned, and carried to the workers
        self._files: list[FoundFile] | None = None
        self._runs: list[list[Extent]] = []
        # made of these where they are needed
        self._dealt: dict[tuple[int, int, str], list[Extent]] = {}

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat[T], *paths: str) -> FileSourceBuilder[T]:
        """Read files record by record."""
        return FileSourceBuilder(stream_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat[T], *paths: str) -> FileSourceBuilder[T]:
        """Read files of a columnar format."""
        return FileSourceBuilder(bulk_format, paths)

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        files = self._list()
        if not one_batch:
            return parallelism
        self._runs = _runs(self._blocks(files), parallelism)
        return max(1, len(self._runs))

    def _list(self) -> list[FoundFile]:
        if self._files is None:
            self._files = [file for file in list_files(self._paths) if self._wanted(file)]
        return self._files

    def _wanted(self, file: FoundFile) -> bool:
        return self._start.kind != "timestamp" or file.mtime_ns >= self._start.value * 1_000_000

    def _first_of(self, path: str) -> int:
        """Where the reading of a file begins."""
        return int(self._start.value.get(path, 0)) if self._start.kind == "offsets" else 0

    def _blocks(self, files: list[FoundFile]) -> list[Extent]:
        return [extent for file in files for extent in self._cut_up(file)]

    def _cut_up(self, file: FoundFile) -> Iterator[Extent]:
        path, size, mtime_ns = file
        step = _BLOCK if self._cut and self._format.splittable(path) else max(size, 1)
        yield from (
            Extent(path, at, min(size, at + step), size, mtime_ns)
            for at in range(self._first_of(path), max(size, 1), step)
        )

    # -- positions ----------------------------------------------------------------------------------

    def initial(self, split: int, splits: int) -> Position:
        pin = self._pin(split, splits)
        mine = self._mine(split, splits, pin)
        return Position([0, mine[0].first if mine else 0, pin], not mine)

    def _pin(self, split: int, splits: int) -> dict[str, str]:
        """Names the files that have blocks for a split, and how they look."""
        mine, number = [], 0
        for file in self._list():
            count = sum(1 for _ in self._cut_up(file))
            if (split - number) % splits < count:
                mine.append((file, number % splits))
            number += count
        packed = b"".join(_DEALT.pack(path_hash(file.path), begin) for file, begin in mine)
        return {"files": base64.b85encode(packed).decode(), "print": fingerprint([file for file, _ in mine], True)}

    def _mine(self, split: int, splits: int, pin: Any) -> list[Extent]:
        key = (split, splits, pin["print"] if isinstance(pin, dict) else pin[1])
        if key not in self._dealt:
            self._dealt[key] = list(
                self._pinned(split, splits, pin) if isinstance(pin, dict) else self._pinned_by_time(split, splits, pin)
            )
        return self._dealt[key]

    def _pinned(self, split: int, splits: int, pin: dict[str, str]) -> Iterator[Extent]:
        """The blocks of a split, of the files that its position names."""
        there = {path_hash(file.path): file for file in self._list()}
        named = [(there.get(key), begin) for key, begin in _DEALT.iter_unpack(base64.b85decode(pin["files"]))]
        files = [file for file, _ in named if file is not None]
        self._check_set(len(files) == len(named) and fingerprint(files, True) == pin["print"])
        for file, (_, begin) in zip(files, named, strict=True):
            yield from (b for number, b in enumerate(self._cut_up(file), begin) if number % splits == split)

    def _pinned_by_time(self, split: int, splits: int, pin: list[Any]) -> list[Extent]:
        """The same for a position of the older form, which names the set by its latest modification time."""
        files = [f for f in self._list() if f.mtime_ns <= pin[0]]
        self._check_set(fingerprint(files, False) == pin[1])
        return self._blocks(files)[split::splits]

    def _check_set(self, same: bool) -> None:
        if not same:
            raise SourceError(
                f"The files of FileSource({', '.join(self._paths)}) have changed since the checkpoint: some are gone, "
                "renamed, modified or of another size. Restore them, with their modification times, or start from a "
                "new checkpoint"
            )

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        index, byte, pin = start.at
        mine = self._mine(split, splits, pin)
        while index < len(mine) and limit > 0:
            byte, used = self._format.stop_for(mine[index]._replace(first=byte), limit)
            limit -= used
            if byte < mine[index].stop:
                break
            index += 1
            byte = mine[index].first if index < len(mine) else 0
        return Position([index, byte, pin], index >= len(mine))

    # -- reading ------------------------------------------------------------------------------------

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        for extent in self._extents(split, splits, start, end):
            yield from self._read(extent)

    def _read(self, extent: Extent) -> Iterator[ReadBatch]:
        """Looked at before and afterwards: a file may be rewritten while it is being read."""
        check_unchanged(extent)
        for values in self._format.read(extent):
            yield values, None
        check_unchanged(extent)

    def _extents(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[Extent]:
        if end is None:
            yield from self._runs[split] if self._runs else ()
            return
        (index, byte, pin), (last, last_byte, _) = start.at, end.at
        mine = self._mine(split, splits, pin)
        for i in range(index, min(last + 1, len(mine))):
            first = byte if i == index else mine[i].first
            stop = last_byte if i == last else mine[i].stop
            if first < stop:
                yield mine[i]._replace(first=first, stop=stop)


def _runs(blocks: list[Extent], parallelism: int) -> list[list[Extent]]:
    """Neighbouring blocks together, up to the size of a block, but enough of them for all subtasks."""
    costs = [b.stop - b.first + min(_OPEN_COST, _BLOCK) for b in blocks]
    goal = min(_BLOCK, sum(costs) // max(1, parallelism))
    runs: list[list[Extent]] = []
    room = 0
    for block, cost in zip(blocks, costs, strict=True):
        if room < cost:
            runs.append([])
            room = goal
        runs[-1].append(block)
        room -= cost
    return runs
