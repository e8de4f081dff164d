"""Writes the committed state of a streaming job as a savepoint."""

from __future__ import annotations

from pyspark.sql import SparkSession

from penstock.core.errors import SavepointError
from penstock.core.program.job import JobPlan
from penstock.core.time.clock import Clock
from penstock.jobs.control_channel import checkpoint_channel
from penstock.jobs.savepoint_coordinator import SavepointCoordinator
from penstock.jobs.savepoint_requests import SavepointRequest
from penstock.savepoint.plan_notes import notes_of
from penstock.savepoint.savepoint import Moment
from penstock.spark.checkpoint.folder import Checkpoint
from penstock.spark.checkpoint.state_reader import committed_positions, savepoint_of, undrained
from penstock.spark.failures import translate
from penstock.spark.frames import frame_vertices

__all__ = ["CommittedStateWriter", "savepoint_coordinator"]


def savepoint_coordinator(
    spark: SparkSession, checkpoint: Checkpoint, plan: JobPlan, clock: Clock
) -> SavepointCoordinator:
    """The coordinator of a streaming job, which is asked through files beside its checkpoint."""
    writer = CommittedStateWriter(spark, checkpoint, plan, clock)
    return SavepointCoordinator(checkpoint_channel(checkpoint.root), writer, clock)


class CommittedStateWriter:
    """Reads state and positions of a batch that Spark has committed; see `SavepointWriter` for when it is called."""

    def __init__(self, spark: SparkSession, checkpoint: Checkpoint, plan: JobPlan, clock: Clock) -> None:
        self._spark, self._checkpoint, self._plan, self._clock = spark, checkpoint, plan, clock
        self._frames = frame_vertices(plan)

    @property
    def drainable(self) -> bool:
        return not self._frames

    def explain(self, error: Exception) -> Exception:
        return translate(error, self._checkpoint.location)

    def write(self, request: SavepointRequest, batch: int, finished: bool) -> str:
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
