"""The storage of savepoints: folders on any file system that Arrow reaches (a local disk, HDFS, S3)."""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from penstock.core.errors import SavepointError
from penstock.savepoint.blobs import Blob
from penstock.savepoint.metadata import FileNote

__all__ = ["SCHEMA", "Folder"]

SCHEMA = pa.schema(
    [
        pa.field("operator", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("place", pa.int32(), nullable=False),
        pa.field("rest", pa.binary(), nullable=False),
        pa.field("value", pa.large_binary(), nullable=False),
    ]
)
GROUP_BYTES = 16 << 20
READ_BYTES = 4 << 20


class Folder:
    """A folder, by its path or URI. Picklable: tasks write into it and read from it.

    >>> Folder("/data/one").at("state/0.parquet")
    '/data/one/state/0.parquet'
    """

    def __init__(self, location: str) -> None:
        if location.startswith("file:"):
            location = "/" + location.removeprefix("file:").lstrip("/")
        local = "://" not in location
        self.location = os.path.abspath(location) if local else location.rstrip("/")
        self._local = local

    def at(self, name: str) -> str:
        """The path or URI of a file in the folder."""
        return f"{self.location}/{name}"

    def _open(self, name: str = "") -> tuple[pafs.FileSystem, str]:
        if self._local:
            return pafs.LocalFileSystem(), posixpath.join(self.location, name) if name else self.location
        try:
            system, path = pafs.FileSystem.from_uri(self.location)
        except (pa.ArrowInvalid, OSError) as error:
            raise SavepointError(f"{self.location} cannot be reached: {error}") from None
        return system, posixpath.join(path, name) if name else path

    def size(self, name: str) -> int | None:
        """The size of a file; None if there is no such file."""
        system, path = self._open(name)
        info = system.get_file_info(path)
        return info.size if info.type == pafs.FileType.File else None

    def exists(self, name: str) -> bool:
        return self.size(name) is not None

    def names(self, name: str = "") -> list[str]:
        """Names of files and folders in a folder, sorted; empty if the folder does not exist."""
        system, path = self._open(name)
        return sorted(i.base_name for i in system.get_file_info(pafs.FileSelector(path, allow_not_found=True)))

    def read(self, name: str) -> str:
        """The content of a file as text."""
        return self.read_bytes(name).decode()

    def read_bytes(self, name: str) -> bytes:
        """The content of a file."""
        system, path = self._open(name)
        with system.open_input_stream(path) as stream:
            return bytes(stream.read())

    def write(self, name: str, text: str) -> None:
        """Write a file, whole or not at all, where the file system can rename."""
        system, path = self._open(name)
        system.create_dir(posixpath.dirname(path), recursive=True)
        with system.open_output_stream(f"{path}.tmp") as stream:
            stream.write(text.encode())
        system.move(f"{path}.tmp", path)

    def delete(self, name: str = "") -> None:
        """Remove a file, or a folder with all that is in it."""
        system, path = self._open(name)
        found = system.get_file_info(path).type
        if found == pafs.FileType.Directory:
            system.delete_dir(path)
        elif found == pafs.FileType.File:
            system.delete_file(path)

    # -- state ------------------------------------------------------------------------------------

    def write_blobs(self, name: str, blobs: Iterable[Blob]) -> FileNote:
        """Write a Parquet file of blobs, in row groups of bounded size; returns the note for the metadata."""
        system, path = self._open(name)
        system.create_dir(posixpath.dirname(path), recursive=True)
        rows = 0
        with (
            _Digesting(system.open_output_stream(path)) as stream,
            pq.ParquetWriter(stream, SCHEMA, compression="zstd") as writer,
        ):
            for part in _groups(blobs):
                writer.write_table(_table(part))
                rows += len(part)
        return FileNote(name, rows, stream.size, stream.digest.hexdigest())

    def read_blobs(self, note: FileNote, kinds: Collection[str] | None = None) -> Iterator[Blob]:
        """The blobs of a file, or those of some kinds. Raises SavepointError, which names a damaged file."""
        with self._intact(note) as stream:
            stream.seek(0)
            yield from self._read(stream, note, kinds)

    def verify(self, note: FileNote) -> None:
        """Raise SavepointError if a file is missing or altered."""
        with self._intact(note):
            pass

    @contextmanager
    def _intact(self, note: FileNote) -> Iterator[pa.NativeFile]:
        """The file, opened, after its size and checksum have been checked."""
        found = self.size(note.name)
        if found is None:
            raise self._damaged(note.name, "is missing")
        if found != note.size:
            raise self._damaged(note.name, f"has {found} bytes instead of {note.size}")
        system, path = self._open(note.name)
        with system.open_input_file(path) as stream:
            if _digest(stream) != note.digest:
                raise self._damaged(note.name, "its checksum does not match")
            yield stream

    def _read(self, stream: pa.NativeFile, note: FileNote, kinds: Collection[str] | None) -> Iterator[Blob]:
        try:
            file = pq.ParquetFile(stream)
            for group in range(file.num_row_groups):
                columns = [column.to_pylist() for column in file.read_row_group(group).columns]
                for row in zip(*columns, strict=True):
                    if kinds is None or row[1] in kinds:
                        yield Blob(*row)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise self._damaged(note.name, str(error)) from None

    def _damaged(self, name: str, what: str) -> SavepointError:
        return SavepointError(f"The savepoint is damaged: {self.at(name)}: {what}. Restore the file from a copy")


class _Digesting(io.RawIOBase):
    """A stream that passes on what is written to it, and computes its size and digest."""

    def __init__(self, stream: pa.NativeFile) -> None:
        super().__init__()
        self._stream, self.size, self.digest = stream, 0, _new_digest()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _new_digest() -> blake2b:
    return blake2b(digest_size=16)


def _digest(stream: pa.NativeFile) -> str:
    digest = _new_digest()
    while data := stream.read(READ_BYTES):
        digest.update(data)
    return digest.hexdigest()


def _groups(blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
    part: list[Blob] = []
    size = 0
    for blob in blobs:
        part.append(blob)
        size += len(blob.value) + 64
        if size >= GROUP_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _table(blobs: list[Blob]) -> pa.Table:
    columns = zip(*blobs, strict=True)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
