"""Runs a job until it ends: starts it again after failures, as its restart strategy says."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from penstock.core.errors import PenstockError, SparkDiedError
from penstock.jobs.client import JobStatus
from penstock.jobs.restart import RestartStrategy
from penstock.spark.streaming.committer import Owner
from penstock.spark.streaming.job_context import JobContext
from penstock.spark.streaming.metrics import JobMetrics

__all__ = ["Runner", "Supervisor"]

_LOG = logging.getLogger("penstock.job")


class Runner(Protocol):
    """Runs the job once."""

    def run_once(self) -> PenstockError | None:
        """Run until the end or a failure; the error of a failure."""

    @property
    def completed(self) -> bool:
        """Whether the last run came to the end that the job was meant to have."""


class Supervisor:
    """The target of the job's thread. It alone decides the status with which a job ends."""

    def __init__(
        self,
        job: JobContext,
        runner: Runner,
        owner: Owner,
        strategy: RestartStrategy,
        metrics: JobMetrics,
        explain: Callable[[BaseException], PenstockError],
        finish: Callable[[], None],
    ) -> None:
        """`explain` makes the error to show of whatever ended the job; `finish` is called last, however it ended."""
        self._job, self._runner, self._owner, self._strategy = job, runner, owner, strategy
        self._metrics, self._explain, self._finish = metrics, explain, finish

    def supervise(self) -> None:
        """Run the job to its end; called once. Errors are kept in the record of the job, never raised."""
        record, stop = self._job.record, self._job.stop
        try:
            while True:
                error = self._runner.run_once()
                if error is None:
                    ended = self._runner.completed or not stop.asked
                    record.status = JobStatus.FINISHED if ended else JobStatus.CANCELED
                    return
                self._owner.check()
                self._metrics.note_failure(error)
                delay_ms = self._strategy.next_delay_ms(self._job.clock.now_ms())
                if delay_ms is None or stop.asked or isinstance(error, SparkDiedError):
                    raise error
                if not self._await_restart(error, delay_ms):
                    record.status = JobStatus.CANCELED
                    return
        except BaseException as error:
            record.error = self._explain(error)
            record.status = JobStatus.FAILED
        finally:
            self._finish()

    def _await_restart(self, error: PenstockError, delay_ms: int) -> bool:
        """Log why the job is restarted, and wait; False if it was asked to stop meanwhile."""
        self._job.record.status = JobStatus.RESTARTING
        self._metrics.restarts += 1
        _LOG.warning(
            "Job '%s' failed, restart %d in %d ms: %s", self._job.plan.name, self._metrics.restarts, delay_ms, error
        )
        return not self._job.stop.wait_ms(delay_ms)
