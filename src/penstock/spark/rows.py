"""Chunk rows as Arrow batches and pandas frames, the forms in which Spark passes them between tasks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructType

from penstock.runtime.chunk import ChunkRow
from penstock.spark.partition_labels import partition_labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ARROW_SCHEMA", "SCHEMA", "ArrowFunction", "from_arrow", "from_columns", "to_arrow", "to_pandas"]

ArrowFunction = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What `mapInArrow` runs in each task."""

SCHEMA = (
    StructType()
    .add("label", IntegerType())
    .add("target", IntegerType())
    .add("channel", LongType())
    .add("seq", LongType())
    .add("kind", IntegerType())
    .add("payload", BinaryType())
)
ARROW_SCHEMA = pa.schema(
    [
        ("label", pa.int32()),
        ("target", pa.int32()),
        ("channel", pa.int64()),
        ("seq", pa.int64()),
        ("kind", pa.int32()),
        ("payload", pa.binary()),
    ]
)
_CODES = {8 * array(code).itemsize: code for code in "iq"}
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 512


def _grouped(rows: Iterable[ChunkRow]) -> Iterator[list[ChunkRow]]:
    """Rows in groups bounded in number and bytes, so that no Arrow batch becomes too large."""
    group: list[ChunkRow] = []
    size = 0
    for row in rows:
        if group and (size + len(row.payload) > _BATCH_BYTES or len(group) >= _BATCH_ROWS):
            yield group
            group, size = [], 0
        group.append(row)
        size += len(row.payload)
    if group:
        yield group


def _columns(group: list[ChunkRow], partitions: int) -> list[list[Any]]:
    """The columns of a group, with the label of each partition in place of its number."""
    names = partition_labels(partitions)
    columns = list(map(list, zip(*group, strict=True)))
    columns[0] = [names[p] for p in columns[0]]
    return columns


def to_arrow(rows: Iterable[ChunkRow], partitions: int) -> Iterator[pa.RecordBatch]:
    """The rows that a task sends on, as Arrow batches."""
    for group in _grouped(rows):
        *numbers, payloads = _columns(group, partitions)
        arrays = [_numbers(column, field.type) for column, field in zip(numbers, ARROW_SCHEMA, strict=False)]
        yield pa.RecordBatch.from_arrays([*arrays, _binary(payloads)], schema=ARROW_SCHEMA)


def _numbers(column: list[int], type_: pa.DataType) -> pa.Array:
    """A column of integers, made from a buffer: `pa.array` would import pandas, which takes a third of a second."""
    return pa.Array.from_buffers(type_, len(column), [None, pa.py_buffer(array(_CODES[type_.bit_width], column))])


def _binary(column: list[bytes]) -> pa.Array:
    ends = array(_CODES[32], accumulate(map(len, column), initial=0))
    return pa.Array.from_buffers(pa.binary(), len(column), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(column))])


def to_pandas(rows: Iterable[ChunkRow], partitions: int) -> Iterator[pd.DataFrame]:
    """The rows that a task sends on, as pandas frames, which `transformWithStateInPandas` wants."""
    import pandas as pd  # only streaming jobs need it, and it takes a third of a second

    for group in _grouped(rows):
        yield pd.DataFrame(dict(zip(ARROW_SCHEMA.names, _columns(group, partitions), strict=True)))


def from_columns(columns: Iterable[Iterable[Any]], partition: int) -> Iterator[ChunkRow]:
    """The rows that a task receives, from their columns; all of them carry the label of the task's partition."""
    _, *rest = columns
    for target, channel, seq, kind, payload in zip(*rest, strict=True):
        yield ChunkRow(partition, target, channel, seq, kind, payload)


def from_arrow(batches: Iterable[pa.RecordBatch], partition: int) -> Iterator[ChunkRow]:
    """The rows that a task, or the driver, receives as Arrow batches."""
    return chain.from_iterable(from_columns((c.to_pylist() for c in b.columns), partition) for b in batches)
