"""How the bytes of a file become records.

A file consists of units: lines, blocks, row groups, stripes, or, where it cannot be cut, the whole file. A format
reads the units that begin in a range of bytes, so ranges that cover a file give every record once.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import IO, Any, BinaryIO, Generic, NamedTuple, cast

from penstock.connectors.files.listing import edges, stat_file
from penstock.core.errors import OperatorError, PenstockError, ProgramError, RecordError, SourceError
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import T_co

__all__ = [
    "BulkFormat",
    "Extent",
    "FileFormat",
    "InputFormat",
    "LineFormat",
    "StreamFormat",
    "compressed",
    "damaged",
    "open_file",
    "refuse_empty",
]

RECORD_BYTES = 64
"""A guess at the size of a record, to turn limits on records into ranges of bytes."""
_READ_BYTES = 1 << 20


class Extent(NamedTuple):
    """A range of bytes of a file, and the file's size when it was listed.

    `mtime_ns`, if given: when it was modified. `begins`, if given: the file may grow, and these are the `edges` of its
    bytes up to `stop`, or b"" before anybody has looked.
    """

    path: str
    first: int
    stop: int
    size: int
    mtime_ns: int | None = None
    begins: bytes | None = None


class FileFormat(Subscriptable, ABC, Generic[T_co]):
    """Reads files. Picklable; runs in workers, but `stop_for`, which runs on the driver."""

    def splittable(self, path: str) -> bool:
        """Whether a range that begins anywhere can be read; else only one that begins where `stop_for` said."""
        return not compressed(path)

    def stop_for(self, extent: Extent, records: int) -> tuple[int, int]:
        """Where to stop if about so many records may be read from the extent, and how many that will be, roughly."""
        if compressed(extent.path):
            refuse_empty(extent)
        if not self.splittable(extent.path):
            return extent.stop, _guess(extent.stop - extent.first)
        stop = min(extent.stop, extent.first + max(1, records) * RECORD_BYTES)
        return stop, _guess(stop - extent.first)

    def tails(self, path: str) -> bool:
        """Whether a file that has grown can be read on from where its last complete unit ended."""
        return False

    def tail_stop(self, extent: Extent, records: int) -> tuple[int, int]:
        """As `stop_for`, in a file that may still be written to: every unit that begins before the stop is complete.

        Called where `tails` says so, with an extent up to the end of the file that begins where an earlier one
        stopped. If no unit is complete yet, the stop is the extent's first byte. If more may be complete behind the
        stop, all of `records` are used.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot tail {extent.path}")

    @abstractmethod
    def read(self, extent: Extent) -> Iterator[list[T_co]]:
        """The records of the units that begin in the extent."""


def _guess(size: int) -> int:
    return size // RECORD_BYTES + 1


class StreamFormat(FileFormat[T_co]):
    """Reads records one after the other; compressed files (.gz, .bz2, .xz) are unpacked as they are read.

    >>> StreamFormat.text_line_format("latin-1").decode(b"\\xfc")
    'ü'
    """

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> LineFormat[str]:
        """Each line, without its line end, is a string."""
        return LineFormat(_TextLine(charset_name))


class BulkFormat(FileFormat[T_co]):
    """Reads many records at a time: row groups, stripes, blocks."""

    def splittable(self, path: str) -> bool:
        return True


class InputFormat(Subscriptable, Generic[T_co]):
    """A format together with the path of what is to be read; for `env.create_input`.

    >>> InputFormat("/data", StreamFormat.text_line_format()).path
    '/data'
    """

    def __init__(self, path: str, file_format: FileFormat[T_co]) -> None:
        self.path = path
        self.file_format = file_format


class _TextLine:
    def __init__(self, charset: str) -> None:
        if "\n".encode(charset) != b"\n":
            raise ProgramError(f"text_line_format cannot cut lines of {charset}: use a charset that extends ASCII")
        self._charset = charset

    def __call__(self, line: bytes) -> str:
        return line.decode(self._charset)


class LineFormat(StreamFormat[T_co]):
    """A record is what `decode` makes of a line without its line end; with `skips`, None is left out."""

    def __init__(self, decode: Callable[[bytes], T_co], skips: bool = False) -> None:
        self.decode = decode
        self._skips = skips

    def tails(self, path: str) -> bool:
        return not compressed(path)

    def tail_stop(self, extent: Extent, records: int) -> tuple[int, int]:
        end = last_line_end(extent.path, extent.first, extent.stop)
        return self.stop_for(extent._replace(stop=end), records) if end > extent.first else (end, 0)

    def read(self, extent: Extent) -> Iterator[list[T_co]]:
        with open_file(extent) as file:
            at = seek_line(file, extent.first)
            while lines := next_lines(file, at, limit(extent)):
                values = self._decoded(extent.path, at, lines)
                if values:
                    yield values
                at += sum(map(len, lines))

    def _decoded(self, path: str, at: int, lines: list[bytes]) -> list[T_co]:
        decode = self.decode
        done: list[T_co] = []
        try:
            done.extend(decode(line.rstrip(b"\r\n")) for line in lines)
        except Exception as error:
            raise malformed(path, at + sum(map(len, lines[: len(done)])), error) from error
        return [v for v in done if v is not None] if self._skips else done


