"""Spark's native SQL aggregation, no Python in the path: ``sum(value) … GROUP BY key`` in update mode.

It emits one row for each key that a batch touched, not one for each record, and is checked against that.
"""

from __future__ import annotations

from statistics import median

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.model import RATE, Outcome
from benchmarks.params import SumParams
from benchmarks.spark_query import consume, indices, keyed, run_batches, session, versions
from benchmarks.worker import serve


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


if __name__ == "__main__":
    serve({"running-sum": running_sum})
