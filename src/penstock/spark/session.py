"""The Spark session: embedded and local when nothing else is said, else the cluster the job was submitted to (P2)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from pyspark.sql import SparkSession

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError
from penstock.spark.archive import archive_option
from penstock.spark.failures import translate
from penstock.spark.java import find_java
from penstock.spark.quiet import quiet_bridge, quiet_start

__all__ = ["FORCED", "get_session"]

FORCED = {
    # with format 1 a predecessor driver that wakes up overwrites committed state
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    # a second copy of a task would run user functions twice at once
    "spark.speculation": "false",
    # without them a lost shuffle file and a function that is not deterministic lose and double records
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "true",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
"""Settings on which correctness rests; other values are refused."""

_COMPILER = "penstock.jvm.compiler"
_STATE = "spark.sql.streaming.stateStore."
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
    "spark.sql.execution.arrow.transformWithStateInPandas.maxRecordsPerBatch": "256",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "8",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.pollingDelay": "25",  # ms; asking all sources every 10 ms keeps a core busy
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "true",
    # a driver that is restarted every minute or two would hardly ever write a snapshot and remove what is old
    f"{_STATE}maintenanceInterval": "15s",
    f"{_STATE}rowChecksum.enabled": "true",
    f"{_STATE}rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}rocksdb.trackTotalNumberOfRows": "false",
    f"{_STATE}rocksdb.boundedMemoryUsage": "true",
    f"{_STATE}rocksdb.maxMemoryUsageMB": "500",
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    # the one whose files Hadoop's local checksums can be switched off for, see _no_local_checksums
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.python.worker.faulthandler.enabled": "true",
    # a machine under load starts workers slowly; the default of 15 s fails the batch
    "spark.python.authenticate.socketTimeout": "60s",
    "spark.pyspark.python": sys.executable,
    "spark.pyspark.driver.python": sys.executable,
}


def get_session(conf: Configuration, cores: int) -> SparkSession:
    """A session of the job's own, so that its settings touch no other; on the Spark that runs already, if one does."""
    given = {k: v for k, v in conf.to_dict().items() if k.startswith("spark.")}
    _refuse_forbidden(given)
    active = SparkSession.getActiveSession()
    session = (_build(conf, given, cores) if active is None else active).newSession()
    for key, value in {**_DEFAULTS, **given, **FORCED}.items():
        if session.conf.isModifiable(key):
            session.conf.set(key, value)
    _refuse_forbidden({k: v for k in FORCED if (v := session.conf.get(k, None)) is not None})
    return session


def _refuse_forbidden(given: dict[str, str]) -> None:
    for key, value in FORCED.items():
        if key in given and given[key].lower() != value.lower():
            raise ConfigurationError(f"{key} must be {value} (found {given[key]}): exactly-once results depend on it")


def _build(conf: Configuration, given: dict[str, str], cores: int) -> SparkSession:
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not submitted:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ["JAVA_HOME"] = find_java()
        _prepare_jvm(conf.get_string(_COMPILER, "quick"))
    builder = SparkSession.builder.appName("penstock")
    for key, value in {**_DEFAULTS, **given, **FORCED}.items():
        builder = builder.config(key, value)
    if not submitted:
        master = _checked_master(given.get("spark.master", f"local[{cores}]"))
        builder = builder.master(master)
        if not master.startswith("local"):
            builder = builder.config("spark.executorEnv.PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    quiet_bridge()
    with _keeping_ctrl_c(), quiet_start():
        session = _created(builder, given.get("spark.master", "this machine"))
    session.sparkContext.setLogLevel(given.get("spark.log.level", "OFF"))
    if not submitted:
        _no_local_checksums(session)
        _no_lookup_of_sources(session)
    return session


def _checked_master(master: str) -> str:
    """The launcher of the JVM would end with a trace of its own."""
    if master != "yarn" and not master.startswith(("local", "spark://", "k8s://")):
        raise ConfigurationError(
            f"{master!r} is no Spark master: give spark://HOST:PORT, yarn, k8s://HOST:PORT or local[CORES]"
        )
    return master


def _created(builder: Any, where: str) -> SparkSession:
    """Start Spark; what it cannot start with is most often a master, or a setting, that is not right (P9)."""
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:
        raise ConfigurationError(
            f"Spark could not be started on {where}: {translate(error)}\nIs --master right, does it run, and are the "
            "settings that begin with 'spark.'? `penstock doctor` looks at this machine"
        ) from error
    return session


@contextmanager
def _keeping_ctrl_c() -> Iterator[None]:
    """PySpark installs a Ctrl-C handler that cancels all running jobs; ours are to stop between two batches (P8)."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _no_local_checksums(session: SparkSession) -> None:
    """On a local disk Hadoop's own checksum files cost a third of a batch; Spark's checksums take their place."""
    jvm = session._jvm
    assert jvm is not None
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(session._jsc.hadoopConfiguration())
    local.setWriteChecksum(False)
    local.setVerifyChecksum(False)


def _no_lookup_of_sources(session: SparkSession) -> None:
    """Spark starts three processes to find data sources among installed modules; if none is there, there is nothing.

    They are those named `pyspark_…`; one look from here does as well.
    """
    if any(module.name.startswith("pyspark_") for module in iter_modules()):
        return
    jvm = session._jvm
    assert jvm is not None
    manager = getattr(getattr(jvm.org.apache.spark.sql.execution.datasources, "DataSourceManager$"), "MODULE$")
    if manager.dataSourceBuilders().isEmpty():
        nothing = jvm.scala.Option.apply(jvm.PythonUtils.toScalaMap({}))
        getattr(manager, "dataSourceBuilders_$eq")(nothing)


def _prepare_jvm(compiler: str) -> None:
    """Options of the driver's JVM: quiet logs, its quick compiler, and a class-data archive that halves its start.

    The JVM only carries chunks to and fro here; what its second compiler gains is less than it takes, for minutes.
    """
    if compiler not in ("quick", "full"):
        raise ConfigurationError(f"{_COMPILER} is quick or full (found {compiler!r})")
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    quiet = Path(__file__).with_name("log4j2.properties")
    if "log4j2.configurationFile" not in options:
        options += f" -Dlog4j2.configurationFile={quiet}"
    if compiler == "quick" and "Tiered" not in options:
        options += " -XX:TieredStopAtLevel=1"
    if "SharedArchiveFile" not in options and "ArchiveClassesAtExit" not in options:
        options += " " + archive_option(os.environ["JAVA_HOME"])
    os.environ["SPARK_SUBMIT_OPTS"] = options.strip()
