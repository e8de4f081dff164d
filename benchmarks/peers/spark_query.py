"""What the Spark peers have in common: the session, the source, and a query that runs for so many batches.

The session is Penstock's own, so that all Spark peers run with the same settings; only what Penstock sets for its own
sake is put back: 256 rows in an Arrow batch, for its large chunk rows, to what suits small rows; the JVM's quick
compiler, for a JVM that does little itself, to Spark's own choice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.inputs import NOTHING, Answer, checksum_of, checksum_sql, key_sql, value_sql
from benchmarks.machine import cores
from penstock.core.config import Configuration
from penstock.spark.startup.session import get_session

SMALL_ROWS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.transformWithStateInPandas.maxRecordsPerBatch": "10000",
}
_ENOUGH = "the benchmark has seen enough batches"

Consumer = Callable[[DataFrame], Answer]


@dataclass(frozen=True, slots=True)
class Batches:
    """What a query gave: how long each batch took, from its trigger to its commit, and what it emitted in all."""

    milliseconds: Sequence[float]
    answer: Answer


def session() -> SparkSession:
    """A session with Penstock's settings and as many shuffle partitions as cores."""
    settings = {
        **SMALL_ROWS,
        "penstock.jvm.compiler": "full",
        "spark.sql.shuffle.partitions": str(cores()),
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
    }
    return get_session(Configuration(settings), cores())


def versions(spark: SparkSession) -> dict[str, str]:
    """Of Spark and of the Java below it."""
    jvm = spark._jvm
    assert jvm is not None
    return {"pyspark": spark.version, "java": str(jvm.java.lang.System.getProperty("java.version"))}


def indices(spark: SparkSession, batch_records: int) -> DataFrame:
    """A stream with one ``bigint`` column ``index``: 0, 1, 2, …, exactly ``batch_records`` in each batch."""
    source = spark.readStream.format("rate-micro-batch")
    frame = source.option("rowsPerBatch", batch_records).option("numPartitions", cores()).load()
    return frame.selectExpr("value AS index")


def milliseconds(count: int) -> str:
    """An interval as Spark's window functions take it."""
    return f"{count} milliseconds"


def keyed(indexed: DataFrame, keys: int) -> DataFrame:
    """The records of `benchmarks.inputs` as columns ``key`` and ``value``."""
    return indexed.selectExpr(f"{key_sql('index', keys)} AS key").selectExpr("key", f"{value_sql('key')} AS value")


def consume(emitted: DataFrame) -> Answer:
    """The consumer of ``(key, total)`` rows: counts them and adds up their checksum, in the JVM."""
    term = checksum_sql("key", "total")
    row = emitted.selectExpr("count(*)", f"coalesce(sum({term}), 0)").collect()[0]
    return Answer(row[0], row[1])


def collect(emitted: DataFrame) -> Answer:
    """The consumer that brings the rows to the driver, where it does the same."""
    rows = [(row.key, row.total) for row in emitted.collect()]
    return Answer(len(rows), checksum_of(rows))


def run_batches(
    frame: DataFrame,
    mode: str,
    batches: int,
    consumer: Consumer,
    checkpoint: Path | None = None,
    before: Callable[[int], None] = lambda batch: None,
) -> Batches:
    """Run a query for so many batches, back to back, then leave it. ``before`` each batch is told its number."""
    answers: list[Answer] = []

    def take(emitted: DataFrame, batch_id: int) -> None:
        if len(answers) == batches:
            raise RuntimeError(_ENOUGH)
        before(len(answers))
        answers.append(consumer(emitted))

    location = str(checkpoint or tempfile.mkdtemp())
    writer: Any = frame.writeStream.outputMode(mode).foreachBatch(take).option("checkpointLocation", location)
    query: StreamingQuery = writer.start()
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        if _ENOUGH not in str(error):
            raise
    return Batches(_durations(query)[:batches], sum(answers, NOTHING))


def _durations(query: StreamingQuery) -> list[float]:
    return [float(progress["durationMs"]["triggerExecution"]) for progress in query.recentProgress]
