"""Rows of a batch DataFrame that wait beside a checkpoint: altered ones are refused by name (F8)."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.core.contracts.source import Position
from penstock.core.errors import DamagedCheckpointError
from penstock.core.whole_files import write_whole
from penstock.savepoint.sealed_json import sealed
from penstock.spark.materialized_frames import _digest, _load, _unread, _writer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As the driver leaves it when a frame has been written down."""
    kept = tmp_path / "penstock" / "frames" / "0"
    kept.mkdir(parents=True)
    made = next(_writer(str(kept))([pa.RecordBatch.from_pydict({"n": [1, 2, 3]})])).to_pylist()[0]
    digest = _digest(str(kept / made["file"]))
    write_whole(kept / "rows.json", sealed({**made, "counts": json.loads(made["counts"]), "digest": digest}))
    return kept


def test_rows_are_read_as_they_were_written(folder: Path) -> None:
    found = _load(str(folder))
    assert found is not None
    assert [row.n for batch in found.read(0, 1, Position(0), None) for row in batch[0]] == [1, 2, 3]


@pytest.mark.parametrize("pattern", ["rows.json", "*.arrow"])
def test_altered_rows_are_refused(folder: Path, pattern: str) -> None:
    """F8"""
    (file,) = folder.glob(pattern)
    data = file.read_bytes()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        for damaged in (bytes(changed), data[:place]):
            file.write_bytes(damaged)
            with pytest.raises(DamagedCheckpointError, match=f"The checkpoint is damaged: {folder}/"):
                _load(str(folder))


def test_rows_that_are_gone_are_missed(folder: Path) -> None:
    """F8"""
    next(folder.glob("*.arrow")).unlink()
    with pytest.raises(DamagedCheckpointError, match=r"\.arrow: is missing"):
        _load(str(folder))


@pytest.mark.parametrize("generation", ["", "generation-2"])
def test_rows_that_were_read_are_not_computed_anew(folder: Path, tmp_path: Path, generation: str) -> None:
    """F8: they might be others. Before the first batch nobody has read them."""
    (folder / "rows.json").unlink()
    assert _load(str(folder)) is None
    assert _unread(str(folder), f"file:{tmp_path}") == str(folder)
    (tmp_path / generation / "commits").mkdir(parents=True)
    (tmp_path / generation / "commits" / "0").write_text("")
    with pytest.raises(DamagedCheckpointError, match=r"rows\.json: is missing although the job has read rows"):
        _unread(str(folder), f"file:{tmp_path}")
