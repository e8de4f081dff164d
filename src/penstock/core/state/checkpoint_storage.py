"""Where checkpoints are kept: a folder on any file system Spark reaches."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from penstock.core.config import Configuration
from penstock.core.config.compat import warn_once
from penstock.core.config.options.checkpoints import CHECKPOINT_DIR

__all__ = ["CheckpointStorage", "FileSystemCheckpointStorage", "JobManagerCheckpointStorage", "flink_path"]


def flink_path(path: str) -> str:
    """A path as Flink writes it: no slash at the end, none doubled, and none for an authority that is not there.

    >>> flink_path("hdfs://host:9000//data/"), flink_path("file:///data/"), flink_path("/data//c/"), flink_path("/")
    ('hdfs://host:9000/data', 'file:/data', '/data/c', '/')
    """
    found = _PATH.fullmatch(path)
    assert found is not None, "every text matches"
    scheme, authority, rest = found["scheme"] or "", found["authority"] or "", re.sub("/+", "/", found["rest"])
    whole = rest.rstrip("/") or rest[:1]
    return f"{scheme}//{authority}{whole}" if authority else f"{scheme}{whole}"


_PATH = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)?(?://(?P<authority>[^/]*))?(?P<rest>.*)", re.DOTALL)


class CheckpointStorage(ABC):
    """Base of storages."""

    @abstractmethod
    def apply(self, conf: Configuration) -> None:
        """Write what this means into a configuration."""


class JobManagerCheckpointStorage(CheckpointStorage):
    """Checkpoints live as long as the job, in a temporary folder of the driver; with a path, in that folder.

    >>> JobManagerCheckpointStorage().get_max_state_size()
    5242880
    """

    DEFAULT_MAX_STATE_SIZE = 5 * 1024 * 1024

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        self._path = checkpoint_path
        self._max_state_size = self.DEFAULT_MAX_STATE_SIZE if max_state_size is None else max_state_size
        if max_state_size is not None:
            warn_once("CheckpointStorage.max_state_size")

    def get_checkpoint_path(self) -> str | None:
        """The checkpoint folder, if one was given."""
        return self._path and flink_path(self._path)

    def get_max_state_size(self) -> int:
        """The size given to the constructor; it limits nothing here."""
        return self._max_state_size

    def get_savepoint_path(self) -> str | None:
        """None: savepoints have a folder of their own."""
        return None

    def apply(self, conf: Configuration) -> None:
        if self._path is not None:
            conf.set_string(CHECKPOINT_DIR.key, self._path)

    def __str__(self) -> str:
        return f"JobManagerCheckpointStorage({self._path})"


class FileSystemCheckpointStorage(CheckpointStorage):
    """A folder: `execution.checkpointing.dir`.

    >>> conf = Configuration()
    >>> FileSystemCheckpointStorage("file:///data/checkpoints").apply(conf)
    >>> conf.to_dict()
    {'execution.checkpointing.dir': 'file:///data/checkpoints'}
    """

    MAX_FILE_STATE_THRESHOLD = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        if checkpoint_path is None:
            raise ValueError("checkpoint_path must not be None: name the folder, e.g. 'file:///data/checkpoints'")
        self._path, self._threshold, self._buffer = checkpoint_path, file_state_size_threshold, write_buffer_size
        if file_state_size_threshold is not None:
            warn_once("CheckpointStorage.file_state_size_threshold")
        if write_buffer_size != -1:
            warn_once("CheckpointStorage.write_buffer_size")

    def get_checkpoint_path(self) -> str:
        """The checkpoint folder."""
        return flink_path(self._path)

    def get_savepoint_path(self) -> str | None:
        """None: savepoints have a folder of their own."""
        return None

    def get_min_file_size_threshold(self) -> int:
        """The threshold given to the constructor, or Flink's default; it has no effect here."""
        return 20 * 1024 if self._threshold is None else self._threshold

    def get_write_buffer_size(self) -> int:
        """The size given to the constructor, or Flink's default; it has no effect here."""
        return 4096 if self._buffer == -1 else self._buffer

    def apply(self, conf: Configuration) -> None:
        conf.set_string(CHECKPOINT_DIR.key, self._path)

    def __str__(self) -> str:
        return f"FileSystemCheckpointStorage({self._path})"
