"""The worker's and the driver's side of the file sink: hidden files, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Generic

from penstock.connectors.files.buckets import BucketAssigner, BucketContext
from penstock.connectors.files.encoders import Encoder
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.core.contracts.sink import CommitRequest, Committer, SinkWriter
from penstock.core.errors import SinkError
from penstock.core.types.type_variables import IN

__all__ = ["FileCommitter", "FileWriter", "Format", "PartFiles"]

_IN_PROGRESS = ".inprogress"
_OPEN_FILES = 100
"""Files that a writer keeps open; beyond it the one that was not written to for longest is closed."""

Format = Encoder[IN] | BulkWriterFactory[IN]


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """The committable: a complete hidden file and the name it gets."""

    hidden: str
    final: str


# -- writing, in workers -------------------------------------------------------------------------------


class _Part(Generic[IN]):
    """One file that is being written."""

    def __init__(self, prepared: PreparedFile, fmt: Format[IN]) -> None:
        os.makedirs(os.path.dirname(prepared.final), exist_ok=True)
        self.prepared = prepared
        self._format = fmt
        self._state: object = None
        self._file: BinaryIO = open(prepared.hidden, "wb")  # noqa: SIM115 - closed by finish or abandon

    def write(self, values: Sequence[IN]) -> None:
        if isinstance(self._format, Encoder):
            self._file.write(b"".join(map(self._format.encode, values)))
        else:
            self._state = self._format.write(self._file, values, self._state)

    def size(self) -> int:
        return self._file.tell()

    def finish(self) -> None:
        if isinstance(self._format, BulkWriterFactory) and self._state is not None:
            self._format.finish(self._state)
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def abandon(self) -> None:
        self._file.close()


class PartFiles(Generic[IN]):
    """The files of one writer, at most one at a time in each bucket."""

    def __init__(self, base_path: str, name: str, suffix: str, fmt: Format[IN], part_size: int | None) -> None:
        self._base_path, self._name, self._suffix = base_path, name, suffix
        self._format, self._part_size = fmt, part_size
        self._open: dict[str, _Part[IN]] = {}
        self._done: list[PreparedFile] = []
        self._count = 0

    def write(self, bucket: str, values: Sequence[IN]) -> None:
        """Append to the bucket's file; a file that has its size is closed, to the record."""
        if self._part_size is None or not isinstance(self._format, Encoder):
            self._part(bucket).write(values)
            return
        for value in values:
            part = self._part(bucket)
            part.write([value])
            if part.size() >= self._part_size:
                self._close(bucket)

    def _part(self, bucket: str) -> _Part[IN]:
        part = self._open.pop(bucket, None)
        if part is None:
            if len(self._open) >= _OPEN_FILES:
                self._close(next(iter(self._open)))
            part = _Part(self._next_names(bucket), self._format)
        self._open[bucket] = part  # the one written to last is last
        return part

    def _next_names(self, bucket: str) -> PreparedFile:
        folder = os.path.join(self._base_path, bucket) if bucket else self._base_path
        number = f"-{self._count}" if self._count else ""
        self._count += 1
        name = f"{self._name}{number}{self._suffix}"
        return PreparedFile(os.path.join(folder, f".{name}{_IN_PROGRESS}"), os.path.join(folder, name))

    def _close(self, bucket: str) -> None:
        part = self._open.pop(bucket)
        part.finish()
        self._done.append(part.prepared)

    def finish(self) -> list[PreparedFile]:
        for bucket in list(self._open):
            self._close(bucket)
        return self._done

    def abandon(self) -> None:
        for part in self._open.values():
            part.abandon()


class FileWriter(SinkWriter[IN]):
    """Writes the records of a batch to the files of their buckets."""

    def __init__(self, files: PartFiles[IN], assigner: BucketAssigner[IN], processing_time_ms: int) -> None:
        self._files = files
        self._assigner = assigner
        self._time_ms = processing_time_ms

    def write(self, value: IN, timestamp: int | None) -> None:
        self.write_all([value], [timestamp])

    def write_all(self, values: Sequence[IN], timestamps: Sequence[int | None] | None) -> None:
        for bucket, members in self._by_bucket(values, timestamps):
            self._files.write(bucket, members)

    def _by_bucket(
        self, values: Sequence[IN], timestamps: Sequence[int | None] | None
    ) -> Iterator[tuple[str, Sequence[IN]]]:
        if not self._assigner.by_record:
            if values:
                yield self._bucket_of(values[0], None), values
            return
        buckets: dict[str, list[IN]] = {}
        for i, value in enumerate(values):
            bucket = self._bucket_of(value, timestamps[i] if timestamps is not None else None)
            buckets.setdefault(bucket, []).append(value)
        yield from buckets.items()

    def _bucket_of(self, value: IN, timestamp: int | None) -> str:
        return _checked(self._assigner.get_bucket_id(value, BucketContext(self._time_ms, timestamp)))

    def prepare_commit(self) -> list[PreparedFile]:
        return self._files.finish()

    def close(self) -> None:
        self._files.abandon()


def _checked(bucket: object) -> str:
    if not isinstance(bucket, str) or (bucket and not all(map(_is_folder, bucket.split("/")))):
        raise SinkError(
            f"FileSink: the assigner gave the bucket {bucket!r}, but a bucket is a path below the sink's folder: names "
            "joined by single slashes, none of them empty or beginning with '.' or '_', which readers leave out"
        )
    return bucket


def _is_folder(name: str) -> bool:
    return bool(name) and not name.startswith((".", "_")) and "\0" not in name


# -- committing, on the driver -------------------------------------------------------------------------


class FileCommitter(Committer[PreparedFile]):
    """Gives complete files their names."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def commit(self, requests: Sequence[CommitRequest[PreparedFile]]) -> None:
        for request in requests:
            _rename(request.get_committable())

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """Remove hidden files of attempts that lost."""
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                if name.startswith(".") and name.endswith(_IN_PROGRESS) and _age_ms(path, now_ms) > age_ms:
                    os.unlink(path)


def _age_ms(path: str, now_ms: int) -> float:
    return now_ms - os.path.getmtime(path) * 1000


def _rename(prepared: PreparedFile) -> None:
    try:
        os.rename(prepared.hidden, prepared.final)
    except FileNotFoundError:
        if not os.path.exists(prepared.final):
            raise SinkError(
                f"FileSink: neither {prepared.hidden} nor {prepared.final} exists, so a prepared file was removed "
                "before it was committed. Files of a running job must not be deleted or moved"
            ) from None
