"""A stream of indices read in Python, with batches of the sizes that it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from benchmarks.machine import cores

_READ = 10_000


class Stretch(InputPartition):
    """A part of a batch: every ``step``-th index from ``start``."""

    def __init__(self, start: int, stop: int, step: int) -> None:
        self.start, self.stop, self.step = start, stop, step


class IndexReader(DataSourceStreamReader):
    """The numbers 0, 1, 2, …: ``first`` in a batch up to ``until``, then ``then``."""

    def __init__(self, until: int, first: int, then: int) -> None:
        self.until, self.first, self.then = until, first, then

    def initialOffset(self) -> dict[str, int]:
        return {"index": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        at = start["index"]
        return {"index": min(at + self.first, self.until) if at < self.until else at + self.then}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return [Stretch(start["index"] + part, end["index"], cores()) for part in range(cores())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        for first in range(partition.start, partition.stop, _READ * partition.step):
            stop = min(partition.stop, first + _READ * partition.step)
            yield pa.record_batch({"index": pa.array(np.arange(first, stop, partition.step))})


class IndexSource(DataSource):
    """`IndexReader` as a data source of PySpark."""

    @classmethod
    def name(cls) -> str:
        return "bench_indices"

    def schema(self) -> str:
        return "index bigint"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return IndexReader(*(int(self.options[name]) for name in ("until", "first", "then")))


def python_indices(spark: SparkSession, then: int, until: int = 0, first: int = 0) -> DataFrame:
    """A stream with one ``bigint`` column ``index``."""
    spark.dataSource.register(IndexSource)
    source = spark.readStream.format(IndexSource.name())
    return source.option("until", until).option("first", first).option("then", then).load()
