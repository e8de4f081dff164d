"""A log, beside the checkpoint, of what source functions with state emit in a batch that is not durable yet.

Spark logs where a batch ends before the batch runs. A function with state may emit in another order when it is run
again, and then never comes to that end. So the planner writes the events down before it names the end. A batch that is
run again reads them from here, and the function goes on from the state that belongs to the end.
"""

from __future__ import annotations

import contextlib
import posixpath
import uuid
from hashlib import blake2b
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.fs as pafs

from penstock.core.errors import DamagedCheckpointError

if TYPE_CHECKING:
    from penstock.spark.checkpoint.folder import Checkpoint

__all__ = ["SourceEventLog", "sweep_event_log"]

FOLDER = "penstock/emitted"
_SUM_BYTES = 16


class SourceEventLog:
    """One file for each split and batch, on any file system that Arrow reaches. The planner writes and removes them.

    >>> import tempfile
    >>> events = SourceEventLog(tempfile.mkdtemp())
    >>> name = events.keep("numbers/0", b"1, 2, 3")
    >>> events.kept(name)
    b'1, 2, 3'
    >>> events.forget(name)
    """

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        system, path = _opened(checkpoint)
        self._system, self._folder = system, posixpath.join(path, FOLDER)
        self._made = False

    @classmethod
    def beside(cls, checkpoint: str) -> SourceEventLog | None:
        """The log of a checkpoint; None on a file system that Arrow does not reach, where functions are run again."""
        try:
            return cls(checkpoint)
        except (pa.ArrowException, OSError, ValueError):
            return None

    def keep(self, place: str, events: bytes) -> str:
        """Write the events of a batch and return the name of the file, which goes into the position of the split.

        The file is whole before its name is known. A name is never used twice, not even by another driver.
        """
        if not self._made:
            self._system.create_dir(self._folder, recursive=True)
            self._made = True
        name = f"{blake2b(place.encode(), digest_size=6).hexdigest()}-{uuid.uuid4().hex}"
        with self._system.open_output_stream(self._at(name)) as stream:
            stream.write(_sum(events))
            stream.write(events)
        return name

    def kept(self, name: str) -> bytes:
        """The events of a file; DamagedCheckpointError if the file is missing or altered."""
        try:
            with self._system.open_input_stream(self._at(name)) as stream:
                data = bytes(stream.read())
        except FileNotFoundError:
            raise self._damaged(name, "is missing although a batch was planned with it") from None
        if data[:_SUM_BYTES] != _sum(data[_SUM_BYTES:]):
            raise self._damaged(name, "its checksum does not match")
        return data[_SUM_BYTES:]

    def forget(self, name: str) -> None:
        """Remove a file; called when the batch that named it is durable."""
        with contextlib.suppress(FileNotFoundError):
            self._system.delete_file(self._at(name))

    def _at(self, name: str) -> str:
        return posixpath.join(self._folder, name)

    def _damaged(self, name: str, what: str) -> DamagedCheckpointError:
        return DamagedCheckpointError(
            f"The checkpoint is damaged: {self._checkpoint}/{FOLDER}/{name}: {what}. "
            "Restore the file from a copy, or start from a savepoint or a new checkpoint folder"
        )


def sweep_event_log(checkpoint: Checkpoint) -> None:
    """Remove files that no batch needs; called by the owner of the checkpoint before a run and when the job has ended.

    A batch that is planned and not committed will be run again, so the files that it names stay.
    """
    root = checkpoint.root
    names = root.names(FOLDER)
    if not names:
        return
    planned, committed = (max(checkpoint.batches(log), default=-1) for log in ("offsets", "commits"))
    needed = checkpoint.read(f"offsets/{planned}") if planned > committed else ""
    for name in names:
        if name not in needed:
            root.delete(f"{FOLDER}/{name}")


def _opened(location: str) -> tuple[pafs.FileSystem, str]:
    if location.startswith("file:"):
        return pafs.LocalFileSystem(), "/" + location.removeprefix("file:").lstrip("/")
    if "://" not in location:
        return pafs.LocalFileSystem(), location
    system, path = pafs.FileSystem.from_uri(location)
    return system, path


def _sum(events: bytes) -> bytes:
    return blake2b(events, digest_size=_SUM_BYTES).digest()
