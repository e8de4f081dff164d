"""A plain PySpark query with one stateful stage, for the price of a nearly empty batch.

Source → ``transformWithState`` → ``foreachBatch`` with one collect. ``BENCH_VARIANT`` rate: Spark's own generator, in
the JVM; python: a data source written in Python, as Penstock's sources are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from statistics import median

from pyspark.sql import DataFrame, SparkSession

from benchmarks.jobs.empty_batch import KEYS
from benchmarks.model import BATCH_MS, Outcome
from benchmarks.params import EmptyBatchParams
from benchmarks.peers.processors import summed_by_row
from benchmarks.peers.spark_query import collect, indices, keyed, run_batches, session, versions
from benchmarks.peers.spark_source import python_indices
from benchmarks.worker import serve

SOURCES: dict[str, Callable[[SparkSession, int], DataFrame]] = {"rate": indices, "python": python_indices}


def empty_batch(params: EmptyBatchParams) -> Outcome:
    """The median time of a batch."""
    spark = session()
    source = SOURCES[os.environ["BENCH_VARIANT"]]
    query = summed_by_row(keyed(source(spark, params.batch_records), KEYS))
    batches = run_batches(query, "append", params.batches, collect)
    counted = batches.milliseconds[params.warmup_batches :]
    return Outcome({BATCH_MS: median(counted)}, batches.answer, batches.milliseconds, versions(spark))


if __name__ == "__main__":
    serve({"empty-batch": empty_batch})
