"""Reads the committed state of a checkpoint with Spark's own reader; Spark's tasks write it as a savepoint."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.taskcontext import TaskContext

from penstock.core.contracts.source import Position
from penstock.runtime.operator_state import gather_union
from penstock.savepoint.metadata import PlanNotes
from penstock.savepoint.plan_notes import Positions
from penstock.savepoint.savepoint import (
    Moment,
    Part,
    Savepoint,
    UnionLists,
    finish_savepoint,
    refuse_used,
    write_part,
)
from penstock.spark.checkpoint.folder import Checkpoint
from penstock.spark.failures import errors_travel
from penstock.spark.rows import ArrowFunction
from penstock.spark.streaming.state_store import STATE_NAME

__all__ = ["committed_positions", "committed_union_lists", "savepoint_of", "undrained"]


def savepoint_of(
    spark: SparkSession, checkpoint: Checkpoint, path: str, notes: PlanNotes, stages: int, batch: int, moment: Moment
) -> Savepoint:
    """Write the state that a committed batch left as a savepoint to `path`, which must be empty.

    `batch` is Spark's number of the batch. Called while the job stands still, or when it does not run.
    """
    refuse_used(path)
    parts: list[Part] = []
    if stages:
        written = _state(spark, checkpoint, stages, batch).mapInArrow(_writer(path, notes), "part binary")
        parts = [pickle.loads(row.part) for row in written.collect()]
    return finish_savepoint(path, notes, parts, moment._replace(spark=spark.version))


def _state(spark: SparkSession, checkpoint: Checkpoint, stages: int, batch: int) -> DataFrame:
    """Keys and blobs of all stages, in columns `k` and `v`."""
    frames = [_stage_state(spark, checkpoint, stage, batch) for stage in range(stages)]
    return reduce(DataFrame.unionAll, frames)


def _stage_state(spark: SparkSession, checkpoint: Checkpoint, stage: int, batch: int) -> DataFrame:
    reader = spark.read.format("statestore").option("path", checkpoint.location).option("batchId", batch)
    frame = reader.option("operatorId", stage).option("stateVarName", STATE_NAME).load()
    return frame.select("user_map_key.k", "user_map_value.v")


def _writer(path: str, notes: PlanNotes) -> ArrowFunction:
    """Each task writes a file and returns its part of the metadata; files of lost attempts are never listed there."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            context = TaskContext.get()
            assert context is not None
            name = f"{context.partitionId():05d}-{context.taskAttemptId()}"
            part = write_part(path, name, notes, _items(batches))
            yield pa.RecordBatch.from_pydict({"part": pa.array([pickle.dumps(part)], pa.binary())})

    return write


def _items(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[bytes, bytes]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def committed_positions(checkpoint: Checkpoint, batch: int) -> Positions:
    """Where the sources stood after a batch, from Spark's log."""
    sources = json.loads(checkpoint.read(f"offsets/{batch}").splitlines()[2])["sources"]
    return {
        uid: {int(split): Position.from_json(data) for split, data in splits.items()} for uid, splits in sources.items()
    }


def undrained(positions: Positions, before: Positions) -> Positions:
    """Positions after a batch that drained the job: it ended all splits without reading, which the savepoint undoes."""
    return {
        uid: {
            split: at if (old := before.get(uid, {}).get(split)) is None or old.at != at.at else old
            for split, at in splits.items()
        }
        for uid, splits in positions.items()
    }


def committed_union_lists(spark: SparkSession, checkpoint: Checkpoint, stages: int, batch: int) -> UnionLists:
    """The union lists of operator state that a batch left, of all subtasks together; read before a run."""
    rows = _state(spark, checkpoint, stages, batch).where("substring(k, 9, 1) = X'4C'").collect()
    return gather_union((bytes(row.k), bytes(row.v)) for row in rows)
