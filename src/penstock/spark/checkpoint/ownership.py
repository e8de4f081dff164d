"""Whether this driver still owns the checkpoint, or another one has taken over."""

from __future__ import annotations

from penstock.core.errors import CheckpointError
from penstock.core.time.clock import Clock
from penstock.spark.checkpoint.folder import Checkpoint

__all__ = ["CheckpointOwnership"]

_LOOK_MS = 1000


class CheckpointOwnership:
    """Asked before and after every batch, and once a second by a job that has nothing to do.

    Once it has seen a successor it raises for ever: the job must not restart itself and take the checkpoint back.
    """

    def __init__(self, checkpoint: Checkpoint, clock: Clock) -> None:
        # configuration
        self._checkpoint, self._clock = checkpoint, clock
        # of the job
        self._seen: CheckpointError | None = None
        self._looked_ms = clock.now_ms()

    def check(self) -> None:
        """Raise CheckpointError if this driver is no longer the one that runs the job."""
        if self._seen is None:
            try:
                self._checkpoint.check_owner()
            except FileNotFoundError:
                self._seen = CheckpointError(
                    f"The note of who runs the job is gone from the checkpoint {self._checkpoint.root.location}, so "
                    "this driver stops: another one is taking over, or the folder has been removed"
                )
            except CheckpointError as error:
                self._seen = error
        if self._seen is not None:
            raise self._seen

    def look(self) -> None:
        """As `check`, at most once a second."""
        now_ms = self._clock.now_ms()
        if now_ms - self._looked_ms >= _LOOK_MS:
            self._looked_ms = now_ms
            self.check()
