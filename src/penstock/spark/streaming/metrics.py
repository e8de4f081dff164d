"""What a streaming job counts about itself: batches, their times, failures and restarts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.spark.streaming.job_context import BatchProgress

__all__ = ["JobMetrics"]

_KEPT_BATCHES = 1000


class JobMetrics:
    """Figures of the job itself, beside those of its subtasks, which the metrics book has.

    They live in the driver's memory and start over with a new driver.
    """

    def __init__(self, limits: Callable[[], Mapping[str, int]]) -> None:
        # configuration
        self._limits = limits
        # of the job
        self.batches = 0
        self.restarts = 0
        self._failures, self._last_failure = 0, ""
        self._batch_ms: dict[int, int] = {}

    def note_failure(self, error: Exception) -> None:
        """Called by the supervisor for each run that failed."""
        self._failures += 1
        self._last_failure = str(error)

    def time_batch(self, progress: BatchProgress | None, newest: int) -> None:
        """Note how long the last batch took that Spark has reported on; the last thousand are kept.

        `newest` is the last batch that ran: Spark may report on one of an earlier run after a restart.
        """
        if progress is not None and progress.batch_id() <= newest:
            self._batch_ms[progress.batch_id()] = progress.duration_ms()
            if len(self._batch_ms) > _KEPT_BATCHES:
                del self._batch_ms[next(iter(self._batch_ms))]

    def snapshot(self, subtasks: Sequence[Mapping[str, Any]], lost_records: int) -> dict[str, Any]:
        """All figures by name, as `JobClient.get_metrics` documents them."""
        return {
            "subtasks": subtasks,
            "batch_ms": list(self._batch_ms.values()),
            "lost_records": lost_records,
            "limits": self._limits(),
            "restarts": self.restarts,
            "failures": self._failures,
            "last_failure": self._last_failure,
        }
