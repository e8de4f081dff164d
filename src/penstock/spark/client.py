"""What the clients of both Spark hosts have in common: the record of a job, and waiting for its end."""

from __future__ import annotations

from abc import abstractmethod

from penstock.core.time.clock import Clock
from penstock.jobs.client import JobClient, JobExecutionResult, JobStatus
from penstock.jobs.job_thread import JobThread
from penstock.jobs.registration import unregister

__all__ = ["JobRecord", "SparkJobClient"]


class JobRecord:
    """Name, status, error and times of a job, from its start to its end.

    The thread that runs the job writes it; the client reads it from any thread.
    """

    def __init__(self, name: str, job_id: str, status: JobStatus, clock: Clock) -> None:
        # configuration
        self.name, self.job_id = name, job_id
        self._clock = clock
        # of the job
        self.status = status
        self.error: BaseException | None = None
        self.started_ms = clock.now_ms()
        self._ended_ms = self.started_ms

    @property
    def ended(self) -> bool:
        """Whether the job has ended for good."""
        return self.status.is_globally_terminal_state()

    @property
    def runtime_ms(self) -> int:
        """Milliseconds from start to end; 0 while the job runs."""
        return self._ended_ms - self.started_ms

    def end(self) -> None:
        """Called by the job's thread when the job has ended, whatever its status: the time of the end."""
        self._ended_ms = self._clock.now_ms()

    def raise_error(self) -> None:
        """Raise the error that the job failed with, if it failed."""
        if self.error is not None:
            raise self.error


class SparkJobClient(JobClient):
    """The part of a client that does not depend on the host.

    A host's client starts `_thread` as the last thing in its constructor: the thread uses the rest of the client.
    """

    _thread: JobThread

    def __init__(self, record: JobRecord) -> None:
        self._record = record

    @property
    def job_id(self) -> str:
        """The id under which the job is listed."""
        return self._record.job_id

    @property
    def status(self) -> JobStatus:
        """Where the job is in its life."""
        return self._record.status

    def wait(self) -> JobExecutionResult:
        """Block until the job ends; raise what made it fail. Ctrl-C stops it cleanly."""
        self._thread.join_or_stop(self.stop)
        unregister(self)
        self._record.raise_error()
        return JobExecutionResult(
            self._record.name,
            self._record.job_id,
            self._record.runtime_ms,
            *self._counts(),
            self.get_metrics(),
            self.accumulators(),
        )

    @abstractmethod
    def _counts(self) -> tuple[int, int]:
        """Batches whose results are out, and restarts after failures; called when the job has ended well."""
