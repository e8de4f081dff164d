"""The one place where program, plan and host meet. Imported late, by `execute()` and the command line."""

from __future__ import annotations

import logging
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.core.attendant import attend, dismiss
from penstock.core.client import JobClient, JobExecutionResult, JobStatus
from penstock.core.clock import SystemClock
from penstock.core.compat import warn_about_settings, warn_once
from penstock.core.config import Configuration
from penstock.core.config.base import base_configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.accepted import CHECKPOINT_MODE
from penstock.core.config.options.checkpoints import (
    ACCEPT_CHANGED,
    CHECKPOINT_DIR,
    CHECKPOINT_INTERVAL,
    SAVEPOINT_PATH,
)
from penstock.core.config.options.job import (
    AUTO_UIDS,
    AUTO_WATERMARK_INTERVAL,
    CHAINING,
    HEAVY_KEYS,
    HOST,
    JOB_PARAMETERS,
    LATE_RECORDS,
    OBJECT_REUSE,
    PER_RECORD_WATERMARKS,
    PLAN_ONLY,
    POISON,
    RUNTIME_MODE,
    WATERMARK_RECORDS,
)
from penstock.core.config.options.tuning import (
    CHUNK_RECORDS,
    SORT_BUDGET,
    SOURCE_BUFFER,
    SOURCE_CANCEL_TIMEOUT,
    STATE_BUDGET,
    STATE_PAGE,
)
from penstock.core.config.table import check_settings, check_source_settings
from penstock.core.dependencies import PythonDependencies
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.guarantees import Guarantee
from penstock.core.job import JobPlan, RuntimeSettings
from penstock.core.poison import poison_policy
from penstock.core.recovery import Recovery
from penstock.core.specs import SourceSpec
from penstock.core.starting_job import StartingJob
from penstock.core.types import TypeInformation
from penstock.graph.plan_json import plan_json
from penstock.graph.planned import PlannedGraphs
from penstock.graph.stream_graph import StreamGraph
from penstock.plan.compile import PlanOptions, compile_job, compile_job_graph
from penstock.plan.guarantees import guarantee_lines, guarantees_text
from penstock.runtime.dependencies import dependencies_at_hand

if TYPE_CHECKING:
    from penstock.savepoint.folder import Savepoint

__all__ = [
    "WATCHERS",
    "PlannedOnly",
    "append_to_table",
    "ask_job",
    "base_configuration",
    "checkpoint_to_savepoint",
    "choose_host",
    "default_parallelism",
    "execution_plan",
    "explain",
    "java_version",
    "launch",
    "local_options",
    "planned",
    "queried_tables",
    "read_frame",
    "spark_session",
    "try_spark",
]

_LOG = logging.getLogger("penstock.job")

WATCHERS: list[Callable[[JobClient, JobPlan], None]] = []
"""Told of every job that starts in this process; the command line shows its progress so."""


class PlannedOnly(BaseException):
    """Not an error: leaves a program whose plan alone was wanted. A program's `except Exception` lets it pass."""

    def __init__(self, graphs: PlannedGraphs) -> None:
        super().__init__(graphs)
        self.graphs = graphs

    def render(self, form: str, which: str | None) -> str:
        """One of its graphs, or all, as text, mermaid, svg, html or json."""
        return self.graphs.render(form, which)


