"""One run of the query, from its start to its end or failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.core.errors import PenstockError
from penstock.jobs.client import JobStatus
from penstock.spark.streaming.committer import BatchCommitter
from penstock.spark.streaming.job_context import JobContext, RunningQuery

__all__ = ["Lookout", "QueryRunner", "RequestHandler"]

_POLL_MS = 5
_IDLE_MS = 100


class RequestHandler(Protocol):
    """Carries out what is asked of a running job."""

    def handle_requests(self, batch: int, finished: bool, still: Callable[[], bool]) -> bool:
        """Carry out the next request if the job stands `still`; True if the job is to end now."""

    @property
    def saved(self) -> bool:
        """Whether the job ends with a savepoint, as was asked of it."""


class Lookout(Protocol):
    """Looks now and then whether another driver has taken over."""

    def look(self) -> None:
        """Raise CheckpointError if this driver is no longer the one that runs the job; at most once a second."""


class QueryRunner:
    """Starts the query and watches it: releases batches, carries out requests, stops it between two batches."""

    def __init__(
        self,
        job: JobContext,
        committer: BatchCommitter,
        requests: RequestHandler,
        lookout: Lookout,
        publish_control: Callable[[], None],
        start: Callable[[], RunningQuery],
        explain: Callable[[Exception], PenstockError],
    ) -> None:
        """`start` starts a fresh query from the checkpoint; `explain` makes an error to show of one that it raised."""
        self._job, self._committer, self._requests, self._lookout = job, committer, requests, lookout
        self._publish_control, self._start, self._explain = publish_control, start, explain

    @property
    def completed(self) -> bool:
        """Whether the last run came to the end that the job was meant to have: of its input, or with a savepoint."""
        return self._job.run.finished or self._requests.saved

    def run_once(self) -> PenstockError | None:
        """Run the query until it ends; the error that it failed with, None if it did not fail."""
        job = self._job
        query: RunningQuery | None = None
        job.run.begin()
        self._publish_control()
        try:
            query = self._start()
            job.record.status = JobStatus.CANCELLING if job.stop.asked else JobStatus.RUNNING
            self._watch(query)
            failed = query.exception()
        except Exception as error:
            failed = error
            if query is not None and query.active:
                query.stop()
        self._committer.settle(query)
        return self._explain(failed) if failed is not None and not job.run.cut else None

    def _watch(self, query: RunningQuery) -> None:
        """Release batches as they become durable; stop between batches when asked to, or when the input has ended."""
        job = self._job
        while query.active:
            idle = self._committer.release_durable(query)
            if idle:
                self._lookout.look()
                self.handle_requests(query)
            if idle and (job.run.finished or job.stop.asked) and self._between_batches(query):
                self._committer.time_batch(query)
                query.stop()
                return
            if not idle:
                job.clock.sleep_ms(_POLL_MS)
            elif job.stop.woken.wait(_IDLE_MS / 1000):
                job.stop.woken.clear()

    def handle_requests(self, query: RunningQuery) -> None:
        """Carry out what is asked for, once the job stands still between two batches.

        The first batch of a run comes first: it commits what the last one prepared.
        """
        run = self._job.run
        if run.released is not None and self._requests.handle_requests(
            run.released, run.finished, lambda: self._between_batches(query)
        ):
            self._job.stop.asked = True
        self._publish_control()

    def _between_batches(self, query: RunningQuery) -> bool:
        return self._job.run.finished or not query.triggering
