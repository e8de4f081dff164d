"""A running job, as its starter sees it (P8)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["JobClient", "JobExecutionResult", "JobStatus"]


class JobStatus(Enum):
    """Where a job is in its life."""

    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    FINISHED = "FINISHED"
    CANCELED = "CANCELED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class JobExecutionResult:
    """What a finished job has to say."""

    job_name: str
    job_id: str
    net_runtime_ms: int
    batches: int = 0
    restarts: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    accumulators: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> str:
        return self.job_id

    def get_net_runtime(self) -> int:
        return self.net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """What an accumulator came to over all committed batches, None if there is none of that name."""
        return self.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Results of all accumulators by name."""
        return dict(self.accumulators)


class JobClient(ABC):
    """Controls a running job."""

    @abstractmethod
    def get_job_id(self) -> str: ...
    @abstractmethod
    def get_job_status(self) -> JobStatus: ...
    @abstractmethod
    def cancel(self) -> None:
        """Stop between two batches; what is committed stays."""

    @abstractmethod
    def wait(self) -> JobExecutionResult:
        """Block until the job ends; raises what made it fail. Ctrl-C stops it cleanly."""

    @abstractmethod
    def results(self, name: str) -> Iterator[Any]:
        """Collected records, as batches become durable."""

    def get_metrics(self) -> dict[str, Any]:
        """Metrics of committed batches so far: under `subtasks` one entry for each subtask."""
        raise NotImplementedError(f"{type(self).__name__} does not show metrics")

    def close(self) -> None:
        """Stop if still running."""
        if self.get_job_status() in (JobStatus.RUNNING, JobStatus.RESTARTING):
            self.cancel()
