"""Files as a source, with explicit positions so that a job can start anywhere in them."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

from penstock.core.errors import ProgramError, SourceError
from penstock.core.source import Position, ReadBatch, Source, SourceClock

__all__ = ["FileSource", "FileSourceBuilder", "StreamFormat"]

_READ_LINES = 8192
_BLOCK = 32 << 20


class StreamFormat:
    """How bytes become records. Line formats can be read from any line on."""

    def __init__(self, decode: Callable[[bytes], Any]) -> None:
        self.decode = decode

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Each line, without its line end, is a string."""
        return StreamFormat(_TextLine(charset_name))


class _TextLine:
    def __init__(self, charset: str) -> None:
        if "\n".encode(charset) != b"\n":
            raise ProgramError(f"text_line_format cannot cut lines of {charset}: use a charset that extends ASCII")
        self._charset = charset

    def __call__(self, line: bytes) -> str:
        return line.decode(self._charset)


class FileSourceBuilder:
    """Builds a `FileSource`."""

    def __init__(self, stream_format: StreamFormat, paths: tuple[str, ...]) -> None:
        self._format, self._paths = stream_format, paths

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read what is there when the job starts; the default."""
        return self

    def build(self) -> FileSource:
        return FileSource(self._format, self._paths)


class FileSource(Source):
    """The lines of files; folders are taken with all files below them, hidden ones left out.

    Read at once, every block of a file is a split of its own. In micro-batches all files are one
    split, read in the order of their paths; a position is (file, byte, fingerprint of the files so far).
    """

    def __init__(self, stream_format: StreamFormat, paths: tuple[str, ...]) -> None:
        if not paths:
            raise ProgramError("FileSource needs at least one path")
        self._format = stream_format
        self._paths = paths
        self._files: list[tuple[str, int]] | None = None
        self._blocks: list[tuple[str, int, int]] | None = None

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        return FileSourceBuilder(stream_format, paths)

    def split_parallelism(self, parallelism: int) -> int:
        return parallelism

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        files = self._list()
        if not one_batch:
            self._blocks = None
            return 1
        self._blocks = [(p, a, min(s, a + _BLOCK)) for p, s in files for a in range(0, max(s, 1), _BLOCK)]
        return max(1, len(self._blocks))

    def _list(self) -> list[tuple[str, int]]:
        if self._files is None:
            found = sorted({f for path in self._paths for f in _expand(path)})
            self._files = [(f, os.path.getsize(f)) for f in found]
        return self._files

    def _fingerprint(self, upto: int) -> str:
        listed = "\n".join(f"{p}\t{s}" for p, s in self._list()[:upto])
        return blake2b(listed.encode(), digest_size=8).hexdigest()

    def initial(self, split: int, splits: int) -> Position:
        return Position([0, 0, self._fingerprint(0)], not self._list())

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        index, byte, seen = start.at
        self._verify(index, seen)
        files = self._list()
        budget = limit * 64
        while index < len(files) and budget > 0:
            size = files[index][1]
            step = min(budget, size - byte)
            budget -= step
            byte += step
            if byte >= size:
                index, byte = index + 1, 0
        return Position([index, byte, self._fingerprint(index)], index >= len(files))

    def _verify(self, index: int, seen: str) -> None:
        if self._fingerprint(index) != seen:
            raise SourceError(
                f"The files of FileSource({', '.join(self._paths)}) have changed since the checkpoint: of the "
                f"{index} file(s) already read some are gone, renamed or of another size. Restore them, or start "
                "from a new checkpoint"
            )

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        for path, first, stop in self._ranges(split, start, end):
            yield from _read_lines(path, first, stop, self._format.decode)

    def _ranges(self, split: int, start: Position, end: Position | None) -> Iterator[tuple[str, int, int]]:
        if end is None:
            yield from (self._blocks or [])[split : split + 1]
            return
        files = self._list()
        (index, byte, _), (last, last_byte, _) = start.at, end.at
        for i in range(index, min(last + 1, len(files))):
            yield files[i][0], byte if i == index else 0, last_byte if i == last else files[i][1]


def _expand(path: str) -> Iterator[str]:
    path = path.removeprefix("file://")
    if os.path.isdir(path):
        for folder, folders, names in os.walk(path):
            folders[:] = [f for f in folders if not f.startswith((".", "_"))]
            yield from (os.path.join(folder, n) for n in names if not n.startswith((".", "_")))
        return
    found = [path] if os.path.exists(path) else glob.glob(path)
    if not found:
        raise SourceError(f"FileSource: {path!r} does not exist and matches no file")
    yield from found


def _read_lines(path: str, first: int, stop: int, decode: Callable[[bytes], Any]) -> Iterator[ReadBatch]:
    """The lines that begin in [first, stop)."""
    with open(path, "rb") as file:
        if first:
            file.seek(first - 1)
            file.readline()
        position = file.tell()
        while position < stop:
            lines: list[Any] = []
            while position < stop and len(lines) < _READ_LINES:
                line = file.readline()
                if not line:
                    position = stop
                    break
                position += len(line)
                lines.append(decode(line.rstrip(b"\r\n")))
            if lines:
                yield lines, None
