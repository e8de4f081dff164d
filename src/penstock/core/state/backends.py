"""State backends. There is one here, Spark's RocksDB store with a cache of pages in memory: all names mean it."""

from __future__ import annotations

import re
from abc import ABC
from enum import Enum

from penstock.core.config import Configuration
from penstock.core.config.compat import accept, warn_once
from penstock.core.config.options.accepted import INCREMENTAL, STATE_BACKEND
from penstock.core.config.options.checkpoints import SAVEPOINT_DIR
from penstock.core.errors import ConfigurationError
from penstock.core.state.checkpoint_storage import FileSystemCheckpointStorage, JobManagerCheckpointStorage, flink_path

__all__ = [
    "EmbeddedRocksDBStateBackend",
    "FsStateBackend",
    "HashMapStateBackend",
    "MemoryStateBackend",
    "PredefinedOptions",
    "RocksDBStateBackend",
    "StateBackend",
]


class StateBackend(ABC):
    """Base of backends."""

    name = ""

    def apply(self, conf: Configuration) -> None:
        """Write what this means into a configuration."""
        accept(conf, STATE_BACKEND, self.name)

    def __str__(self) -> str:
        return f"{type(self).__name__}()"


class HashMapStateBackend(StateBackend):
    """Keeps state in memory; here that is a cache before the RocksDB store, so state may outgrow it.

    >>> str(HashMapStateBackend())
    'HashMapStateBackend()'
    """

    name = "hashmap"

    def __init__(self) -> None:
        """Takes nothing."""


class PredefinedOptions(Enum):
    """Sets of options of RocksDB."""

    DEFAULT = 0
    SPINNING_DISK_OPTIMIZED = 1
    SPINNING_DISK_OPTIMIZED_HIGH_MEM = 2
    FLASH_SSD_OPTIMIZED = 3


class EmbeddedRocksDBStateBackend(StateBackend):
    """The backend that Penstock uses: RocksDB beside every subtask, with incremental checkpoints.

    >>> EmbeddedRocksDBStateBackend().is_incremental_checkpoints_enabled()
    True
    """

    name = "rocksdb"

    def __init__(self, enable_incremental_checkpointing: bool | None = None) -> None:
        if enable_incremental_checkpointing not in (None, True, False):
            raise TypeError(
                f"enable_incremental_checkpointing is True, False or None, got {enable_incremental_checkpointing!r}"
            )
        self._incremental = enable_incremental_checkpointing
        self._paths: list[str] = []
        self._predefined = PredefinedOptions.DEFAULT
        self._options: str | None = None
        self._threads = 4

    def set_db_storage_paths(self, *paths: str) -> None:
        """Folders on a worker's own disks; RocksDB knows no other, so what names another file system is refused."""
        self._paths = [_local_folder(path) for path in paths]
        warn_once("EmbeddedRocksDBStateBackend.set_db_storage_paths")

    def get_db_storage_paths(self) -> list[str]:
        """The folders given to `set_db_storage_paths`."""
        return list(self._paths)

    def is_incremental_checkpoints_enabled(self) -> bool:
        """Always: only what a batch changed is written."""
        return True

    def set_predefined_options(self, options: PredefinedOptions) -> None:
        """Accepted without effect: Spark tunes its own store."""
        self._predefined = options
        if options is not PredefinedOptions.DEFAULT:
            warn_once("EmbeddedRocksDBStateBackend.set_predefined_options")

    def get_predefined_options(self) -> PredefinedOptions:
        """The options given to `set_predefined_options`."""
        return self._predefined

    def set_options(self, options_factory_class_name: str) -> None:
        """Accepted without effect: Spark tunes its own store."""
        self._options = options_factory_class_name
        warn_once("EmbeddedRocksDBStateBackend.set_options")

    def get_options(self) -> str | None:
        """The class name given to `set_options`."""
        return self._options

    def get_number_of_transfer_threads(self) -> int:
        """The number given to `set_number_of_transfer_threads`."""
        return self._threads

    def set_number_of_transfer_threads(self, number_of_transfering_threads: int) -> None:
        """Accepted without effect: Spark uploads its own files."""
        self._threads = number_of_transfering_threads
        warn_once("EmbeddedRocksDBStateBackend.set_number_of_transfer_threads")

    def apply(self, conf: Configuration) -> None:
        super().apply(conf)
        if self._incremental is not None:
            accept(conf, INCREMENTAL, str(self._incremental).lower())


