"""The bounded host: one Spark batch job for a job whose whole input is there (P10)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.taskcontext import TaskContext as SparkTaskContext

from penstock.core.attendant import dismiss
from penstock.core.client import JobClient, JobExecutionResult, JobStatus
from penstock.core.clock import SystemClock
from penstock.core.config import Configuration
from penstock.core.job import JobPlan
from penstock.core.source import Position
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
from penstock.spark.bundle import Bundle, errors_travel, make_bundle
from penstock.spark.death import death_behind
from penstock.spark.failures import translate
from penstock.spark.frames import make_frames, own_vertices, union_frames
from penstock.spark.job_thread import JobThread
from penstock.spark.rows import SCHEMA, from_arrow, to_arrow
from penstock.spark.session import job_session
from penstock.spark.task_count import tasks_done

__all__ = ["start_bounded"]


def start_bounded(plan: JobPlan, conf: Configuration, job_id: str = "") -> JobClient:
    """Start a bounded job; it runs in a thread of its own."""
    make_frames(plan)
    bundle = make_bundle(plan)
    spark = job_session(plan, conf, __name__)
    return BoundedJob(plan, bundle, spark, job_id)


class BoundedJob(JobClient):
    """One batch: no checkpoint; sinks publish only at the end."""

    def __init__(self, plan: JobPlan, bundle: Bundle, spark: SparkSession, job_id: str = "") -> None:
        self._plan, self._bundle, self._spark = plan, bundle, spark
        self._id = job_id or uuid.uuid4().hex
        self._clock = SystemClock()
        self._status = JobStatus.RUNNING
        self._error: BaseException | None = None
        self._results: dict[str, list[Any]] = {}
        self._book = MetricsAggregator()
        self._started_ms = self._clock.now_ms()
        self._ended_ms = self._started_ms
        self._thread = JobThread(self._run, f"penstock-{self._id}")

    def _run(self) -> None:
        try:
            self._spark.sparkContext.setJobGroup(self._id, self._plan.name, interruptOnCancel=True)
            output = self._execute()
            output.batch_ms = self._clock.now_ms() - self._started_ms
            ledger = CommitCoordinator(
                self._plan, lambda n, vs: self._results.setdefault(n, []).extend(vs), print, self._book
            )
            ledger.hold(output)
            ledger.release()
            ledger.close()
            self._status = JobStatus.FINISHED
        except BaseException as error:
            if self._status is not JobStatus.CANCELED:
                self._status = JobStatus.FAILED
                self._error = death_behind(error, self._spark) or translate(error)
        finally:
            self._ended_ms = self._clock.now_ms()

    def _execute(self) -> BatchOutput:
        frame = line(self._spark, self._plan, self._bundle, BatchInfo(self._id, 0, self._started_ms))
        batches = frame.toArrow().to_batches()
        enter_job(self._plan)
        return BatchOutput(from_arrow(batches, 0))

    @property
    def job_id(self) -> str:
        return self._id

    @property
    def status(self) -> JobStatus:
        return self._status

    def ask_to_stop(self) -> None:
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.CANCELED
            self._spark.sparkContext.cancelJobGroup(self._id)

    def stop(self) -> None:
        self.ask_to_stop()

    def wait(self) -> JobExecutionResult:
        self._thread.join_or_stop(self.stop)
        dismiss(self)
        if self._error is not None:
            raise self._error
        return JobExecutionResult(
            self._plan.name,
            self._id,
            self._ended_ms - self._started_ms,
            1,
            0,
            self.get_metrics(),
            self.accumulators(),
        )

    def accumulators(self) -> dict[str, Any]:
        return self._book.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        """While the one batch runs only its Spark tasks are known: (done, all)."""
        if self._status is not JobStatus.RUNNING:
            return {"subtasks": self._book.subtasks()}
        tasks = (
            sum(v.parallelism for v in own_vertices(self._plan)) + 1 + self._plan.stage_count * self._plan.partitions
        )
        return {"subtasks": [], "tasks": (min(tasks, tasks_done(self._spark, self._id)), tasks)}

    def results(self, name: str) -> Iterator[Any]:
        self.wait()
        yield from self._results.get(name, [])


def line(spark: SparkSession, plan: JobPlan, bundle: Bundle, info: BatchInfo) -> DataFrame:
    """The line of stages as a batch DataFrame."""
    splits = [(v.vertex_id, s) for v in own_vertices(plan) for s in range(v.split_count)]
    tasks = len(splits) + 1
    frame = spark.range(0, tasks, 1, tasks).mapInArrow(_reader(bundle, splits, info), SCHEMA)
    frame = union_frames(frame, plan, bundle, info)
    for level in range(1, plan.stage_count + 1):
        shuffled = frame.repartition(plan.partitions, "label").sortWithinPartitions("label", "seq", "channel")
        frame = shuffled.mapInArrow(_stage(bundle, level), SCHEMA)
    return frame


def _reader(bundle: Bundle, splits: list[tuple[int, int]], info: BatchInfo) -> Any:
    """Task 0 sends the control rows, task i + 1 reads split i."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = bundle.load()
            for batch in batches:
                for index in batch.column(0).to_pylist():
                    rows = control_rows(plan, info) if index == 0 else _split(plan, splits[index - 1], info)
                    yield from to_arrow(rows, plan.partitions)

    return read


def _split(plan: JobPlan, place: tuple[int, int], info: BatchInfo) -> Iterator[ChunkRow]:
    vertex, split = plan.vertex(place[0]), place[1]
    start = vertex.source.initial(split, vertex.split_count)
    return read_split(plan, vertex, split, Position(start.at), None, SystemClock(), info)


def _stage(bundle: Bundle, level: int) -> Any:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = bundle.load()
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
