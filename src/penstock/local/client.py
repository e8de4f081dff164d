"""The client of a job on the local host."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from penstock.core.config.recovery import Recovery
from penstock.core.program.dependencies import PythonDependencies
from penstock.core.program.job import JobPlan
from penstock.jobs.client import JobClient, JobExecutionResult, JobStatus
from penstock.local.local_job import LocalJob
from penstock.runtime.dependencies import dependencies_at_hand

__all__ = ["LocalClient"]


class LocalClient(JobClient):
    """Runs the job in the thread that calls `wait` or reads `results`; nothing runs before that."""

    def __init__(self, plan: JobPlan, dependencies: PythonDependencies, recovery: Recovery) -> None:
        self._dependencies = dependencies
        self._job = LocalJob(plan, savepoint=recovery.savepoint or None, allow_unclaimed=recovery.allow_unclaimed)
        self._status = JobStatus.RUNNING

    @property
    def job_id(self) -> str:
        return "local"

    @property
    def status(self) -> JobStatus:
        return self._status

    def stop(self) -> None:
        self._status = JobStatus.CANCELED
        self._job.stop()

    def wait(self) -> JobExecutionResult:
        started_ms = self._job.clock.now_ms()
        try:
            for _ in self._steps():
                pass
        except KeyboardInterrupt:  # Ctrl-C stops the job, on every host
            self.stop()
        return JobExecutionResult(
            self._job.plan.name,
            "local",
            self._job.clock.now_ms() - started_ms,
            self._job.batch_id,
            metrics=self.get_metrics(),
            accumulators=self.accumulators(),
        )

    def accumulators(self) -> dict[str, object]:
        return self._job.book.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        return {"subtasks": self._job.book.subtasks(), "lost_records": self._job.commits.lost_records}

    def _steps(self) -> Iterator[None]:
        if self._status is not JobStatus.RUNNING:
            return
        try:
            with dependencies_at_hand(self._dependencies):
                yield from self._job.steps()
        except GeneratorExit:
            raise
        except KeyboardInterrupt:
            self.stop()
            raise
        except BaseException:
            self._status = JobStatus.FAILED
            raise
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.FINISHED

    def results(self, name: str) -> Iterator[object]:
        given = 0
        for _ in chain(self._steps(), [None]):
            found = self._job.results.get(name, [])
            yield from found[given:]
            given = len(found)
