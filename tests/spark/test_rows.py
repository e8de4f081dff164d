"""Chunk rows on their way through Arrow."""

import subprocess
import sys

import pyarrow as pa
import pytest

from penstock.runtime.chunk import DATA, ChunkRow
from penstock.spark import rows
from penstock.spark.partition_labels import partition_labels
from penstock.spark.rows import ARROW_SCHEMA, from_arrow, to_arrow

ROWS = [
    ChunkRow(0, -1, 0, -3, DATA, b""),
    ChunkRow(1, 2**31 - 1, 2**62, 2**63 - 1, DATA, bytes(range(256))),
    ChunkRow(1, -(2**31), -(2**63), 0, DATA, b"x" * 100_000),
]


def test_rows_come_out_as_they_went_in() -> None:
    (batch,) = to_arrow(ROWS, 2)
    batch.validate(full=True)
    columns = [list(column) for column in zip(*ROWS, strict=True)]
    columns[0] = [partition_labels(2)[partition] for partition in columns[0]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
    assert batch.equals(pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA))
    assert [row._replace(partition=0) for row in ROWS] == list(from_arrow([batch], 0))


@pytest.mark.process
def test_a_bounded_job_does_not_wait_for_pandas() -> None:
    """P2: to import it takes a third of a second of the time to the first result."""
    look = """
import sys
import penstock.spark.bounded
from penstock.runtime.chunk import ChunkRow
from penstock.spark.rows import from_arrow, to_arrow
assert len(list(from_arrow(to_arrow([ChunkRow(0, 0, 0, 0, 1, b"x")], 1), 0))) == 1
print("pandas" in sys.modules)
"""
    answer = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr


@pytest.mark.parametrize("sizes", [[20], [9, 9], [1, 40, 1], [40, 40, 40], [5] * 7])
def test_an_arrow_batch_has_no_more_bytes_than_it_may(sizes: list[int]) -> None:
    """F13: a large row goes alone."""
    rows = [ChunkRow(0, 0, 0, seq, DATA, bytes(size << 20)) for seq, size in enumerate(sizes)]
    batches = list(to_arrow(rows, 1))
    assert all(batch.num_rows == 1 or batch.nbytes <= 17 << 20 for batch in batches)
    assert [row.seq for row in from_arrow(batches, 0)] == list(range(len(sizes)))


def test_state_requests_on_their_way_are_bounded_in_bytes() -> None:
    """F13: one large page is not sent together with thirty others."""
    from penstock.spark.streaming.state_store import _windows

    found = [
        [len(data) >> 20 for data in window] for window in _windows(bytes(mb << 20) for mb in (1, 6, 6, 50, 50, 1))
    ]
    assert found == [[1, 6], [6], [50], [50], [1]]
    assert [len(window) for window in _windows([b"x"] * 65)] == [32, 32, 1]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
@pytest.mark.parametrize("room", [1, 39, 40, 41, 1 << 20])
def test_batches_of_any_size_hold_every_row(monkeypatch: pytest.MonkeyPatch, count: int, room: int) -> None:
    """G4: at the edges of their number of rows and of bytes."""
    monkeypatch.setattr(rows, "_BATCH_ROWS", 4)
    monkeypatch.setattr(rows, "_BATCH_BYTES", room)
    given = [ChunkRow(0, 1, 2, n, DATA, bytes(10)) for n in range(count)]
    batches = list(to_arrow(given, 1))
    assert list(from_arrow(batches, 0)) == given
    assert all(0 < batch.num_rows <= 4 for batch in batches)
