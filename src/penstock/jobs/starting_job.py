"""Stands for a job while its host starts it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from penstock.jobs.client import JobClient, JobExecutionResult, JobStatus

__all__ = ["StartingJob"]


class StartingJob(JobClient):
    """The client that `launch` registers, so that a job is listed and can be canceled before it runs.

    >>> job = StartingJob("5f1a")
    >>> job.status.name
    'CREATED'
    >>> job.ask_to_stop()
    >>> job.status.name
    'CANCELLING'
    """

    def __init__(self, job_id: str) -> None:
        self._id = job_id
        self._lock = threading.Lock()
        self._job: JobClient | None = None
        self._status = JobStatus.CREATED

    @property
    def job_id(self) -> str:
        return self._id

    @property
    def status(self) -> JobStatus:
        return self._status if self._job is None else self._job.status

    def become(self, job: JobClient) -> None:
        """Called by `launch` when the host has started the job, which has the same id.

        A job that was canceled meanwhile is stopped.
        """
        with self._lock:
            self._job = job
        if self._status is JobStatus.CANCELLING:
            job.ask_to_stop()

    def failed(self) -> None:
        """Called by `launch` when the host could not start the job."""
        self._status = JobStatus.FAILED

    def ask_to_stop(self) -> None:
        with self._lock:
            if self._job is None:
                self._status = JobStatus.CANCELLING
                return
        self._job.ask_to_stop()

    def stop(self) -> None:
        self._started.stop()

    def wait(self) -> JobExecutionResult:
        return self._started.wait()

    def results(self, name: str) -> Iterator[object]:
        return self._started.results(name)

    def accumulators(self) -> dict[str, object]:
        return self._started.accumulators()

    @property
    def _started(self) -> JobClient:
        assert self._job is not None, "the job has not been started"
        return self._job
