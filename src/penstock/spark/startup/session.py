"""The Spark session of a job: on an embedded local Spark by default, else on the cluster it was submitted to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pkgutil import iter_modules

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.core.program.dependencies import PythonDependencies
from penstock.core.program.job import JobPlan
from penstock.spark.dependencies import ship
from penstock.spark.failures import translate
from penstock.spark.frames import frame_vertices
from penstock.spark.startup.jvm import Jvm, embedded_settings, launching, prepare_jvm, submitted, take_jvm
from penstock.spark.startup.jvm_exit import forget_dead_jvm, note_jvm
from penstock.spark.startup.quiet import quiet_accumulators, quiet_bridge, quiet_start
from penstock.spark.startup.settings import FORCED, all_settings, given_settings, refuse_forbidden
from penstock.spark.startup.workers import warm_workers, worker_python

__all__ = ["get_session", "job_session"]


def get_session(conf: Configuration, cores: int, warm: str = "") -> SparkSession:
    """A session of the job's own, so that its settings touch no other job's.

    Uses the Spark that runs in this process, if one does, else starts one with `cores` tasks at a time. Settings on
    which correctness rests are refused with other values, also those of a running Spark.

    `warm` names the module that the workers of a job need which follows at once: they are started ahead of time.
    """
    given = given_settings(conf)
    forget_dead_jvm()
    active = SparkSession.getActiveSession()
    session = (_build(conf, given, cores, warm) if active is None else active).newSession()
    note_jvm(session)
    for key, value in all_settings(given).items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    refuse_forbidden({k: v for k in FORCED if (v := session.conf.get(k, None)) is not None})
    return session


def job_session(plan: JobPlan, conf: Configuration, worker: str) -> SparkSession:
    """The session in which a job runs, with the job's dependencies shipped; `worker`: the module its workers need."""
    spark = get_session(conf, plan.partitions, warm=worker)
    ship(spark, PythonDependencies.of(conf))
    if not frame_vertices(plan):
        # no generated code: a row is a whole chunk, and there are too few of them for compiling to pay back
        spark.conf.set("spark.sql.codegen.wholeStage", "false")
        spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return spark


def _build(conf: Configuration, given: dict[str, str], cores: int, warm: str) -> SparkSession:
    embedded = not submitted()
    settings = embedded_settings(given, cores) if embedded else all_settings(given)
    jvm = take_jvm(settings)
    if embedded and jvm is None:
        prepare_jvm(conf)
    quiet_bridge()
    quiet_accumulators()
    with _keeping_ctrl_c(), quiet_start():
        session = _created(lambda: _started(settings, jvm, warm), given.get("spark.master", "this machine"))
    session.sparkContext.setLogLevel(given.get("spark.log.level", "OFF"))
    if embedded:
        _no_local_checksums(session)
        _no_lookup_of_sources(session)
    return session


def _started(settings: dict[str, str], jvm: Jvm | None, warm: str) -> SparkSession:
    """The context and the session; meanwhile Python workers are started in the background, for the first tasks."""
    conf = SparkConf().setAll(list(settings.items()))
    if jvm is None:
        with launching(settings) if "spark.master" in settings else nullcontext():
            context = SparkContext.getOrCreate(conf)
    else:
        with jvm.address():
            gateway = _connect()
        gateway.proc = jvm.process
        context = SparkContext(conf=conf, gateway=gateway)
    context.pythonExec = worker_python(str(context.master))
    if warm and settings.get("spark.master", "").startswith("local"):
        warm_workers(context, warm)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


_connect: Callable[[], JavaGateway] = launch_gateway
"""Connects to the JVM whose address is in the environment."""


def _created(start: Callable[[], SparkSession], where: str) -> SparkSession:
    """Start Spark; if it fails, say what is most often the reason: a master or a setting that is not right."""
    try:
        return start()
    except Exception as error:
        raise ConfigurationError(
            f"Spark could not be started on {where}: {translate(error)}\nIs --master right, does it run, and are the "
            "settings that begin with 'spark.'? `penstock doctor` looks at this machine"
        ) from error


@contextmanager
def _keeping_ctrl_c() -> Iterator[None]:
    """Restore the program's Ctrl-C handler after the block.

    PySpark installs one that cancels all running Spark jobs, but a job must stop between two batches.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _no_local_checksums(session: SparkSession) -> None:
    """Switch off Hadoop's own checksum files on local disks, where they cost a third of a batch.

    Spark's checksums of its checkpoint files take their place.
    """
    jvm = session._jvm
    assert jvm is not None
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(session._jsc.hadoopConfiguration())
    local.setWriteChecksum(False)
    local.setVerifyChecksum(False)


def _no_lookup_of_sources(session: SparkSession) -> None:
    """Tell Spark that no installed module brings a data source, if that is so.

    Spark would start three processes to find out. Such modules are named `pyspark_…`, which can be seen from here.
    """
    if any(module.name.startswith("pyspark_") for module in iter_modules()):
        return
    jvm = session._jvm
    assert jvm is not None
    manager = getattr(getattr(jvm.org.apache.spark.sql.execution.datasources, "DataSourceManager$"), "MODULE$")
    if manager.dataSourceBuilders().isEmpty():
        nothing = jvm.scala.Option.apply(jvm.PythonUtils.toScalaMap({}))
        getattr(manager, "dataSourceBuilders_$eq")(nothing)
