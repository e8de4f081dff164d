"""The one place where program, plan and host meet. Imported late, by `execute()` and the command line."""

from __future__ import annotations

import json
import logging
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.core.attendant import attend, dismiss
from penstock.core.checkpointing import CheckpointingMode
from penstock.core.client import JobClient, JobExecutionResult, JobStatus
from penstock.core.clock import SystemClock
from penstock.core.compat import warn_about_settings, warn_once
from penstock.core.config import Configuration
from penstock.core.config.execution_config import (
    AUTO_UIDS,
    AUTO_WATERMARK_INTERVAL,
    OBJECT_REUSE,
    global_job_parameters,
)
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.own_settings import check_own_settings, check_source_settings
from penstock.core.dependencies import PythonDependencies
from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.guarantees import Guarantee
from penstock.core.job import JobPlan, RuntimeSettings
from penstock.core.poison import PoisonPolicy, poison_policy
from penstock.core.recovery import ACCEPT_CHANGED, SAVEPOINT_PATH, Recovery
from penstock.core.specs import SourceSpec
from penstock.core.starting_job import StartingJob
from penstock.core.types import TypeInformation
from penstock.graph.plan_json import plan_json
from penstock.graph.planned import PlannedGraphs
from penstock.graph.stream_graph import StreamGraph
from penstock.plan.compile import PlanOptions, compile_job, compile_job_graph
from penstock.plan.guarantees import MODE as CHECKPOINT_MODE
from penstock.plan.guarantees import guarantee_lines, guarantees_text
from penstock.runtime.dependencies import dependencies_at_hand

if TYPE_CHECKING:
    from penstock.savepoint.folder import Savepoint

