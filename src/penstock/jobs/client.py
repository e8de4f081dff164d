"""The client of a job: what the program that starts a job gets to control it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from penstock.core.config.options.checkpoints import CHECKPOINT_DIR
from penstock.core.config.options.job import HOST
from penstock.core.errors import SavepointError
from penstock.jobs.futures import CompletableFuture

__all__ = ["JobClient", "JobExecutionResult", "JobID", "JobStatus"]


class JobStatus(Enum):
    """The state of a job, under Flink's names.

    >>> [s.name for s in JobStatus if s.is_globally_terminal_state()]
    ['FAILED', 'CANCELED', 'FINISHED']
    """

    CREATED = 0
    RUNNING = 1
    FAILING = 2
    FAILED = 3
    CANCELLING = 4
    CANCELED = 5
    FINISHED = 6
    RESTARTING = 7
    SUSPENDED = 8
    RECONCILING = 9

    def is_globally_terminal_state(self) -> bool:
        """Whether the job has ended for good."""
        return self in (JobStatus.FAILED, JobStatus.CANCELED, JobStatus.FINISHED)

    def is_terminal_state(self) -> bool:
        """Whether this run of the job has ended; a suspended job may go on later."""
        return self.is_globally_terminal_state() or self is JobStatus.SUSPENDED


@dataclass(frozen=True, slots=True)
class JobID:
    """The id of one run of a job.

    >>> print(JobID("5f1a"))
    5f1a
    """

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, repr=False)
class JobExecutionResult:
    """What is known of a job that has ended: how long it ran, its metrics and accumulators."""

    job_name: str
    job_id: str
    net_runtime_ms: int
    batches: int = 0
    restarts: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    accumulators: dict[str, Any] = field(default_factory=dict)

    def get_job_id(self) -> JobID:
        """The id of the run."""
        return JobID(self.job_id)

    def get_net_runtime(self) -> int:
        """Milliseconds from start to end."""
        return self.net_runtime_ms

    def get_accumulator_result(self, accumulator_name: str) -> object:
        """The value of an accumulator over all committed batches; None if there is none of that name."""
        return self.accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, object]:
        """Results of all accumulators by name."""
        return dict(self.accumulators)

    def __str__(self) -> str:
        batches = f"{self.batches} batch" if self.batches == 1 else f"{self.batches} batches"
        restarts = f", {self.restarts} restart(s)" if self.restarts else ""
        return f"Job '{self.job_name}' ({self.job_id}) ran for {self.net_runtime_ms} ms in {batches}{restarts}"

    def __repr__(self) -> str:
        """Leaves out the metrics, which are long; accumulators are shown, since the program made them."""
        counted = f", accumulators={self.accumulators!r}" if self.accumulators else ""
        return (
            f"JobExecutionResult(job_name={self.job_name!r}, job_id={self.job_id!r}, "
            f"net_runtime_ms={self.net_runtime_ms}, batches={self.batches}, restarts={self.restarts}{counted})"
        )


class JobClient(ABC):
    """Controls a running job; `execute_async()` returns it.

    The methods that PyFlink has too answer with a `CompletableFuture`. `wait`, `results`, `status`, `stop` and `close`
    are Penstock's own and answer directly: each host implements these. All may be called from any thread.
    """

    @property
    @abstractmethod
    def job_id(self) -> str:
        """The id of the run, under which `penstock list` shows it."""

    @property
    @abstractmethod
    def status(self) -> JobStatus:
        """The job's status at this moment."""

    @abstractmethod
    def stop(self) -> None:
        """Stop the job between two batches and wait until it has stopped; what is committed stays."""

    def ask_to_stop(self) -> None:
        """Let the job stop between two batches, without waiting for that.

        Another process that cancels the job causes this call, also while the job is still starting.
        """
        self.stop()

    @abstractmethod
    def wait(self) -> JobExecutionResult:
        """Block until the job ends; raises the error that made it fail. Ctrl-C stops the job between two batches."""

    @abstractmethod
    def results(self, name: str) -> Iterator[object]:
        """Records collected under a name, as batches become durable; ends with the job and raises what made it fail."""

    def get_metrics(self) -> dict[str, Any]:
        """Metrics of committed batches so far: under `subtasks` one entry for each subtask.

        The streaming host adds `batch_ms` (how long the last batches took), `limits` (records that a split of each
        source may bring into a batch), `lost_records`, and what failed: `failures`, `restarts`, `last_failure`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not show metrics")

    def close(self) -> None:
        """Stop the job if it is still running."""
        if not self.status.is_globally_terminal_state():
            self.stop()

    def get_job_id(self) -> JobID:
        """The id of the run."""
        return JobID(self.job_id)

    def get_job_status(self) -> CompletableFuture[JobStatus]:
        """The job's status at this moment."""
        return CompletableFuture.completed(self.status)

    def cancel(self) -> CompletableFuture[None]:
        """Stop the job as `stop` does, in a thread of its own; the future is done when the job has stopped."""
        return CompletableFuture.run(self.stop)

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture[str]:
        """Write a savepoint into a new folder in a directory, and go on; answers with the path of that folder.

        Without a directory the setting `execution.checkpointing.savepoint-dir` says where.
        """
        return self.ask(savepoint_directory, False, False)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture[str]:
        """Write a savepoint as `trigger_savepoint` does, then end the job.

        With `advance_to_end_of_event_time` the sources end first, so that all event-time timers and windows fire.
        """
        return self.ask(savepoint_directory, True, advance_to_end_of_event_time)

    def ask(self, directory: str | None, stop: bool, drain: bool) -> CompletableFuture[str]:
        """Ask for a savepoint in a directory, and then to `stop`; with `drain` all sources end first.

        Hosts that take savepoints override it.
        """
        raise SavepointError(
            "This job takes no savepoints: only jobs on the streaming host do. Set a checkpoint folder "
            f"({CHECKPOINT_DIR.key}), or {HOST.key} to streaming"
        )

    def get_accumulators(self) -> CompletableFuture[dict[str, Any]]:
        """The values of all accumulators over committed batches."""
        return CompletableFuture.completed(self.accumulators())

    @abstractmethod
    def accumulators(self) -> dict[str, object]:
        """The values of all accumulators over committed batches, at once."""

    def get_job_execution_result(self) -> CompletableFuture[JobExecutionResult]:
        """The result of the job once it has ended; the future raises the error that made the job fail."""
        return CompletableFuture.run(self.wait)
