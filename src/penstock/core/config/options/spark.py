"""Settings of Spark that Penstock reads or forces itself; all others go to Spark as they are."""

from __future__ import annotations

from penstock.core.config.option import ON_SPARK, STREAMING, ConfigOption, Values
from penstock.core.config.values import setting, text

__all__ = ["FORCED_OPTIONS", "SPARK_MASTER", "SPARK_OPTIONS"]

SPARK_MASTER = setting(
    "spark.master",
    text("spark://HOST:PORT, yarn, k8s://HOST:PORT or local[CORES]"),
    "",
    "The Spark cluster that runs the job.",
    ON_SPARK,
    default_text="local[cores]",
)


def _forced(key: str, value: str, why: str, hosts: tuple[str, ...] = ON_SPARK) -> ConfigOption[str]:
    """A setting that takes one value only."""

    def read(given: str) -> str:
        if given.lower() != value.lower():
            raise ValueError(given)
        return value

    return setting(key, Values(str, value, read), value, f"Forced: {why}. Another value is refused.", hosts)


FORCED_OPTIONS = (
    _forced(
        "spark.sql.streaming.stateStore.checkpointFormatVersion",
        "2",
        "with format 1 a driver that has a successor and wakes up overwrites committed state",
        STREAMING,
    ),
    _forced("spark.speculation", "false", "a second copy of a task would run user functions twice at once"),
    _forced(
        "spark.sql.shuffle.orderIndependentChecksum.enabled",
        "true",
        "without it a lost shuffle file and a function that is not deterministic lose and double records",
    ),
    _forced(
        "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch",
        "true",
        "without it a lost shuffle file and a function that is not deterministic lose and double records",
    ),
    _forced(
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "it is the store that can hold more state than memory",
        STREAMING,
    ),
)

SPARK_OPTIONS = (SPARK_MASTER, *FORCED_OPTIONS)