__all__ = [
    "CONF_VARIABLE",
    "PLAN_ONLY",
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

CONF_VARIABLE = "PENSTOCK_CONF"
"""Settings of the command line, as JSON; stronger than the configuration file, weaker than the program (P3)."""

PLAN_ONLY = "penstock.plan-only"
"""Set by `penstock plan`: the program is left at its first `execute()`."""

_LOG = logging.getLogger("penstock.job")

WATCHERS: list[Callable[[JobClient, JobPlan], None]] = []
"""Told of every job that starts in this process; the command line shows its progress so."""

CHECKPOINT_DIR = "execution.checkpointing.dir"
RUNTIME_MODE = "execution.runtime-mode"
MODES = ("STREAMING", "BATCH", "AUTOMATIC")


class PlannedOnly(BaseException):
    """Not an error: leaves a program whose plan alone was wanted. A program's `except Exception` lets it pass."""

    def __init__(self, graphs: PlannedGraphs) -> None:
        super().__init__(graphs)
        self.graphs = graphs

    def render(self, form: str, which: str | None) -> str:
        """One of its graphs, or all, as text, mermaid, svg, html or json."""
        return self.graphs.render(form, which)


def base_configuration() -> Configuration:
    """What an environment starts from: the configuration file, then the command line."""
    conf = Configuration()
    path = os.environ.get("PENSTOCK_CONF_FILE")
    if path:
        conf.add_all(Configuration(_read_file(path)))
    conf.add_all(Configuration(json.loads(os.environ.get(CONF_VARIABLE, "{}"))))
    return conf


def _read_file(path: str) -> dict[str, Any]:
    """A flat JSON file, or `key: value` lines."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ConfigurationError(f"The configuration file {path} cannot be read: {error}") from error
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError as error:
            raise ConfigurationError(f"The configuration file {path} is not JSON: {error}") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    bad = next((line for line in lines if ":" not in line), None)
    if bad is not None:
        raise ConfigurationError(f"The configuration file {path} has a line that is not 'key: value': {bad.strip()!r}")
    return {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in lines)}


def default_parallelism() -> int:
    """As many subtasks as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_host(graph: StreamGraph, conf: Configuration) -> str:
    """All sources bounded and nothing durable asked for: the bounded host; else the streaming host (P10)."""
    check_own_settings(conf)
    conf = with_newest_names(conf)
    asked = conf.get_string("penstock.host", "auto")
    if asked != "auto":
        return asked
    durable = conf.contains_key(CHECKPOINT_DIR) or conf.contains_key("execution.checkpointing.interval")
    durable = durable or bool(Recovery.of(conf).savepoint)
    return "bounded" if is_batch(graph, conf) or (_bounded(graph) and not durable) else "streaming"


def _bounded(graph: StreamGraph) -> bool:
    return all(n.spec.source.bounded for n in graph.nodes if isinstance(n.spec, SourceSpec))


def is_batch(graph: StreamGraph, conf: Configuration) -> bool:
    """Whether the job runs in BATCH mode (P5): asked for, or AUTOMATIC and all sources are bounded."""
    mode = conf.get_string(RUNTIME_MODE, "STREAMING").upper()
    if mode not in MODES:
        raise ConfigurationError(f"{RUNTIME_MODE} must be one of {', '.join(MODES)}, got {mode!r}")
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
    # BATCH goes key group by key group: little of its state is in use at a time, and a page is hardly written twice
    memory = (48 if batch else 256) << 20
    check_own_settings(conf)
    conf = with_newest_names(conf)
    dependencies = PythonDependencies.of(conf)
    settings = RuntimeSettings(
        batch_mode=batch,
        chunk_records=conf.get_integer("penstock.chunk.records", 8192),
        watermark_records=conf.get_integer("penstock.watermark.records", 1024),
        periodic_watermarks=conf.get_duration_ms(AUTO_WATERMARK_INTERVAL, 200) > 0 and not batch,
        per_record_watermarks=conf.get_boolean("penstock.watermark.per-record", False),
        object_reuse=conf.get_boolean(OBJECT_REUSE, False),
        page_bytes=conf.get_integer("penstock.state.page-bytes", (96 if batch else 12) << 10),
        state_budget_bytes=conf.get_integer("penstock.state.budget-bytes", memory),
        sort_budget_bytes=conf.get_integer("penstock.sort.budget-bytes", memory),
        source_buffer_records=conf.get_integer("penstock.source.buffer-records", 65_536),
        source_cancel_timeout_ms=conf.get_integer("penstock.source.cancel-timeout-ms", 5_000),
        job_parameters={**conf.to_dict(), **global_job_parameters(conf)},
        shipped_paths=dependencies.shipped_paths,
        in_archive_folder=bool(dependencies.archives),
        heavy_keys=conf.get_integer("penstock.metrics.heavy-keys", 0),
        poison=_poison(conf),
        count_late=conf.get_boolean("penstock.metrics.late-records", False),
        accept_changed_program=conf.get_boolean(ACCEPT_CHANGED, False),
    )
    chaining = conf.get_boolean("pipeline.operator-chaining.enabled", True)
    auto_uids = conf.get_boolean(AUTO_UIDS, True)
    asked = _asked_guarantee(conf)
    return PlanOptions(parallelism, max_parallelism, chaining, host == "bounded", settings, auto_uids, asked)


def local_options(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> PlanOptions:
    """What a program's settings mean to the local host when a test drives it batch by batch."""
    check_own_settings(conf)
    return plan_options(conf, "local", parallelism, max_parallelism, is_batch(graph, conf))


def _asked_guarantee(conf: Configuration) -> Guarantee | None:
    """What the mode of checkpoints asks for, if it was set; its default asks for nothing (F7)."""
    mode = conf.get_string(CHECKPOINT_MODE, "")
    if not mode:
        return None
    if mode.upper() not in CheckpointingMode.__members__:
        names = ", ".join(CheckpointingMode.__members__)
        raise ConfigurationError(f"{CHECKPOINT_MODE} must be one of {names}, got {mode!r}")
    return Guarantee[mode.upper()]


def _poison(conf: Configuration) -> PoisonPolicy:
    try:
        return poison_policy(conf.get_string("penstock.poison", "fail"))
    except ValueError as error:
        raise ConfigurationError(f"penstock.poison {error}") from None


def launch(graph: StreamGraph, conf: Configuration, parallelism: int, max_parallelism: int) -> JobClient:
    """Plan the program, pick the host, start."""
    if conf.get_boolean(PLAN_ONLY, False):
        raise PlannedOnly(planned(graph, conf, parallelism, max_parallelism))
    warn_about_settings(conf)
    conf = with_newest_names(conf)
    host = choose_host(graph, conf)
    options = plan_options(conf, host, parallelism, max_parallelism, is_batch(graph, conf))
    if options.settings.batch_mode and host == "streaming":
        raise ConfigurationError(
            f"{RUNTIME_MODE} BATCH runs on the bounded host: do not set penstock.host to streaming"
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
    checkpoint = conf.get_string(CHECKPOINT_DIR, "") if host == "streaming" else ""
    if attendant is not None and checkpoint:
        attendant.settle(checkpoint)
    starting.become(client)
    return client


def _start(plan: JobPlan, conf: Configuration, host: str, job_id: str) -> JobClient:
    if host == "bounded" and Recovery.of(conf).savepoint:
        raise ConfigurationError(
            f"{SAVEPOINT_PATH} starts a job from a savepoint, which the bounded host cannot: it keeps no state. "
            "Do not set penstock.host to bounded, nor run in BATCH mode"
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
    env = StreamExecutionEnvironment(base_configuration().set_string("penstock.host", "bounded")).set_parallelism(2)
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
