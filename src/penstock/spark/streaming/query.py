"""The query of a streaming job: the line of stages, as Structured Streaming runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.core.functions.checkpointed import checkpointed_function
from penstock.core.program.job import JobPlan
from penstock.runtime.operator_state import RunStart
from penstock.savepoint.savepoint import Savepoint, UnionLists
from penstock.spark.checkpoint.folder import Checkpoint
from penstock.spark.checkpoint.state_reader import committed_union_lists
from penstock.spark.frames import union_stream_frames
from penstock.spark.pickled_plan import PickledPlan
from penstock.spark.rows import SCHEMA
from penstock.spark.streaming.multiplexed_source import MultiplexedOptions, multiplexed_source
from penstock.spark.streaming.processor import StageProcessor

__all__ = ["JobQuery", "SparkQuery"]


@dataclass(frozen=True, slots=True)
class _SparkProgress:
    """Spark's report on a batch, still in the JVM: each method is a call."""

    java: JavaObject

    def batch_id(self) -> int:
        return int(self.java.batchId())

    def duration_ms(self) -> int:
        return int(self.java.batchDuration())

    def committed(self) -> bool:
        return bool(self.java.durationMs().containsKey("commitOffsets"))


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """Spark's query as the `RunningQuery` that the parts of a job use."""

    query: StreamingQuery

    @property
    def active(self) -> bool:
        """Whether the query runs."""
        return self.query.isActive

    @property
    def triggering(self) -> bool:
        """Whether the query is planning or running a batch right now."""
        return bool(self.query.status["isTriggerActive"])

    def last_progress(self) -> _SparkProgress | None:
        """The report on the last batch; None before the first has ended."""
        java = self.query._jsq.lastProgress()  # PySpark's own `lastProgress` parses the whole report
        return None if java is None else _SparkProgress(java)

    def stop(self) -> None:
        """Stop the query and wait until it has stopped."""
        self.query.stop()

    def exception(self) -> Exception | None:
        """What the ended query failed with; None if it was stopped."""
        return self.query.exception()


@dataclass(frozen=True, slots=True)
class JobQuery:
    """What a query is started from, in each run of the job anew."""

    spark: SparkSession
    plan: JobPlan
    pickled: PickledPlan
    checkpoint: Checkpoint
    savepoint: Savepoint | None
    """What the first batch takes in, if the job starts from a savepoint."""
    control_path: str

    def start(
        self, start: RunStart, limits: dict[str, int], run_batch: Callable[[DataFrame, int], None]
    ) -> StreamingQuery:
        """Start the query from the checkpoint. Spark calls `run_batch` for every batch, in a thread of its own."""
        run_id = start.run_id
        source = multiplexed_source(
            MultiplexedOptions(
                self.pickled,
                run_id,
                self.control_path,
                limits,
                self.savepoint,
                self.checkpoint.root.location,
            )
        )
        self.spark.dataSource.register(source)
        sources: DataFrame = self.spark.readStream.format(source.name()).load()
        frame = union_stream_frames(sources, self.plan, self.pickled, run_id)
        self.spark.conf.set("spark.sql.shuffle.partitions", str(self.plan.partitions))
        for level in range(1, self.plan.stage_count + 1):
            frame = frame.groupBy("label").transformWithStateInPandas(
                StageProcessor(self.pickled, level, start), SCHEMA, "append", "none"
            )
        return (
            frame.writeStream.foreachBatch(run_batch)
            .queryName(f"{self.plan.name}-{run_id[:8]}")
            .option("checkpointLocation", self.checkpoint.location)
            .trigger(processingTime="0 seconds")
            .start()
        )

    def union_lists(self) -> UnionLists:
        """What union lists hold at the start of a run; read only if a function may have one."""
        plan, commits = self.plan, self.checkpoint.batches("commits")
        if not any(checkpointed_function(op.spec) for v in plan.vertices for op in v.operators):
            return {}
        if commits:
            return committed_union_lists(self.spark, self.checkpoint, plan.stage_count, commits[-1])
        return self.savepoint.union_lists() if self.savepoint is not None else {}
