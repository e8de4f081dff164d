"""The bounded host: one Spark batch job, for a job whose sources are all bounded."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.taskcontext import TaskContext as SparkTaskContext

from penstock.core.config import Configuration
from penstock.core.contracts.source import Position
from penstock.core.program.job import JobPlan
from penstock.core.time.clock import SystemClock
from penstock.jobs.client import JobClient, JobStatus
from penstock.jobs.job_thread import JobThread
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.commit_coordinator import CommitCoordinator
from penstock.runtime.local_classes import enter_job
from penstock.runtime.memory import trim_memory
from penstock.runtime.metrics_aggregator import MetricsAggregator
from penstock.runtime.operator_state import RunStart
from penstock.runtime.source_task import read_split
from penstock.runtime.spill import SpillStore
from penstock.runtime.stage import StageTask, control_rows
from penstock.spark.client import JobRecord, SparkJobClient
from penstock.spark.failures import errors_travel, translate
from penstock.spark.frames import make_frames, own_vertices, union_frames
from penstock.spark.pickled_plan import PickledPlan, pickle_plan
from penstock.spark.rows import SCHEMA, ArrowFunction, from_arrow, to_arrow
from penstock.spark.startup.jvm_exit import jvm_exit_behind
from penstock.spark.startup.session import job_session

__all__ = ["start_bounded", "tasks_done"]


def start_bounded(plan: JobPlan, conf: Configuration, job_id: str = "") -> JobClient:
    """Start a bounded job, which runs in a thread of its own; called by `launch`."""
    make_frames(plan)
    pickled = pickle_plan(plan)
    spark = job_session(plan, conf, __name__)
    return BoundedJob(plan, pickled, spark, job_id)


class BoundedJob(SparkJobClient):
    """The client of a bounded job: one batch, no checkpoint; sinks publish at the end."""

    def __init__(self, plan: JobPlan, pickled: PickledPlan, spark: SparkSession, job_id: str = "") -> None:
        # configuration
        self._plan, self._pickled, self._spark = plan, pickled, spark
        # of the job
        self._clock = SystemClock()
        super().__init__(JobRecord(plan.name, job_id or uuid.uuid4().hex, JobStatus.RUNNING, self._clock))
        self._results: dict[str, list[object]] = {}
        self._book = MetricsAggregator()
        self._thread = JobThread(self._run, f"penstock-{self.job_id}")

    def _run(self) -> None:
        """The target of the job's thread."""
        record = self._record
        try:
            self._spark.sparkContext.setJobGroup(record.job_id, record.name, interruptOnCancel=True)
            output = self._execute()
            output.batch_ms = self._clock.now_ms() - record.started_ms
            commits = CommitCoordinator(
                self._plan, lambda n, vs: self._results.setdefault(n, []).extend(vs), print, self._book
            )
            commits.hold(output)
            commits.release()
            commits.close()
            record.status = JobStatus.FINISHED
        except BaseException as error:
            if record.status is not JobStatus.CANCELED:
                record.status = JobStatus.FAILED
                record.error = jvm_exit_behind(error, self._spark) or translate(error)
        finally:
            record.end()

    def _execute(self) -> BatchOutput:
        info = BatchInfo(self.job_id, 0, self._record.started_ms)
        batches = line(self._spark, self._plan, self._pickled, info).toArrow().to_batches()
        enter_job(self._plan)
        return BatchOutput(from_arrow(batches, 0))

    def _counts(self) -> tuple[int, int]:
        return 1, 0

    def ask_to_stop(self) -> None:
        """Cancel the Spark job; sinks have published nothing then. Called from any thread."""
        if self.status is JobStatus.RUNNING:
            self._record.status = JobStatus.CANCELED
            self._spark.sparkContext.cancelJobGroup(self.job_id)

    def stop(self) -> None:
        """As `ask_to_stop`: what Spark still runs has no effect, so the end is not waited for."""
        self.ask_to_stop()

    def accumulators(self) -> dict[str, Any]:
        """The accumulators of the batch; empty while it runs."""
        return self._book.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        """While the one batch runs only its Spark tasks are known: (done, all)."""
        if self.status is not JobStatus.RUNNING:
            return {"subtasks": self._book.subtasks()}
        tasks = (
            sum(v.parallelism for v in own_vertices(self._plan)) + 1 + self._plan.stage_count * self._plan.partitions
        )
        return {"subtasks": [], "tasks": (min(tasks, tasks_done(self._spark, self.job_id)), tasks)}

    def results(self, name: str) -> Iterator[Any]:
        """The collected records of a stream, after the end of the job; every call gives all of them."""
        self.wait()
        yield from self._results.get(name, [])


def tasks_done(spark: SparkSession, job_group: str) -> int:
    """Completed tasks of all Spark jobs of a group, as far as Spark still knows them: a bounded job's progress."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(job_group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def line(spark: SparkSession, plan: JobPlan, pickled: PickledPlan, info: BatchInfo) -> DataFrame:
    """The line of stages as a batch DataFrame; nothing runs before an action is called on it."""
    splits = [(v.vertex_id, s) for v in own_vertices(plan) for s in range(v.split_count)]
    tasks = len(splits) + 1
    frame = spark.range(0, tasks, 1, tasks).mapInArrow(_reader(pickled, splits, info), SCHEMA)
    frame = union_frames(frame, plan, pickled, info)
    for level in range(1, plan.stage_count + 1):
        shuffled = frame.repartition(plan.partitions, "label").sortWithinPartitions("label", "seq", "channel")
        frame = shuffled.mapInArrow(_stage(pickled, level), SCHEMA)
    return frame


def _reader(pickled: PickledPlan, splits: list[tuple[int, int]], info: BatchInfo) -> ArrowFunction:
    """Level 0: task 0 sends the control rows, task i + 1 reads split i."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = pickled.load()
            for batch in batches:
                for index in batch.column(0).to_pylist():
                    rows = control_rows(plan, info) if index == 0 else _split(plan, splits[index - 1], info)
                    yield from to_arrow(rows, plan.partitions)

    return read


def _split(plan: JobPlan, place: tuple[int, int], info: BatchInfo) -> Iterator[ChunkRow]:
    vertex, split = plan.vertex(place[0]), place[1]
    start = vertex.source.initial(split, vertex.split_count)
    return read_split(plan, vertex, split, Position(start.at), None, SystemClock(), info)


def _stage(pickled: PickledPlan, level: int) -> ArrowFunction:
    """A later stage: each task runs the subtasks of its partition, with state in memory or spilled to disk."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = pickled.load()
            context = SparkTaskContext.get()
            assert context is not None
            partition = context.partitionId()
            trim_memory()  # this worker may have read a source before
            task = StageTask(plan, level, partition, SystemClock(), RunStart(""))
            try:
                rows = task.run(from_arrow(batches, partition), SpillStore())
                yield from to_arrow(rows, plan.partitions)
            finally:
                task.close()

    return run
