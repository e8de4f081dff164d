"""Spark's settings: those that correctness rests on, Penstock's defaults, and those that the program gives.

Imports nothing of PySpark: the JVM is started with these settings while PySpark is still being imported.
"""

from __future__ import annotations

import sys

from penstock.core.config import Configuration
from penstock.core.config.options.spark import FORCED_OPTIONS, SPARK_MASTER
from penstock.core.errors import ConfigurationError

__all__ = ["FORCED", "all_settings", "checked_master", "given_settings", "refuse_forbidden"]

FORCED = {option.key: option.default for option in FORCED_OPTIONS}
"""Settings on which correctness rests; other values are refused."""

_STATE = "spark.sql.streaming.stateStore."
_DEFAULTS = {
    "spark.app.name": "penstock",
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


def given_settings(conf: Configuration) -> dict[str, str]:
    """Spark's settings that the program gives. Raises ConfigurationError for values that `FORCED` excludes."""
    given = {k: v for k, v in conf.to_dict().items() if k.startswith("spark.")}
    refuse_forbidden(given)
    return given


def all_settings(given: dict[str, str]) -> dict[str, str]:
    """The program's settings over Penstock's defaults, with those that are forced."""
    return {**_DEFAULTS, **given, **FORCED}


def refuse_forbidden(given: dict[str, str]) -> None:
    """Raise ConfigurationError if a setting on which correctness rests has another value."""
    for key, value in FORCED.items():
        if key in given and given[key].lower() != value.lower():
            raise ConfigurationError(f"{key} must be {value} (found {given[key]}): exactly-once results depend on it")


def checked_master(given: dict[str, str], cores: int) -> str:
    """The master that the program gives; without one this machine, with at least two tasks at a time.

    Something that is not a master is refused here: the launcher of the JVM would print a trace of its own.
    """
    master = given.get(SPARK_MASTER.key, f"local[{max(2, cores)}]")
    if master != "yarn" and not master.startswith(("local", "spark://", "k8s://")):
        raise ConfigurationError(
            f"{master!r} is not a Spark master: give spark://HOST:PORT, yarn, k8s://HOST:PORT or local[CORES]"
        )
    return master
