"""Spark's native SQL aggregation, no Python in the path: ``sum(value) … GROUP BY key`` in update mode.

It emits one row for each key that a batch touched, not one for each record, and is checked against that.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.disk import BytesWritten
from benchmarks.envs import DATA
from benchmarks.files import CSV, file_of
from benchmarks.inputs import Answer, checksum_sql
from benchmarks.jobs.growth import growth_sql
from benchmarks.model import BATCH_MS, BYTES, FIRST_MS, RATE, Outcome
from benchmarks.params import FileParams, GrowthParams, StartParams, SumParams
from benchmarks.peers.spark_events import event_time
from benchmarks.peers.spark_query import consume, indices, keyed, run_batches, session, versions
from benchmarks.peers.spark_source import python_indices
from benchmarks.worker import EVENT_JOBS, serve, since_start_ms


def sums(records: DataFrame) -> DataFrame:
    """The query."""
    return records.groupBy("key").agg(F.sum("value").alias("total"))


def running_sum(params: SumParams) -> Outcome:
    """Records by the median time of a batch."""
    spark = session()
    query = sums(keyed(indices(spark, params.batch_records), params.keys))
    batches = run_batches(query, "update", params.batches, consume)
    counted = batches.milliseconds[params.warmup_batches :]
    rate = params.batch_records * 1000 / median(counted)
    return Outcome({RATE: rate}, batches.answer, batches.milliseconds, versions(spark))


def growth(params: GrowthParams) -> Outcome:
    """The median time of a small batch, and what the checkpoint grew by for each of its records."""
    spark, checkpoint = session(), Path(tempfile.mkdtemp())
    first = -(-params.state_keys // params.fill_records) + params.warmup_batches
    written = BytesWritten(checkpoint)
    source = python_indices(spark, params.batch_records, params.state_keys, params.fill_records)
    batches = run_batches(
        sums(source.selectExpr(*growth_sql(params.state_keys))),
        "update",
        first + params.batches - params.warmup_batches,
        consume,
        checkpoint,
        lambda batch: written.mark() if batch == first else None,
    )
    counted = batches.milliseconds[first:]
    per_record = written.since() / (len(counted) * params.batch_records)
    metrics = {BATCH_MS: median(counted), BYTES: per_record}
    return Outcome(metrics, batches.answer, batches.milliseconds, versions(spark))


def of_file(params: FileParams) -> Outcome:
    """Native readers with a schema; a small query first."""
    spark, path = session(), str(file_of(params.kind, params.records, DATA))
    reader = spark.read.schema("id bigint, key bigint, value bigint, text string")
    spark.range(10).groupBy("id").count().collect()
    started = perf_counter()
    frame = reader.csv(path) if params.kind == CSV else reader.json(path)
    row = sums(frame).selectExpr("count(*)", f"sum({checksum_sql('key', 'total')})").collect()[0]
    seconds = perf_counter() - started
    return Outcome({RATE: params.records / seconds}, Answer(row[0], row[1]), versions=versions(spark))


def start_up(params: StartParams) -> Outcome:
    """A batch query over a small frame; a row for each word, so that the answers compare."""
    spark = session()
    lines = spark.createDataFrame([(text,) for text in params.lines], "line string")
    words = lines.selectExpr("explode(split(line, ' ')) AS word")
    found = words.groupBy("word").count().collect()
    first_ms, count = since_start_ms(), sum(row["count"] for row in found)
    return Outcome({FIRST_MS: first_ms}, Answer(count, count), versions=versions(spark))


if __name__ == "__main__":
    serve(
        {
            "running-sum": running_sum,
            "growth": growth,
            "start-up": start_up,
            "files": of_file,
            **dict.fromkeys(EVENT_JOBS, event_time),
        }
    )