# -- older names, which books use (X5) ----------------------------------------------------------------


class MemoryStateBackend(HashMapStateBackend):
    """State in memory, checkpoints with the driver; since Flink 1.13 two settings.

    >>> MemoryStateBackend().get_checkpoint_path() is None
    True
    """

    DEFAULT_MAX_STATE_SIZE = JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE

    def __init__(
        self,
        checkpoint_path: str | None = None,
        savepoint_path: str | None = None,
        max_state_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        _asynchronous(using_asynchronous_snapshots)
        self._storage = JobManagerCheckpointStorage(checkpoint_path, max_state_size)
        self._savepoints = savepoint_path

    def get_checkpoint_path(self) -> str | None:
        """The checkpoint folder, if one was given."""
        return self._storage.get_checkpoint_path()

    def apply(self, conf: Configuration) -> None:
        super().apply(conf)
        _apply_paths(conf, self._storage, self._savepoints)


class FsStateBackend(HashMapStateBackend):
    """State in memory, checkpoints in a folder."""

    def __init__(
        self,
        checkpoint_directory_uri: str | None = None,
        default_savepoint_directory_uri: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int | None = None,
        using_asynchronous_snapshots: bool | None = None,
    ) -> None:
        _asynchronous(using_asynchronous_snapshots)
        buffer = -1 if write_buffer_size is None else write_buffer_size
        self._storage = FileSystemCheckpointStorage(checkpoint_directory_uri, file_state_size_threshold, buffer)
        self._savepoints = default_savepoint_directory_uri

    def get_checkpoint_path(self) -> str:
        """The checkpoint folder."""
        return self._storage.get_checkpoint_path()

    def apply(self, conf: Configuration) -> None:
        super().apply(conf)
        _apply_paths(conf, self._storage, self._savepoints)


class RocksDBStateBackend(EmbeddedRocksDBStateBackend):
    """State in RocksDB, checkpoints in a folder."""

    def __init__(
        self,
        checkpoint_data_uri: str | None = None,
        enable_incremental_checkpointing: bool | None = None,
        checkpoint_stream_backend: StateBackend | None = None,
    ) -> None:
        super().__init__(enable_incremental_checkpointing)
        if (checkpoint_data_uri is None) == (checkpoint_stream_backend is None):
            raise ValueError("RocksDBStateBackend takes either checkpoint_data_uri or checkpoint_stream_backend")
        self._checkpoints = checkpoint_stream_backend or FsStateBackend(checkpoint_data_uri)

    def get_checkpoint_backend(self) -> StateBackend:
        """The backend that says where checkpoints go."""
        return self._checkpoints

    def apply(self, conf: Configuration) -> None:
        if isinstance(self._checkpoints, FsStateBackend | MemoryStateBackend):
            _apply_paths(conf, self._checkpoints._storage, self._checkpoints._savepoints)
        super().apply(conf)


def _local_folder(path: str) -> str:
    """The path of a folder, without `file:`, as PyFlink gives it back."""
    scheme, colon, rest = flink_path(path).partition(":")
    local = flink_path(path) if not colon else re.sub("^//[^/]*", "", rest)
    if (colon and scheme != "file") or not local.startswith("/"):
        raise ConfigurationError(
            f"set_db_storage_paths() takes absolute paths of local folders, like '/data/db' or 'file:///data/db', "
            f"got {path!r}"
        )
    return local


def _asynchronous(wanted: bool | None) -> None:
    if wanted is not None:
        warn_once("StateBackend.using_asynchronous_snapshots")


def _apply_paths(
    conf: Configuration, storage: FileSystemCheckpointStorage | JobManagerCheckpointStorage, savepoints: str | None
) -> None:
    storage.apply(conf)
    if savepoints is not None:
        conf.set_string(SAVEPOINT_DIR.key, savepoints)
