"""Does what a running job is asked for while it stands still between two batches: savepoints, and to end (F4)."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from penstock.core.clock import Clock
from penstock.core.errors import SavepointError
from penstock.core.job import JobPlan
from penstock.savepoint.describe import notes_of
from penstock.savepoint.folder import Moment
from penstock.savepoint.requests import Request
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.failures import translate
from penstock.spark.frames import frame_vertices
from penstock.spark.requests import Asked, Inbox
from penstock.spark.state_reader import committed_positions, savepoint_of, undrained

__all__ = ["Service"]


class Service:
    """Takes one request after the other. The planner is told by `holds` and `drains` to make no more batches."""

    def __init__(self, spark: SparkSession, checkpoint: Checkpoint, plan: JobPlan, clock: Clock) -> None:
        # configuration
        self._spark, self._checkpoint, self._plan, self._clock = spark, checkpoint, plan, clock
        self._frames = frame_vertices(plan)
        # of the job
        self.inbox = Inbox(checkpoint.root, clock)
        self._last: tuple[Asked, str] | None = None

    @property
    def drains(self) -> bool:
        """Whether all sources are to end."""
        asked = self.inbox.peek()
        return asked is not None and asked.drain and not self._frames

    @property
    def holds(self) -> bool:
        """Whether the job is to hold still."""
        return self.inbox.peek() is not None and not self.drains

    @property
    def saved(self) -> bool:
        """Whether the job ends with a savepoint, as was asked of it."""
        return self._last is not None and bool(self._last[1])

    def heed(self, batch: int, finished: bool, still: Callable[[], bool]) -> bool:
        """Do what is asked for, if the job stands `still`; whether it is to end now.

        `batch`: Spark's number of the last one whose results are out. `finished`: all sources have ended.
        """
        asked = self.inbox.first()
        if asked is None or (self.drains and not finished) or not still():
            return False
        try:
            path = self._write(asked.request, batch, finished) if asked.request.path else ""
        except Exception as error:
            self.inbox.done()
            asked.answer.set_exception(translate(error, self._checkpoint.location))
            return False
        self.inbox.done()
        if asked.request.stop:
            self._last = (asked, path)
        else:
            asked.answer.set_result(path)
        return asked.request.stop

    def close(self) -> None:
        """The job has ended: who asked it to is told, and so is who still waits."""
        if self._last is not None:
            asked, path = self._last
            asked.answer.set_result(path)
        self.inbox.close()

    def _write(self, request: Request, batch: int, finished: bool) -> str:
        if request.drain and not finished:
            raise SavepointError(
                f"The job '{self._plan.name}' cannot be drained: its source '{self._frames[0].operators[0].name}' is a "
                "DataFrame, which cannot be brought to an end. Stop it without draining"
            )
        plan, positions = self._plan, committed_positions(self._checkpoint, batch)
        if request.drain and batch > 0:
            positions = undrained(positions, committed_positions(self._checkpoint, batch - 1))
        first = plan.settings.first_batch
        moment = Moment(first + batch, self._clock.now_ms(), positions, drained=request.drain)
        notes = notes_of(plan)
        return savepoint_of(self._spark, self._checkpoint, request.path, notes, plan.stage_count, batch, moment).path
