"""A plain PySpark query with one stateful stage, for the price of a nearly empty batch.

Source → ``transformWithState`` → ``foreachBatch`` with one collect. ``BENCH_VARIANT`` rate: Spark's own generator in the
JVM; python: a data source written in Python, as Penstock's sources are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from benchmarks.machine import cores
from benchmarks.model import BATCH_MS, Outcome
from benchmarks.params import EmptyBatchParams
from benchmarks.processors import summed_by_row
from benchmarks.spark_query import collect, indices, keyed, run_batches, session, versions
from benchmarks.worker import serve

KEYS = 1000


class Stretch(InputPartition):
    """A part of a batch."""

    def __init__(self, start: int, stop: int, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step


class IndexReader(DataSourceStreamReader):
    """The numbers 0, 1, 2, …, so many in each batch."""

    def __init__(self, batch_records: int) -> None:
        self.batch_records = batch_records
        self.planned = 0

    def initialOffset(self) -> dict[str, int]:
        return {"index": 0}

    def latestOffset(self) -> dict[str, int]:
        self.planned += self.batch_records
        return {"index": self.planned}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Stretch(start["index"] + part, end["index"], cores()) for part in range(cores())]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        assert isinstance(partition, Stretch)
        return ((index,) for index in range(partition.start, partition.stop, partition.step))


class IndexSource(DataSource):
    """`IndexReader` as a data source of PySpark."""

    @classmethod
    def name(cls) -> str:
        return "bench_indices"

    def schema(self) -> str:
        return "index bigint"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return IndexReader(int(self.options["batchRecords"]))


def python_indices(spark: SparkSession, batch_records: int) -> DataFrame:
    """As `indices`, read in Python."""
    spark.dataSource.register(IndexSource)
    return spark.readStream.format(IndexSource.name()).option("batchRecords", batch_records).load()


SOURCES = {"rate": indices, "python": python_indices}


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
