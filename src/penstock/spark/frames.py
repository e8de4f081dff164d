"""DataFrames as sources: their rows go through the chain of their source vertex and join the line of stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import current_timestamp
from pyspark.taskcontext import TaskContext as SparkTaskContext

from penstock.connectors.data_frame import DataFrameSource
from penstock.core.contracts.source import Position, ReadBatch
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.time.clock import SystemClock
from penstock.core.types.row import Row
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.source_task import read_split
from penstock.runtime.stage import control_rows
from penstock.spark.failures import errors_travel
from penstock.spark.pickled_plan import PickledPlan
from penstock.spark.rows import SCHEMA, ArrowFunction, to_arrow

__all__ = [
    "batch_id",
    "frame_vertices",
    "make_frames",
    "own_vertices",
    "rows_of",
    "union_frames",
    "union_stream_frames",
]

_NOW = "__penstock_now"


def own_vertices(plan: JobPlan) -> list[Vertex]:
    """The source vertices that Penstock reads itself."""
    return [v for v in plan.sources if not isinstance(v.source, DataFrameSource)]


def frame_vertices(plan: JobPlan) -> list[Vertex]:
    """The source vertices that are DataFrames, which Spark reads."""
    return [v for v in plan.sources if isinstance(v.source, DataFrameSource)]


def make_frames(plan: JobPlan) -> None:
    """Make the DataFrames that are made when a job starts; called first, since they may run Spark jobs of their own."""
    for vertex in frame_vertices(plan):
        source = vertex.source
        assert isinstance(source, DataFrameSource)
        source.make_frame()


def union_frames(line: DataFrame, plan: JobPlan, pickled: PickledPlan, info: BatchInfo) -> DataFrame:
    """The line of a bounded job with the rows of its DataFrames added."""
    for vertex in frame_vertices(plan):
        line = line.union(_one_task(vertex).mapInArrow(_whole(pickled, vertex.vertex_id, info), SCHEMA))
    return line


def union_stream_frames(line: DataFrame, plan: JobPlan, pickled: PickledPlan, run_id: str) -> DataFrame:
    """The line of a streaming job with the rows of its DataFrames added to those of the multiplexed source.

    Spark leaves the multiplexed source out of a batch in which only a DataFrame has something new. So each DataFrame
    brings control rows too; a stage takes the first that it meets. The time in them is Spark's time of the batch, which
    is the same in a retry.
    """
    for vertex in frame_vertices(plan):
        timed = _one_task(vertex).withColumn(_NOW, current_timestamp())
        line = line.union(timed.mapInArrow(_stretch(pickled, vertex.vertex_id, run_id), SCHEMA))
    return line


def _one_task(vertex: Vertex) -> DataFrame:
    """The DataFrame of a source in one task: the number of a DataFrame's tasks changes, that of channels must not."""
    source = vertex.source
    assert isinstance(source, DataFrameSource)
    frame: DataFrame = source.make_frame()
    return frame.coalesce(1)


def _whole(pickled: PickledPlan, vertex_id: int, info: BatchInfo) -> ArrowFunction:
    """Reads a whole DataFrame, in a bounded job."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = pickled.load()
            vertex = plan.vertex(vertex_id)
            rows = read_split(plan, vertex, 0, Position(0), None, SystemClock(), info, map(rows_of, batches))
            yield from to_arrow(rows, plan.partitions)

    return read


def _stretch(pickled: PickledPlan, vertex_id: int, run_id: str) -> ArrowFunction:
    """Reads what is new of a DataFrame in a batch of a streaming job."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with errors_travel():
            plan = pickled.load()
            yield from to_arrow(_batch(plan, vertex_id, run_id, iter(batches)), plan.partitions)

    return read


def _batch(plan: JobPlan, vertex_id: int, run_id: str, batches: Iterator[pa.RecordBatch]) -> Iterator[ChunkRow]:
    first = next(batches, None)
    info = BatchInfo(run_id, plan.settings.first_batch + batch_id(), _time_of(first))
    yield from control_rows(plan, info)
    records = map(rows_of, map(_untimed, chain([first] if first is not None else [], batches)))
    yield from read_split(plan, plan.vertex(vertex_id), 0, Position(0), Position(0), SystemClock(), info, records)


def _time_of(batch: pa.RecordBatch | None) -> int:
    """Spark's time of the batch, from the column that was added for it."""
    if batch is None or batch.num_rows == 0:
        return SystemClock().now_ms()
    moment: int = batch.column(batch.num_columns - 1)[0].value
    return moment // 1_000


def _untimed(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(batch.schema.names[:-1])


def batch_id() -> int:
    """Spark's number of the batch that this task belongs to; -1 outside a streaming query."""
    context = SparkTaskContext.get()
    text = context.getLocalProperty("streaming.sql.batchId") if context is not None else None
    return int(text) if text is not None else -1


# -- rows -----------------------------------------------------------------------------------------------


def rows_of(batch: pa.RecordBatch) -> ReadBatch:
    """The rows of an Arrow batch, with field names and with the values that PySpark would give."""
    names = batch.schema.names
    columns = [_column(column) for column in batch.columns]
    return [_row(names, values) for values in zip(*columns, strict=True)], None


def _column(column: pa.Array) -> list[object]:
    convert = _converter(column.type)
    values: list[object] = column.to_pylist()
    return values if convert is None else [None if v is None else convert(v) for v in values]


def _row(names: list[str], values: Iterable[object]) -> Row:
    row = Row(*values)
    row.set_field_names(names)
    return row


_Convert = Callable[[Any], object]


def _converter(kind: pa.DataType) -> _Convert | None:
    """A function that turns a value of Arrow's into the one that PySpark would give; None if they are the same."""
    if pa.types.is_struct(kind):
        return _struct(kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = _converter(kind.value_type)
        return None if item is None else lambda values: [None if v is None else item(v) for v in values]
    if pa.types.is_map(kind):
        return _map(kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return lambda moment: moment.replace(tzinfo=None)
    return None


def _struct(kind: pa.DataType) -> _Convert:
    fields = [(field.name, _converter(field.type)) for field in kind]
    names = [name for name, _ in fields]

    def convert(value: dict[str, object]) -> Row:
        return _row(names, [v if (v := value[n]) is None or c is None else c(v) for n, c in fields])

    return convert


def _map(kind: pa.DataType) -> _Convert:
    key, item = _converter(kind.key_type), _converter(kind.item_type)

    def convert(pairs: list[tuple[object, object]]) -> dict[object, object]:
        return {(k if key is None else key(k)): (v if v is None or item is None else item(v)) for k, v in pairs}

    return convert
