"""A streaming job: its parts joined, and the client that its starter holds."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.core.config import Configuration
from penstock.core.config.options.checkpoints import CHECKPOINT_DIR, SAVEPOINT_DIR
from penstock.core.config.recovery import Recovery
from penstock.core.errors import DamagedCheckpointError, JobFailedError, PenstockError, SavepointError
from penstock.core.program.job import JobPlan
from penstock.core.scratch import scratch_folder
from penstock.core.time.clock import SystemClock
from penstock.jobs.client import JobClient, JobStatus
from penstock.jobs.futures import CompletableFuture
from penstock.jobs.job_thread import JobThread
from penstock.jobs.restart import RestartStrategy, restart_strategy
from penstock.jobs.savepoint_requests import SavepointRequest
from penstock.runtime.admission import admission
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.commit_coordinator import CommitCoordinator
from penstock.runtime.operator_state import RunStart
from penstock.spark.checkpoint.folder import Checkpoint
from penstock.spark.checkpoint.integrity import check_state
from penstock.spark.checkpoint.ownership import CheckpointOwnership
from penstock.spark.checkpoint.start_point import find_start_point
from penstock.spark.client import JobRecord, SparkJobClient
from penstock.spark.failures import looks_damaged, translate
from penstock.spark.frames import frame_vertices
from penstock.spark.materialized_frames import materialize_frames
from penstock.spark.pickled_plan import pickle_plan
from penstock.spark.rows import from_arrow
from penstock.spark.savepoint_writer import savepoint_coordinator
from penstock.spark.startup.jvm_exit import jvm_exit_behind
from penstock.spark.startup.session import job_session
from penstock.spark.streaming.committer import BatchCommitter
from penstock.spark.streaming.control import ControlFile, ControlPublisher
from penstock.spark.streaming.job_context import JobContext
from penstock.spark.streaming.metrics import JobMetrics
from penstock.spark.streaming.processor import StageProcessor
from penstock.spark.streaming.query import JobQuery, SparkQuery
from penstock.spark.streaming.query_runner import QueryRunner
from penstock.spark.streaming.results import CollectedResults
from penstock.spark.streaming.source_event_log import sweep_event_log
from penstock.spark.streaming.supervisor import Supervisor

__all__ = ["StreamingJob", "start_streaming"]


def start_streaming(plan: JobPlan, conf: Configuration, job_id: str = "") -> JobClient:
    """Start a streaming job, which a thread of its own supervises; called by `launch`."""
    spark = job_session(plan, conf, StageProcessor.__module__)
    return StreamingJob(plan, conf, spark, job_id)


class StreamingJob(SparkJobClient):
    """The client of a streaming job, which joins the job's parts.

    The supervisor runs in the job's thread. It lets the query runner run the query, again after each failure. Spark
    runs batches, in a thread of its own, through the committer, which releases what each batch delivered once the
    batch is durable. The control publisher tells the planner of the sources what the next batch may be.
    """

    def __init__(self, plan: JobPlan, conf: Configuration, spark: SparkSession, job_id: str = "") -> None:
        pickle_plan(plan)  # refuses what cannot be sent before anything is claimed
        clock = SystemClock()
        job_id = job_id or uuid.uuid4().hex
        # configuration
        self._spark = spark
        self._scratch = tempfile.mkdtemp(prefix="job-", dir=scratch_folder())
        self._recovery = Recovery.of(conf)
        location = conf.get(CHECKPOINT_DIR) or os.path.join(self._scratch, "checkpoint")
        start = find_start_point(
            spark, Checkpoint(spark, location), plan, self._recovery.savepoint, self._recovery.allow_unclaimed
        )
        self._checkpoint = start.checkpoint
        plan = materialize_frames(start.plan, self._checkpoint.root.location, conf)
        control = ControlFile(os.path.join(self._scratch, "control.json"))
        self._query = JobQuery(spark, plan, pickle_plan(plan), self._checkpoint, start.savepoint, control.path)
        self._admission = admission(plan, conf)
        strategy = restart_strategy(conf, plan.name)
        # the parts
        super().__init__(JobRecord(plan.name, job_id, JobStatus.CREATED, clock))
        self._job = job = JobContext(plan, self._record, clock)
        self._collected = CollectedResults((s.name for s in plan.collected), job.lock)
        self._commits = CommitCoordinator(plan, self._collected.deliver, partial(print, flush=True))
        self._metrics = JobMetrics(self._admission.limits)
        self._savepoints = savepoint_coordinator(spark, self._checkpoint, plan, clock)
        self._ownership = CheckpointOwnership(self._checkpoint, clock)
        publisher = ControlPublisher(job, control, self._savepoints, self._admission.limits)
        supervisor = self._join(publisher.publish_control, strategy)
        self._thread = JobThread(supervisor.supervise, f"penstock-{job_id}")

    def _join(self, publish_control: Callable[[], None], strategy: RestartStrategy) -> Supervisor:
        """Make the parts that run the job, each with the parts that it uses; the supervisor is the outermost."""
        job = self._job
        self._committer = BatchCommitter(
            job,
            self._commits,
            self._checkpoint,
            self._ownership,
            self._admission,
            strategy,
            self._metrics,
            publish_control,
            unending=bool(frame_vertices(job.plan)),
        )
        runner = QueryRunner(
            job, self._committer, self._savepoints, self._ownership, publish_control, self._start, self._explain
        )
        return Supervisor(job, runner, self._ownership, strategy, self._metrics, self._explain_end, self._finish)

    # -- for the parts --------------------------------------------------------------------------------

    def _start(self) -> SparkQuery:
        """Start the query anew; called by the runner at the start of a run."""
        self._checkpoint.begin_run()
        sweep_event_log(self._checkpoint)
        start = RunStart(uuid.uuid4().hex, self._query.union_lists(), self._metrics.restarts)
        return SparkQuery(self._query.start(start, self._admission.limits(), self._run_batch))

    def _run_batch(self, frame: DataFrame, batch_id: int) -> None:
        """Called by Spark for every batch; the batch runs inside, by the one action here."""
        self._committer.run_batch(batch_id, lambda: BatchOutput(from_arrow(frame.toArrow().to_batches(), 0)))

    def _explain(self, failed: Exception) -> PenstockError:
        """The error to show; if it may come from damage but Spark names no file, one that names the damaged file."""
        died = jvm_exit_behind(failed, self._spark)
        if died is not None:
            return died
        error = translate(failed, self._checkpoint.location)
        if isinstance(error, JobFailedError) and looks_damaged(str(failed)):
            try:
                check_state(self._checkpoint)
            except DamagedCheckpointError as damage:
                return damage
        return error

    def _explain_end(self, error: BaseException) -> PenstockError:
        """The error to show for what ended the job, which may have come from any of its parts."""
        return jvm_exit_behind(error, self._spark) or translate(error, self._checkpoint.location)

    def _finish(self) -> None:
        """Called by the supervisor when the job has ended, whatever its status. Readers and askers are told last."""
        self._record.end()
        with contextlib.suppress(Exception):
            self._commits.clean(self._job.clock)
            self._commits.close()
        with contextlib.suppress(Exception):
            self._ownership.check()
            sweep_event_log(self._checkpoint)
        self._collected.end()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._savepoints.close()

    # -- the client ---------------------------------------------------------------------------------

    @property
    def batches(self) -> int:
        """Batches whose results are out."""
        return self._metrics.batches

    @property
    def restarts(self) -> int:
        """Times that the job was started again after a failure."""
        return self._metrics.restarts

    def _counts(self) -> tuple[int, int]:
        return self.batches, self.restarts

    def ask_to_stop(self) -> None:
        """Let the job stop between two batches, or instead of its next restart; called from any thread."""
        self._job.stop.ask()
        if not self._record.ended:
            self._record.status = JobStatus.CANCELLING

    def stop(self) -> None:
        """Stop between two batches and wait until that is done; what is committed stays."""
        self.ask_to_stop()
        self._thread.join()

    def ask(self, directory: str | None, stop: bool, drain: bool) -> CompletableFuture[str]:
        """Ask for a savepoint in a new folder of a directory; the job takes it between two batches."""
        record, chosen = self._record, directory or self._recovery.directory
        if not chosen:
            raise SavepointError(
                f"No directory is given for a savepoint of '{record.name}': pass one, or set {SAVEPOINT_DIR.key}"
            )
        if record.ended:
            raise SavepointError(f"The job '{record.name}' has ended ({record.status.name}): no savepoint is taken")
        path = f"{chosen.rstrip('/')}/savepoint-{record.job_id[:6]}-{uuid.uuid4().hex[:12]}"
        future = self._savepoints.submit(SavepointRequest(path, stop, drain))
        self._job.stop.woken.set()
        return CompletableFuture(future)

    def accumulators(self) -> dict[str, Any]:
        """The values of the accumulators over committed batches."""
        return self._commits.metrics.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        """The metrics of committed batches so far, as `JobClient.get_metrics` documents them."""
        with self._job.lock:
            return self._metrics.snapshot(self._commits.metrics.subtasks(), self._commits.lost_records)

    def results(self, name: str) -> Iterator[Any]:
        """The collected records of a stream, each of them once, as batches become durable."""
        yield from self._collected.read(name, self.stop)
        self._record.raise_error()
