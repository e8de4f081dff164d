"""Settings of checkpoints. Every micro-batch is one (F2), so few of them have anything to decide."""

from __future__ import annotations

from enum import Enum

from penstock.core.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage
from penstock.core.compat import accept
from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.errors import ConfigurationError
from penstock.core.time import Duration, Span, duration_of, whole_ms

__all__ = ["CHECKPOINT_DIR", "CheckpointConfig", "CheckpointingMode", "ExternalizedCheckpointRetention"]

CHECKPOINT_DIR = "execution.checkpointing.dir"
_PREFIX = "execution.checkpointing."
_UNLIMITED = 2_147_483_647


class CheckpointingMode(Enum):
    """What a restart may do to state. Penstock always gives EXACTLY_ONCE, which meets AT_LEAST_ONCE too."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1


class ExternalizedCheckpointRetention(Enum):
    """Whether a cancelled job's checkpoint is kept. Penstock always keeps it."""

    DELETE_ON_CANCELLATION = 0
    RETAIN_ON_CANCELLATION = 1
    NO_EXTERNALIZED_CHECKPOINTS = 2


class CheckpointConfig:
    """A view of the configuration under PyFlink's method names.

    >>> conf = Configuration()
    >>> CheckpointConfig(conf).set_checkpoint_interval(1000).is_checkpointing_enabled()
    True
    """

    def __init__(self, configuration: Configuration) -> None:
        self._conf = configuration

    @property
    def _said(self) -> Configuration:
        """What the configuration says now, under the newest names."""
        return with_newest_names(self._conf)

    # -- settings with an effect ------------------------------------------------------------------

    def is_checkpointing_enabled(self) -> bool:
        return self.get_checkpoint_interval() > 0

    def get_checkpoint_interval(self) -> int:
        """Milliseconds; -1 if checkpoints are not asked for."""
        return self._said.get_duration_ms(f"{_PREFIX}interval", -1)

    def set_checkpoint_interval(self, checkpoint_interval: int | Span) -> CheckpointConfig:
        """Ask for durability at least that often. Every micro-batch is a checkpoint, so it is met (F2)."""
        checkpoint_interval = whole_ms(checkpoint_interval)
        if not isinstance(checkpoint_interval, int) or checkpoint_interval < 1:
            raise ConfigurationError(
                f"{_PREFIX}interval must be a whole number of at least 1, got {checkpoint_interval!r}"
            )
        self._conf.set_integer(f"{_PREFIX}interval", checkpoint_interval)
        return self

    def set_checkpoint_storage(self, storage: CheckpointStorage) -> CheckpointConfig:
        """Where checkpoints are kept. PyFlink 1 has it; in PyFlink 2 the configuration says it."""
        if not isinstance(storage, CheckpointStorage):
            raise TypeError(f"set_checkpoint_storage() takes a CheckpointStorage, got {type(storage).__name__}")
        storage.apply(self._conf)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """As `set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))`."""
        return self.set_checkpoint_storage(FileSystemCheckpointStorage(checkpoint_path))

    # -- settings without one ---------------------------------------------------------------------

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return CheckpointingMode[self._said.get_string(f"{_PREFIX}mode", "EXACTLY_ONCE").upper()]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        return self._accept("mode", checkpointing_mode.name)

    def get_checkpoint_timeout(self) -> int:
        return self._said.get_duration_ms(f"{_PREFIX}timeout", 600_000)

    def set_checkpoint_timeout(self, checkpoint_timeout: int | Span) -> CheckpointConfig:
        return self._accept("timeout", str(whole_ms(checkpoint_timeout)))

    def get_min_pause_between_checkpoints(self) -> int:
        return self._said.get_duration_ms(f"{_PREFIX}min-pause", 0)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int | Span) -> CheckpointConfig:
        return self._accept("min-pause", str(whole_ms(min_pause_between_checkpoints)))

    def get_max_concurrent_checkpoints(self) -> int:
        return self._said.get_integer(f"{_PREFIX}max-concurrent-checkpoints", 1)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        return self._accept("max-concurrent-checkpoints", str(max_concurrent_checkpoints))

    def is_fail_on_checkpointing_errors(self) -> bool:
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        return self.set_tolerable_checkpoint_failure_number(0 if fail_on_checkpointing_errors else _UNLIMITED)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        return self._said.get_integer(f"{_PREFIX}tolerable-failed-checkpoints", 0)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        return self._accept("tolerable-failed-checkpoints", str(tolerable_checkpoint_failure_number))

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        return self._accept("externalized-checkpoint-retention", retention_mode.name)

    def is_externalized_checkpoints_enabled(self) -> bool:
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        name = self._said.get_string(f"{_PREFIX}externalized-checkpoint-retention", "NO_EXTERNALIZED_CHECKPOINTS")
        return ExternalizedCheckpointRetention[name.upper()]

    def is_unaligned_checkpoints_enabled(self) -> bool:
        return self._said.get_boolean(f"{_PREFIX}unaligned.enabled", False)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        return self._accept("unaligned.enabled", str(bool(enabled)).lower())

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Span) -> CheckpointConfig:
        return self._accept("aligned-checkpoint-timeout", str(duration_of(alignment_timeout)))

    def get_aligned_checkpoint_timeout(self) -> Duration:
        return Duration.of_millis(self._said.get_duration_ms(f"{_PREFIX}aligned-checkpoint-timeout", 0))

    def set_alignment_timeout(self, alignment_timeout: Span) -> CheckpointConfig:
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        return self._accept("unaligned.forced", str(bool(force_unaligned_checkpoints)).lower())

    def is_force_unaligned_checkpoints(self) -> bool:
        return self._said.get_boolean(f"{_PREFIX}unaligned.forced", False)

    def _accept(self, key: str, value: str) -> CheckpointConfig:
        accept(self._conf, f"{_PREFIX}{key}", value)
        return self