def seek_line(file: BinaryIO, first: int) -> int:
    """Go to the first line that begins at `first` or after it."""
    file.seek(max(0, first - 1))
    if first:
        file.readline()
    return file.tell()


def last_line_end(path: str, first: int, stop: int) -> int:
    """Behind the last line end in a range of bytes; `first` if there is none. Looks from the back."""
    with open(path, "rb") as file:
        while stop > first:
            begin = max(first, stop - _READ_BYTES)
            file.seek(begin)
            found = file.read(stop - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            stop = begin
    return first


def limit(extent: Extent) -> float:
    """Where the extent ends in the bytes that are read: not at all if they are more than the file has."""
    return float("inf") if compressed(extent.path) else extent.stop


def next_lines(file: BinaryIO, at: int, stop: float) -> list[bytes]:
    """The next lines, those that begin before `stop` only; empty at its end."""
    room = int(min(_READ_BYTES, stop - at))
    if room <= 0:
        return []
    if room == 1:  # for readlines(), 0 is no limit at all
        return [line for line in [file.readline()] if line]
    return file.readlines(room - 1)


# -- opening -------------------------------------------------------------------------------------------

_OPENERS: dict[str, Callable[[str], Any]] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_UNKNOWN = (".deflate", ".zst", ".zip", ".lz4", ".snappy", ".7z")


def compressed(path: str) -> bool:
    """Whether the name says that the file is packed."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _UNKNOWN:
        raise SourceError(f"{path}: files ending in {suffix} cannot be read; unpack it, or use .gz, .bz2 or .xz")
    return suffix in _OPENERS


def open_file(extent: Extent) -> BinaryIO:
    """The file, unpacked if need be; refused if it is not the file that was listed."""
    path = extent.path
    check_unchanged(extent)
    if not compressed(path):
        return open(path, "rb")
    refuse_empty(extent)
    return cast(BinaryIO, _Unpacked(path, _OPENERS[os.path.splitext(path)[1].lower()](path)))


def check_unchanged(extent: Extent) -> None:
    """Refuse a file that is gone or not what it was when it was listed; one that may grow must begin the same."""
    now = stat_file(extent.path)
    if now is None:
        raise gone(extent.path)
    if extent.begins is not None:
        _check_beginning(extent, now.size)
    elif now.size != extent.size:
        raise SourceError(
            f"{extent.path} had {extent.size} bytes when the source found it and has {now.size} now. {_WHOLE}"
        )
    elif extent.mtime_ns not in (None, now.mtime_ns):
        raise SourceError(f"{extent.path} was modified after the source had found it. {_WHOLE}")


def gone(path: str) -> SourceError:
    """The error for a file that was taken away before it was read."""
    return SourceError(f"{path} was found by the source but is gone now: restore it")


_WHOLE = (
    "Files must be complete when they get their name: write under a name that begins with '.' or '_' and rename. "
    "If the file was restored or copied, give it back its modification time"
)


def _check_beginning(extent: Extent, size: int) -> None:
    if size < extent.stop:
        raise SourceError(
            f"{extent.path} was shortened from {extent.size} to {size} bytes before it was read up to byte "
            f"{extent.stop}: restore it. A watched file may only grow"
        )
    if extent.begins and edges(extent.path, extent.stop) != extent.begins:
        raise SourceError(
            f"{extent.path} was modified after the source had found it: its first {extent.stop} bytes are not the same "
            "any more. Restore it. A watched file may only grow: give new contents another name"
        )


def refuse_empty(extent: Extent) -> None:
    """Refuse a file of no bytes where even one without records has some: whoever wrote or copied it did not finish."""
    if extent.size == 0:
        raise SourceError(
            f"{extent.path} is damaged or not of this format: it is empty, and even a file without records has a "
            "header in this format. Restore it, or remove it"
        )


class _Unpacked:
    """A packed file; damage is reported with the file's name."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path, self._file = path, file

    def __enter__(self) -> _Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def readline(self) -> bytes:
        with damaged(self._path, EOFError, OSError, lzma.LZMAError, zlib.error):
            return self._file.readline()

    def readlines(self, hint: int = -1) -> list[bytes]:
        with damaged(self._path, EOFError, OSError, lzma.LZMAError, zlib.error):
            return self._file.readlines(hint)


class damaged:
    """Turns errors of a decoder into a `SourceError` that names the file."""

    def __init__(self, path: str, *errors: type[BaseException]) -> None:
        self._path, self._errors = path, errors

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, self._errors) and not isinstance(error, PenstockError):
            raise SourceError(f"{self._path} is damaged or not of this format: {error}") from error


def malformed(path: str, at: int, error: BaseException) -> RecordError:
    """The error for a record that begins at a byte of a (text) file."""
    where = f"byte {at} of the unpacked {path}" if compressed(path) else f"{path}, line {_line(path, at)} (byte {at})"
    what = error.args[0] if isinstance(error, OperatorError) else f"{type(error).__name__}: {error}"
    return RecordError(f"{where}: {what}")


def _line(path: str, at: int) -> int:
    with open(path, "rb") as file:
        return 1 + sum(file.read(min(_READ_BYTES, at - a)).count(b"\n") for a in range(0, at, _READ_BYTES))