def default_parallelism() -> int:
    """As many subtasks as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_host(graph: StreamGraph, conf: Configuration) -> str:
    """All sources bounded and nothing durable asked for: the bounded host; else the streaming host (P10)."""
    check_settings(conf)
    conf = with_newest_names(conf)
    asked = conf.get(HOST)
    if asked != "auto":
        return asked
    durable = conf.contains_key(CHECKPOINT_DIR.key) or conf.contains_key(CHECKPOINT_INTERVAL.key)
    durable = durable or bool(Recovery.of(conf).savepoint)
    return "bounded" if is_batch(graph, conf) or (_bounded(graph) and not durable) else "streaming"


def _bounded(graph: StreamGraph) -> bool:
    return all(n.spec.source.bounded for n in graph.nodes if isinstance(n.spec, SourceSpec))


def is_batch(graph: StreamGraph, conf: Configuration) -> bool:
    """Whether the job runs in BATCH mode (P5): asked for, or AUTOMATIC and all sources are bounded."""
    mode = conf.get(RUNTIME_MODE)
    if mode == "BATCH" and not _bounded(graph):
        names = ", ".join(
            f"'{n.name}'" for n in graph.nodes if isinstance(n.spec, SourceSpec) and not n.spec.source.bounded
        )
        raise ProgramError(f"BATCH mode needs bounded sources, but {names} never ends: use STREAMING or AUTOMATIC")
    return mode == "BATCH" or (mode == "AUTOMATIC" and _bounded(graph))


def plan_options(
    conf: Configuration, host: str, parallelism: int, max_parallelism: int, batch: bool = False
) -> PlanOptions:
    """The part of the settings that plans depend on."""
    check_settings(conf)
    conf = with_newest_names(conf)
    dependencies = PythonDependencies.of(conf)
    settings = RuntimeSettings(
        batch_mode=batch,
        chunk_records=conf.get(CHUNK_RECORDS),
        watermark_records=conf.get(WATERMARK_RECORDS),
        periodic_watermarks=conf.get(AUTO_WATERMARK_INTERVAL) > 0 and not batch,
        per_record_watermarks=conf.get(PER_RECORD_WATERMARKS),
        object_reuse=conf.get(OBJECT_REUSE),
        page_bytes=conf.get(STATE_PAGE, STATE_PAGE.default_in(batch)),
        state_budget_bytes=conf.get(STATE_BUDGET, STATE_BUDGET.default_in(batch)),
        sort_budget_bytes=conf.get(SORT_BUDGET, SORT_BUDGET.default_in(batch)),
        source_buffer_records=conf.get(SOURCE_BUFFER),
        source_cancel_timeout_ms=conf.get(SOURCE_CANCEL_TIMEOUT),
        job_parameters={**conf.to_dict(), **conf.get(JOB_PARAMETERS)},
        shipped_paths=dependencies.shipped_paths,
        in_archive_folder=bool(dependencies.archives),
        heavy_keys=conf.get(HEAVY_KEYS),
        poison=poison_policy(conf.get(POISON)),
        count_late=conf.get(LATE_RECORDS),
        accept_changed_program=conf.get(ACCEPT_CHANGED),
    )
    chaining = conf.get(CHAINING)
    auto_uids = conf.get(AUTO_UIDS)
    asked = _asked_guarantee(conf)
    return PlanOptions(parallelism, max_parallelism, chaining, host == "bounded", settings, auto_uids, asked)


def local_options(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlanOptions:
    """What a program's settings mean to the local host when a test drives it batch by batch."""
    check_settings(conf)
    return plan_options(conf, "local", parallelism, max_parallelism, is_batch(graph, conf))


def _asked_guarantee(conf: Configuration) -> Guarantee | None:
    """What the mode of checkpoints asks for, if it was set; its default asks for nothing (F7)."""
    return Guarantee[conf.get(CHECKPOINT_MODE)] if conf.contains_key(CHECKPOINT_MODE.key) else None


