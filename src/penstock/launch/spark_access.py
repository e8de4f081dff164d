"""What the api, the command line and the state tools need of Spark besides running jobs.

Each function imports the room `spark` when it is called: a program that never calls one does not wait for PySpark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.core.config import Configuration
from penstock.core.config.base import base_configuration
from penstock.core.config.options.job import HOST
from penstock.core.time.clock import SystemClock
from penstock.core.types.type_info import TypeInformation

if TYPE_CHECKING:
    from penstock.savepoint.savepoint import Savepoint

__all__ = [
    "append_to_table",
    "checkpoint_to_savepoint",
    "java_version",
    "queried_tables",
    "read_frame",
    "spark_session",
    "try_spark",
]


def spark_session(conf: Configuration, parallelism: int) -> Any:
    """The session in which DataFrames meet jobs; started if none runs."""
    from penstock.spark.startup.jvm import begin_jvm

    begin_jvm(conf, parallelism)
    from penstock.spark.startup.session import get_session

    return get_session(conf, parallelism)


def java_version() -> tuple[str, str]:
    """The Java that an embedded Spark would run on: home and version; JavaError if there is none."""
    from penstock.spark.startup.java import find_java, version_of

    home = find_java()
    return home, version_of(home)


def try_spark() -> str:
    """Start an embedded Spark and run a job on it; says how long that took."""
    from penstock.api.environment import StreamExecutionEnvironment

    clock = SystemClock()
    began_ms = clock.now_ms()
    env = StreamExecutionEnvironment(base_configuration().set(HOST, "bounded")).set_parallelism(2)
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


def checkpoint_to_savepoint(checkpoint: str, path: str) -> Savepoint:
    """Write the last committed state of a checkpoint as a savepoint, by Spark."""
    from penstock.spark.checkpoint.start_point import checkpoint_state

    return checkpoint_state(spark_session(base_configuration(), 1), checkpoint, path)
