"""Settings of checkpoints. Every micro-batch is one, so few of them have anything to decide."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.core.config import ConfigOption, Configuration
from penstock.core.config.compat import accept
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.accepted import (
    ALIGNED_TIMEOUT,
    CHECKPOINT_MODE,
    CHECKPOINT_TIMEOUT,
    MAX_CONCURRENT,
    MIN_PAUSE,
    RETENTION,
    TOLERABLE_FAILURES,
    UNALIGNED,
    UNALIGNED_FORCED,
)
from penstock.core.config.options.checkpoints import CHECKPOINT_INTERVAL
from penstock.core.errors import ConfigurationError
from penstock.core.state.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage
from penstock.core.time.spans import Duration, Span, duration_of, whole_ms

__all__ = ["CheckpointConfig", "CheckpointingMode", "ExternalizedCheckpointRetention"]

_UNLIMITED = 2_147_483_647


class CheckpointingMode(Enum):
    """The guarantee for state after a restart. Penstock always gives EXACTLY_ONCE, which meets AT_LEAST_ONCE too."""

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
        """The configuration as it is now, with older names of settings translated to the newest ones."""
        return with_newest_names(self._conf)

    # -- settings with an effect ------------------------------------------------------------------

    def is_checkpointing_enabled(self) -> bool:
        """Whether the program asked for checkpoints."""
        return self.get_checkpoint_interval() > 0

    def get_checkpoint_interval(self) -> int:
        """Milliseconds; -1 if checkpoints are not asked for."""
        interval_ms = self._said.get(CHECKPOINT_INTERVAL)
        return -1 if interval_ms is None else interval_ms

    def set_checkpoint_interval(self, checkpoint_interval: int | Span) -> CheckpointConfig:
        """Ask for durability at least that often. Every micro-batch is a checkpoint, so it is met."""
        checkpoint_interval = whole_ms(checkpoint_interval)
        if not isinstance(checkpoint_interval, int) or checkpoint_interval < 1:
            raise ConfigurationError(
                f"{CHECKPOINT_INTERVAL.key} must be a whole number of at least 1, got {checkpoint_interval!r}"
            )
        self._conf.set_integer(CHECKPOINT_INTERVAL.key, checkpoint_interval)
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
        """EXACTLY_ONCE or AT_LEAST_ONCE."""
        return CheckpointingMode[self._said.get(CHECKPOINT_MODE)]

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """Ask for a guarantee; a job that cannot give it is refused when it is planned."""
        return self._accept(CHECKPOINT_MODE, checkpointing_mode.name)

    def get_checkpoint_timeout(self) -> int:
        """The time-out that was set, in milliseconds; it has no effect."""
        return self._said.get(CHECKPOINT_TIMEOUT)

    def set_checkpoint_timeout(self, checkpoint_timeout: int | Span) -> CheckpointConfig:
        """Accepted without effect: a checkpoint is the end of a micro-batch."""
        return self._accept(CHECKPOINT_TIMEOUT, str(whole_ms(checkpoint_timeout)))

    def get_min_pause_between_checkpoints(self) -> int:
        """The pause that was set, in milliseconds."""
        return self._said.get(MIN_PAUSE)

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int | Span) -> CheckpointConfig:
        """Accepted without effect: a checkpoint is the end of a micro-batch."""
        return self._accept(MIN_PAUSE, str(whole_ms(min_pause_between_checkpoints)))

    def get_max_concurrent_checkpoints(self) -> int:
        """The number that was set; it has no effect."""
        return self._said.get(MAX_CONCURRENT)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """Accepted without effect: micro-batches follow each other."""
        return self._accept(MAX_CONCURRENT, str(max_concurrent_checkpoints))

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Whether no failed checkpoint is tolerated by what was set."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Accepted without effect: a batch that fails is always run again."""
        return self.set_tolerable_checkpoint_failure_number(0 if fail_on_checkpointing_errors else _UNLIMITED)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        """The number that was set; it has no effect."""
        return self._said.get(TOLERABLE_FAILURES)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """Accepted without effect: a batch that fails is always run again."""
        return self._accept(TOLERABLE_FAILURES, str(tolerable_checkpoint_failure_number))

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """Accepted without effect: a checkpoint folder that you name stays."""
        return self._accept(RETENTION, retention_mode.name)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Whether a retention was set; checkpoints stay in any case."""
        return (
            self.get_externalized_checkpoint_retention()
            is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
        )

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        """What was set; checkpoints stay in any case."""
        return ExternalizedCheckpointRetention[self._said.get(RETENTION)]

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(UNALIGNED)

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Accepted without effect: no checkpoint here waits for alignment."""
        return self._accept(UNALIGNED, str(bool(enabled)).lower())

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        """Accepted without effect: no checkpoint here waits for alignment."""
        return self.enable_unaligned_checkpoints(False)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Span) -> CheckpointConfig:
        """Accepted without effect: no checkpoint here waits for alignment."""
        return self._accept(ALIGNED_TIMEOUT, str(duration_of(alignment_timeout)))

    def get_aligned_checkpoint_timeout(self) -> Duration:
        """The time-out that was set; it has no effect."""
        return Duration.of_millis(self._said.get(ALIGNED_TIMEOUT))

    def set_alignment_timeout(self, alignment_timeout: Span) -> CheckpointConfig:
        """Accepted without effect: no checkpoint here waits for alignment."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """The time-out that was set; it has no effect."""
        return self.get_aligned_checkpoint_timeout()

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        """Accepted without effect: no checkpoint here waits for alignment."""
        return self._accept(UNALIGNED_FORCED, str(bool(force_unaligned_checkpoints)).lower())

    def is_force_unaligned_checkpoints(self) -> bool:
        """What was set; it has no effect."""
        return self._said.get(UNALIGNED_FORCED)

    def _accept(self, option: ConfigOption[Any], value: str) -> CheckpointConfig:
        accept(self._conf, option, value)
        return self