def launch(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> JobClient:
    """Plan the program, pick the host, start."""
    if conf.get(PLAN_ONLY):
        raise PlannedOnly(planned(graph, conf, parallelism, max_parallelism))
    warn_about_settings(conf)
    conf = with_newest_names(conf)
    host = choose_host(graph, conf)
    options = plan_options(conf, host, parallelism, max_parallelism, is_batch(graph, conf))
    if options.settings.batch_mode and host == "streaming":
        raise ConfigurationError(
            f"{RUNTIME_MODE.key} BATCH runs on the bounded host: do not set {HOST.key} to streaming"
        )
    plan = compile_job(graph, options)
    check_source_settings(conf, [vertex.uid for vertex in plan.sources])
    _LOG.info(guarantees_text(graph))
    client = _start_local(plan, conf) if host == "local" else _start_listed(plan, conf, host)
    for watcher in WATCHERS:
        watcher(client, plan)
    return client


def _start_local(plan: JobPlan, conf: Configuration) -> JobClient:
    return _LocalClient(plan, _local_dependencies(conf), Recovery.of(conf))


def _start_listed(plan: JobPlan, conf: Configuration, host: str) -> JobClient:
    """Start a job that is listed, and can be canceled, from the first moment on: Spark takes seconds to start."""
    starting = StartingJob(uuid.uuid4().hex)
    attendant = attend(starting, plan.name, host, "", SystemClock().now_ms())
    try:
        client = _start(plan, conf, host, starting.job_id)
    except BaseException:
        starting.failed()
        dismiss(starting)
        raise
    checkpoint = conf.get(CHECKPOINT_DIR) if host == "streaming" else ""
    if attendant is not None and checkpoint:
        attendant.settle(checkpoint)
    starting.become(client)
    return client


def _start(plan: JobPlan, conf: Configuration, host: str, job_id: str) -> JobClient:
    if host == "bounded" and Recovery.of(conf).savepoint:
        raise ConfigurationError(
            f"{SAVEPOINT_PATH.key} starts a job from a savepoint, which the bounded host cannot: it keeps no state. "
            f"Do not set {HOST.key} to bounded, nor run in BATCH mode"
        )
    from penstock.spark.jvm import begin_jvm

    begin_jvm(conf, plan.partitions)
    if host == "bounded":
        from penstock.spark.bounded import start_bounded

        return start_bounded(plan, conf, job_id)
    from penstock.spark.streaming import start_streaming

    return start_streaming(plan, conf, job_id)


def _local_dependencies(conf: Configuration) -> PythonDependencies:
    found = PythonDependencies.of(conf)
    if found.executable not in (None, sys.executable):
        warn_once("StreamExecutionEnvironment.set_python_executable")
    return found


def explain(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> str:
    """The three graphs and the guarantees as text (G1, F7)."""
    return planned(graph, conf, parallelism, max_parallelism).render()


def planned(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlannedGraphs:
    """The graphs and guarantees of a program, to be shown; runs nothing (G1, F7)."""
    host = choose_host(graph, conf)
    options = plan_options(conf, host, parallelism, max_parallelism, is_batch(graph, conf))
    job_graph = compile_job_graph(graph, options)
    nodes = (node for vertex in job_graph.vertices for node in vertex.nodes)
    check_source_settings(conf, [str(node.uid) for node in nodes if isinstance(node.spec, SourceSpec)])
    return PlannedGraphs(graph, job_graph, guarantee_lines(graph))


def execution_plan(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> str:
    """The program in Flink's JSON."""
    options = plan_options(conf, choose_host(graph, conf), parallelism, max_parallelism)
    return plan_json(compile_job_graph(graph, options))


def spark_session(conf: Configuration, parallelism: int) -> Any:
    """The session in which DataFrames meet jobs; started if none runs."""
    from penstock.spark.jvm import begin_jvm

    begin_jvm(conf, parallelism)
    from penstock.spark.session import get_session

    return get_session(conf, parallelism)


def java_version() -> tuple[str, str]:
    """The Java that an embedded Spark would run on: home and version; JavaError if there is none."""
    from penstock.spark.java import find_java, version_of

    home = find_java()
    return home, version_of(home)


def try_spark() -> str:
    """Start an embedded Spark and run a job on it; says how long that took."""
    from penstock.api.environment import StreamExecutionEnvironment

    clock = SystemClock()
    began_ms = clock.now_ms()
    env = StreamExecutionEnvironment(base_configuration().set_string(HOST.key, "bounded")).set_parallelism(2)
    squares = env.from_sequence(1, 3).key_by(lambda n: n % 2).map(lambda n: n * n).execute_and_collect()
    assert sorted(squares) == [1, 4, 9], "the job gave a wrong result"
    took_s = (clock.now_ms() - began_ms) / 1000
    return f"{env.get_spark_session().version} started and ran a job in {took_s:.1f} s"


def read_frame(spark: Any, folder: str, row_type: TypeInformation | None) -> Any:
    """The DataFrame of Parquet files that a job has written."""
    from penstock.spark.tables import read_parquet

    return read_parquet(spark, folder, row_type)


def queried_tables(spark: Any, query: str) -> set[str]:
    """The tables and views that a query reads, in lower case."""
    from penstock.spark.tables import queried_tables

    return queried_tables(spark, query)


def append_to_table(table: str, paths: Sequence[str]) -> None:
    """Append Parquet files to a table of Spark's catalog."""
    from penstock.spark.tables import append_parquet

    append_parquet(spark_session(base_configuration(), 1), table, paths)


def ask_job(checkpoint: str, path: str, ends: bool, drain: bool, timeout_s: int | None) -> str:
    """Ask the job that runs on a checkpoint for a savepoint, or to end; the savepoint's path, if there is one.

    Without a time-out, waits for as long as the job lives.
    """
    from penstock.savepoint.requests import Request, ask

    whole = os.path.abspath(path) if path and "://" not in path else path  # the job may have been started elsewhere
    request = Request(whole, ends, drain)
    limit_ms = None if timeout_s is None else timeout_s * 1000
    return ask(checkpoint, request, SystemClock(), _ANSWER_MS, _FINISH_MS, limit_ms)


_ANSWER_MS, _FINISH_MS = 60_000, 600_000


def checkpoint_to_savepoint(checkpoint: str, path: str) -> Savepoint:
    """Write the last committed state of a checkpoint as a savepoint, by Spark."""
    from penstock.spark.start import checkpoint_state

    return checkpoint_state(spark_session(base_configuration(), 1), checkpoint, path)


class _LocalClient(JobClient):
    """Runs the local host when waited for."""

    def __init__(self, plan: JobPlan, dependencies: PythonDependencies, recovery: Recovery) -> None:
        from penstock.testing.local_host import LocalJob

        self._dependencies = dependencies
        self._job = LocalJob(plan, savepoint=recovery.savepoint or None, allow_unclaimed=recovery.allow_unclaimed)
        self._status = JobStatus.RUNNING

    @property
    def job_id(self) -> str:
        return "local"

    @property
    def status(self) -> JobStatus:
        return self._status

    def stop(self) -> None:
        self._status = JobStatus.CANCELED
        self._job.stop()

    def wait(self) -> JobExecutionResult:
        started_ms = self._job.clock.now_ms()
        try:
            for _ in self._steps():
                pass
        except KeyboardInterrupt:  # Ctrl-C stops the job, on every host
            self.stop()
        return JobExecutionResult(
            self._job.plan.name,
            "local",
            self._job.clock.now_ms() - started_ms,
            self._job.batch_id,
            metrics=self.get_metrics(),
            accumulators=self.accumulators(),
        )

    def accumulators(self) -> dict[str, Any]:
        return self._job.book.accumulators()

    def get_metrics(self) -> dict[str, Any]:
        return {"subtasks": self._job.book.subtasks(), "lost_records": self._job.ledger.lost_records}

    def _steps(self) -> Iterator[None]:
        if self._status is not JobStatus.RUNNING:
            return
        try:
            with dependencies_at_hand(self._dependencies):
                yield from self._job.steps()
        except GeneratorExit:
            raise
        except KeyboardInterrupt:
            self.stop()
            raise
        except BaseException:
            self._status = JobStatus.FAILED
            raise
        if self._status is JobStatus.RUNNING:
            self._status = JobStatus.FINISHED

    def results(self, name: str) -> Iterator[Any]:
        given = 0
        for _ in chain(self._steps(), [None]):
            found = self._job.results.get(name, [])
            yield from found[given:]
            given = len(found)
