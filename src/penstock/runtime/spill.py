"""A store for the bounded host: blobs in a temporary file, only their places in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO

__all__ = ["SpillStore"]


class SpillStore:
    """Holds pages that were evicted from memory; it ends with the task."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: dict[bytes, tuple[int, int]] = {}

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Read blobs back from the file."""
        return [self._read(self._places.get(key)) for key in keys]

    def put_many(self, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Append blobs to the file; older versions of them stay there unused."""
        for key, blob in items:
            file = self._open()
            offset = file.seek(0, os.SEEK_END)
            file.write(blob)
            self._places[key] = (offset, len(blob))

    def delete_many(self, keys: Iterable[bytes]) -> None:
        """Forget where blobs are."""
        for key in keys:
            self._places.pop(key, None)

    def _open(self) -> IO[bytes]:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the store
        return self._file

    def _read(self, place: tuple[int, int] | None) -> bytes | None:
        if place is None:
            return None
        file = self._open()
        file.seek(place[0])
        return file.read(place[1])
