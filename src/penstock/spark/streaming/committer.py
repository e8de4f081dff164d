"""Batches on their way out: held back until Spark has committed them, then released."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.jobs.restart import RestartStrategy
from penstock.runtime.admission import Admission, read_by
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.commit_coordinator import CommitCoordinator
from penstock.runtime.local_classes import enter_job
from penstock.runtime.state.page import NO_TIMER
from penstock.spark.streaming.job_context import JobContext, RunningQuery
from penstock.spark.streaming.metrics import JobMetrics

__all__ = ["BatchCommitter", "Owner", "SealedCheckpoint"]


class SealedCheckpoint(Protocol):
    """The checkpoint, as far as the committer uses it."""

    def seal(self, batch_id: int) -> None:
        """Note what the logs say of a batch that is durable; called before its results are let out."""

    def forget_predecessors(self) -> None:
        """Remove older generations; called once a batch of this one is durable."""


class Owner(Protocol):
    """The ownership of the checkpoint, as far as the committer uses it."""

    def check(self) -> None:
        """Raise CheckpointError if this driver is no longer the one that runs the job."""


class BatchCommitter:
    """Runs each batch's action, keeps what it delivered, and lets that out once the batch is durable.

    Spark calls `run_batch` in a thread of its own; the thread that watches the query calls the other methods.
    """

    def __init__(
        self,
        job: JobContext,
        commits: CommitCoordinator,
        checkpoint: SealedCheckpoint,
        owner: Owner,
        admission: Admission,
        strategy: RestartStrategy,
        metrics: JobMetrics,
        publish_control: Callable[[], None],
        unending: bool,
    ) -> None:
        """`unending`: whether a source goes on although the planner plans no more batches, as a DataFrame does."""
        # configuration
        self._job, self._commits, self._checkpoint, self._owner = job, commits, checkpoint, owner
        self._admission, self._strategy, self._metrics = admission, strategy, metrics
        self._publish_control, self._unending = publish_control, unending
        # of the job
        self._held_batch = -1
        self._release_ms = 0

    # -- in Spark's thread --------------------------------------------------------------------------

    def run_batch(self, batch_id: int, run: Callable[[], BatchOutput]) -> None:
        """Called by Spark for every batch; the batch runs inside `run`. Spark commits it after the return.

        The batch before is durable when Spark starts the next one, so it is released at the latest here.
        """
        job = self._job
        begun_ms = job.clock.now_ms()
        with job.lock:
            if self._commits.holding:
                self._release()
            job.run.cut = job.stop.asked and self._unending
        if job.run.cut:
            raise InterruptedError("The job stops between two batches: a DataFrame would go on for ever")
        self._owner.check()
        enter_job(job.plan)
        output = run()
        self._owner.check()  # a successor may have come meanwhile: Spark must not commit the batch
        with job.lock:
            self._held_batch = batch_id
            self._commits.hold(output)
            job.run.finished = output.finished
            output.batch_ms = job.clock.now_ms() - begun_ms
            self._learn(output, output.batch_ms)
        job.stop.woken.set()

    def _learn(self, output: BatchOutput, batch_ms: int) -> None:
        """Take from a batch that has run how much the next may read and when a timer is due; tell the planner."""
        self._admission.note(batch_ms + self._release_ms, read_by(self._job.plan, output.metrics))
        due_ms = min((entry["next_timer_ms"] for entry in output.metrics), default=NO_TIMER)
        self._job.run.next_timer_ms = None if due_ms == NO_TIMER else due_ms
        self._publish_control()

    # -- in the thread that watches the query ---------------------------------------------------------

    def release_durable(self, query: RunningQuery) -> bool:
        """Release the batch that is held back if it is durable; True if nothing is held back then."""
        with self._job.lock:
            if self._commits.holding and self._durable(query):
                self._release()
                self.time_batch(query)
            return not self._commits.holding

    def time_batch(self, query: RunningQuery) -> None:
        """Note how long the last batch took that Spark has reported on."""
        self._metrics.time_batch(query.last_progress(), self._held_batch)

    def settle(self, query: RunningQuery | None) -> None:
        """Called when the query has ended: release what it held back if that batch is durable, else drop it.

        Nothing is lost if the batch was durable after all: the next run finds the committables in its state.
        """
        with self._job.lock:
            if self._commits.holding:
                if query is not None and self._durable(query):
                    self._release()
                else:
                    self._commits.drop()

    def _durable(self, query: RunningQuery) -> bool:
        """Whether this very query has committed the batch that is held back.

        That a commit file exists is not enough: it may be another driver's, of the same batch but with other results.
        """
        progress = query.last_progress()
        return progress is not None and progress.batch_id() >= self._held_batch and progress.committed()

    def _release(self) -> None:
        """Let out what the held batch delivered. The seal comes first: afterwards results cannot be taken back."""
        run, clock = self._job.run, self._job.clock
        self._checkpoint.seal(self._held_batch)
        begun_ms = clock.now_ms()
        self._commits.release()
        self._release_ms = clock.now_ms() - begun_ms
        if run.released is None:
            self._checkpoint.forget_predecessors()
        run.released = self._held_batch
        self._metrics.batches += 1
        self._strategy.note_progress()
