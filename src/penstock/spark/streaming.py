"""The streaming host: Structured Streaming in micro-batches; every batch is a checkpoint (F2)."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import shutil
import tempfile
import threading
import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.core.attendant import dismiss
from penstock.core.checkpointed import checkpointed_function
from penstock.core.client import JobClient, JobExecutionResult, JobStatus
from penstock.core.clock import SystemClock
from penstock.core.config import Configuration
from penstock.core.errors import DamagedCheckpointError, JobFailedError, PenstockError, SavepointError, SparkDiedError
from penstock.core.futures import CompletableFuture
from penstock.core.job import JobPlan
from penstock.core.recovery import SAVEPOINT_DIR, Recovery
from penstock.core.restart import RestartStrategy, restart_strategy
from penstock.core.scratch import scratch_folder
from penstock.runtime.admission import admission, read_by
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.commit_coordinator import CommitCoordinator
from penstock.runtime.local_classes import enter_job
from penstock.runtime.operator_state import RunStart
from penstock.runtime.state.page import NO_TIMER
from penstock.savepoint.requests import Request
from penstock.spark.bundle import make_bundle
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.damage import check_state
from penstock.spark.death import death_behind
from penstock.spark.failures import looks_damaged, translate
from penstock.spark.frames import frame_vertices, union_stream_frames
from penstock.spark.frozen_frames import freeze_frames
from penstock.spark.intake import ControlFile, IntakeOptions, intake_source
from penstock.spark.job_thread import JobThread
from penstock.spark.kept_events import sweep_events
from penstock.spark.processor import StageProcessor
from penstock.spark.rows import SCHEMA, from_arrow
from penstock.spark.service import Service
from penstock.spark.session import job_session
from penstock.spark.start import find_start
from penstock.spark.state_reader import committed_union_lists
from penstock.spark.watchman import Watchman

__all__ = ["StreamingJob", "start_streaming"]

_LOG = logging.getLogger("penstock.job")
_POLL_MS = 5
_IDLE_MS = 100
_END = object()


def start_streaming(plan: JobPlan, conf: Configuration, job_id: str = "") -> JobClient:
    """Start a streaming job; it is supervised by a thread of its own."""
    spark = job_session(plan, conf, StageProcessor.__module__)
    return StreamingJob(plan, conf, spark, job_id)


class StreamingJob(JobClient):
    """Runs the query, releases what each batch delivered once it is durable, restarts after failures."""

    def __init__(self, plan: JobPlan, conf: Configuration, spark: SparkSession, job_id: str = "") -> None:
        # configuration
        self._conf, self._spark = conf, spark
        make_bundle(plan)  # refuses what cannot be sent before anything is claimed
        self._id = job_id or uuid.uuid4().hex
        self._clock = SystemClock()
        self._scratch = tempfile.mkdtemp(prefix="job-", dir=scratch_folder())
        self._recovery = Recovery.of(conf)
        start = find_start(
            spark,
            Checkpoint(spark, self._checkpoint_location()),
            plan,
            self._recovery.savepoint,
            self._recovery.allow_unclaimed,
        )
        self._checkpoint, self._savepoint = start.checkpoint, start.savepoint
        self._plan = plan = freeze_frames(start.plan, self._checkpoint.root.location, conf)
        self._bundle = make_bundle(plan)
        self._admission = admission(plan, conf)
        self._strategy: RestartStrategy = restart_strategy(conf, plan.name)
        # of the job
        self._status = JobStatus.CREATED
        self._error: PenstockError | None = None
        self._queues: dict[str, queue.Queue[Any]] = {s.name: queue.Queue() for s in plan.collected}
        self._lock = threading.RLock()
        self._ledger = CommitCoordinator(plan, self._deliver, partial(print, flush=True))
        self._started_ms = self._clock.now_ms()
        self._ended_ms = self._started_ms
        self.batches = 0
        self.restarts = 0
        self._failures, self._last_failure = 0, ""
        self._halted = threading.Event()
        self._batch_ms: dict[int, int] = {}
        self._release_ms = 0
        self._service = Service(spark, self._checkpoint, plan, self._clock)
        self._watchman = Watchman(self._checkpoint, self._clock)
        # of the current run
        self._control = ControlFile(os.path.join(self._scratch, "control.json"))
        self._said: dict[str, Any] = {}
        self._query: StreamingQuery | None = None
        self._held_batch = -1
        self._released: int | None = None
        self._due_ms: int | None = None
        self._finished = False
        self._stopping = self._cut = False
        self._ran = threading.Event()
        self._thread = JobThread(self._supervise, f"penstock-{self._id}")

    def _checkpoint_location(self) -> str:
        given = self._conf.get_string("execution.checkpointing.dir", "")
        return given or os.path.join(self._scratch, "checkpoint")

    # -- supervision ------------------------------------------------------------------------------

    def _supervise(self) -> None:
        try:
            while True:
                error = self._run_once()
                if error is None:
                    ended = self._finished or self._service.saved or not self._stopping
                    self._status = JobStatus.FINISHED if ended else JobStatus.CANCELED
                    return
                self._watchman.check()
                self._failures += 1
                self._last_failure = str(error)
                delay_ms = self._strategy.next_delay_ms(self._clock.now_ms())
                if delay_ms is None or self._stopping or isinstance(error, SparkDiedError):
                    raise error
                if not self._await_restart(error, delay_ms):
                    self._status = JobStatus.CANCELED
                    return
        except BaseException as error:
            self._error = death_behind(error, self._spark) or translate(error, self._checkpoint.location)
            self._status = JobStatus.FAILED
        finally:
            self._finish()

    def _await_restart(self, error: PenstockError, delay_ms: int) -> bool:
        """Tell why the job is restarted, and wait; False if it was stopped meanwhile."""
        self._status = JobStatus.RESTARTING
        self.restarts += 1
        _LOG.warning("Job '%s' failed, restart %d in %d ms: %s", self._plan.name, self.restarts, delay_ms, error)
        return not self._halted.wait(delay_ms / 1000)

    def _finish(self) -> None:
        self._ended_ms = self._clock.now_ms()
        with contextlib.suppress(Exception):
            self._ledger.clean(self._clock)
            self._ledger.close()
        with contextlib.suppress(Exception):
            self._watchman.check()
            sweep_events(self._checkpoint)
        for waiting in self._queues.values():
            waiting.put(_END)
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._service.close()

    def _run_once(self) -> PenstockError | None:
        """One run of the query; the error it failed with, if it failed."""
        self._query, self._finished, self._cut = None, False, False
        self._released = self._due_ms = None
        self._say()
        self._checkpoint.begin_run()
        try:
            sweep_events(self._checkpoint)
            self._query = self._start(RunStart(uuid.uuid4().hex, self._union_lists(), self.restarts))
            self._status = JobStatus.CANCELLING if self._stopping else JobStatus.RUNNING
            self._watch(self._query)
            failed: Exception | None = self._query.exception()
        except Exception as error:
            failed = error
            if self._query is not None and self._query.isActive:
                self._query.stop()
        self._settle()
        return self._explain(failed) if failed is not None and not self._cut else None

    def _explain(self, failed: Exception) -> PenstockError:
        """The error to show; if it smacks of damage but Spark names no file, the file that is damaged."""
        died = death_behind(failed, self._spark)
        if died is not None:
            return died
        error = translate(failed, self._checkpoint.location)
        if isinstance(error, JobFailedError) and looks_damaged(str(failed)):
            try:
                check_state(self._checkpoint)
            except DamagedCheckpointError as damage:
                return damage
        return error

    def _union_lists(self) -> dict[tuple[bytes, str], list[Any]]:
        """What union lists hold at the start of a run (S3); read only if a function may have one."""
        plan, commits = self._plan, self._checkpoint.batches("commits")
        if not any(checkpointed_function(op.spec) for v in plan.vertices for op in v.operators):
            return {}
        if commits:
            return committed_union_lists(self._spark, self._checkpoint, plan.stage_count, commits[-1])
        return self._savepoint.union_lists() if self._savepoint is not None else {}

    def _start(self, start: RunStart) -> StreamingQuery:
        run_id = start.run_id
        source = intake_source(
            IntakeOptions(
                self._bundle,
                run_id,
                os.path.join(self._scratch, "control.json"),
                self._admission.limits(),
                self._savepoint,
                self._checkpoint.root.location,
            )
        )
        self._spark.dataSource.register(source)
        intake: DataFrame = self._spark.readStream.format(source.name()).load()
        frame = union_stream_frames(intake, self._plan, self._bundle, run_id)
        self._spark.conf.set("spark.sql.shuffle.partitions", str(self._plan.partitions))
        for level in range(1, self._plan.stage_count + 1):
            frame = frame.groupBy("label").transformWithStateInPandas(
                StageProcessor(self._bundle, level, start), SCHEMA, "append", "none"
            )
        return (
            frame.writeStream.foreachBatch(self._batch)
            .queryName(f"{self._plan.name}-{run_id[:8]}")
            .option("checkpointLocation", self._checkpoint.location)
            .trigger(processingTime="0 seconds")
            .start()
        )

    def _watch(self, query: StreamingQuery) -> None:
        """Release batches as they become durable; stop between batches when asked to, or when the input has ended."""
        while query.isActive:
            with self._lock:
                if self._ledger.holding and self._durable(query):
                    self._release()
                    self._time_batch(query)
                idle = not self._ledger.holding
            if idle:
                self._watchman.look()
                self._heed(query)
            if idle and (self._finished or self._stopping) and self._between_batches(query):
                self._time_batch(query)
                query.stop()
                return
            if not idle:
                self._clock.sleep_ms(_POLL_MS)
            elif self._ran.wait(_IDLE_MS / 1000):
                self._ran.clear()

    def _heed(self, query: StreamingQuery) -> None:
        """Do what is asked for, once the job stands still between two batches.

        The first batch of a run comes first: it commits what the last one prepared.
        """
        if self._released is not None and self._service.heed(
            self._released, self._finished, lambda: self._between_batches(query)
        ):
            self._stopping = True
        self._say()

    def _say(self) -> None:
        """Tell the planner: to stop, to hold still for a savepoint, to end all sources; and the next timer."""
        with self._lock:
            begun = self._released is not None
            words = {
                "stop": self._stopping,
                "hold": begun and self._service.holds,
                "drain": begun and self._service.drains,
                "next_timer_ms": self._due_ms,
                "limits": self._admission.limits(),
            }
            if words != self._said:
                self._said = words
                self._control.write(**words)

    def _time_batch(self, query: StreamingQuery) -> None:
        """Note how long the last batch took that Spark has reported on; the last thousand are kept (F12)."""
        progress = query._jsq.lastProgress()
        if progress is not None and progress.batchId() <= self._held_batch:
            self._batch_ms[progress.batchId()] = progress.batchDuration()
            if len(self._batch_ms) > 1000:
                del self._batch_ms[next(iter(self._batch_ms))]

    def _between_batches(self, query: StreamingQuery) -> bool:
        return self._finished or not query.status["isTriggerActive"]

    def _durable(self, query: StreamingQuery) -> bool:
        """Whether this very query has committed the batch that is held back.

        That a commit file exists is not enough: it may be another driver's, of the same batch but with other results.
        """
        progress = query._jsq.lastProgress()
        return (
            progress is not None
            and progress.batchId() >= self._held_batch
            and bool(progress.durationMs().containsKey("commitOffsets"))
        )

    def _settle(self) -> None:
        """The query has ended: what it held back is released if its batch is durable, else forgotten.

        Nothing is lost if it was durable after all: the next run finds the committables in its state.
        """
        with self._lock:
            if self._ledger.holding:
                if self._query is not None and self._durable(self._query):
                    self._release()
                else:
                    self._ledger.drop()

    # -- batches ----------------------------------------------------------------------------------

    def _batch(self, frame: DataFrame, batch_id: int) -> None:
        """Called by Spark for every batch; the batch runs inside, by the one action here."""
        begun_ms = self._clock.now_ms()
        with self._lock:
            if self._ledger.holding:
                self._release()
            self._cut = self._stopping and bool(frame_vertices(self._plan))
        if self._cut:
            raise InterruptedError("The job stops between two batches: a DataFrame would go on for ever")
        self._watchman.check()
        enter_job(self._plan)
        output = BatchOutput(from_arrow(frame.toArrow().to_batches(), 0))
        self._watchman.check()  # a successor may have come meanwhile: Spark must not commit the batch
        with self._lock:
            self._held_batch = batch_id
            self._ledger.hold(output)
            self._finished = output.finished
            output.batch_ms = self._clock.now_ms() - begun_ms
            self._note(output)
        self._ran.set()

    def _release(self) -> None:
        self._checkpoint.seal(self._held_batch)
        begun_ms = self._clock.now_ms()
        self._ledger.release()
        self._release_ms = self._clock.now_ms() - begun_ms
        if self._released is None:
            self._checkpoint.forget_predecessors()
        self._released = self._held_batch
        self.batches += 1
        self._strategy.note_progress()

    def _note(self, output: BatchOutput) -> None:
        assert output.batch_ms is not None
        self._admission.note(output.batch_ms + self._release_ms, read_by(self._plan, output.metrics))
        due = min((entry["next_timer_ms"] for entry in output.metrics), default=NO_TIMER)
        self._due_ms = None if due == NO_TIMER else due
        self._say()

    def _deliver(self, name: str, values: list[Any]) -> None:
        waiting = self._queue(name)
        for value in values:
            waiting.put(value)

    def _queue(self, name: str) -> queue.Queue[Any]:
        with self._lock:
            return self._queues.setdefault(name, queue.Queue())

    # -- the client ---------------------------------------------------------------------------------

    @property
    def job_id(self) -> str:
        return self._id

    @property
    def status(self) -> JobStatus:
        return self._status

    def ask_to_stop(self) -> None:
        self._stopping = True
        self._halted.set()
        self._ran.set()  # wakes the job, which tells the planner
        if not self._status.is_globally_terminal_state():
            self._status = JobStatus.CANCELLING

    def stop(self) -> None:
        self.ask_to_stop()
        self._thread.join()

    def ask(self, directory: str | None, stop: bool, drain: bool) -> CompletableFuture[str]:
        chosen = directory or self._recovery.directory
        if not chosen:
            raise SavepointError(
                f"No directory is given for a savepoint of '{self._plan.name}': pass one, or set {SAVEPOINT_DIR}"
            )
        if self._status.is_globally_terminal_state():
            raise SavepointError(f"The job '{self._plan.name}' has ended ({self._status.name}): no savepoint is taken")
        path = f"{chosen.rstrip('/')}/savepoint-{self._id[:6]}-{uuid.uuid4().hex[:12]}"
        future = self._service.inbox.put(Request(path, stop, drain))
        self._ran.set()
        return CompletableFuture(future)

    def wait(self) -> JobExecutionResult:
        self._thread.join_or_stop(self.stop)
        dismiss(self)
        if self._error is not None:
            raise self._error
        return JobExecutionResult(
            self._plan.name,
            self._id,
            self._ended_ms - self._started_ms,
            self.batches,
            self.restarts,
            self.get_metrics(),
            self.accumulators(),
        )

    def accumulators(self) -> dict[str, Any]:
        return self._ledger.metrics.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        with self._lock:
            return {
                "subtasks": self._ledger.metrics.subtasks(),
                "batch_ms": list(self._batch_ms.values()),
                "lost_records": self._ledger.lost_records,
                "limits": self._admission.limits(),
                "restarts": self.restarts,
                "failures": self._failures,
                "last_failure": self._last_failure,
            }

    def _next(self, waiting: queue.Queue[Any]) -> Any:
        try:
            return waiting.get()
        except KeyboardInterrupt:  # Ctrl-C stops the job, also for a program that reads its results
            self.stop()
            raise

    def results(self, name: str) -> Iterator[Any]:
        waiting = self._queue(name)
        while (value := self._next(waiting)) is not _END:
            yield value
        waiting.put(_END)  # for who asks again
        if self._error is not None:
            raise self._error
