"""The folder of a savepoint: any spelling of its place, bounded row groups, what is left over is not counted."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.common import WatermarkStrategy
from penstock.connectors.data_frame import DataFrameSource
from penstock.core.contracts.source import Position
from penstock.core.errors import SavepointError
from penstock.datastream import StreamExecutionEnvironment
from penstock.plan.compile import PlanOptions, compile_job
from penstock.runtime.state.store_keys import uid_hash
from penstock.savepoint import storage
from penstock.savepoint.blobs import Blob, blobs_of, split_roots
from penstock.savepoint.plan_notes import notes_of
from penstock.savepoint.savepoint import Moment, Savepoint, finish_savepoint, write_part
from penstock.savepoint.storage import Folder
from penstock.testing import collect, local_job
from tests.savepoint.test_refusals import counted


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_place_may_be_a_path_or_a_uri(scheme: str, tmp_path: Path) -> None:
    folder = Folder(f"{scheme}{tmp_path}/one")
    folder.write("deep/word.txt", "w")
    assert (folder.read("deep/word.txt"), folder.size("deep/word.txt"), folder.names("deep")) == ("w", 1, ["word.txt"])
    assert folder.location == f"{tmp_path}/one"
    folder.delete()
    assert folder.names() == []
    folder.delete()


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(SavepointError, match=r"gopher://x/y cannot be reached: Unrecognized filesystem type"):
        Folder("gopher://x/y").names()


def test_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader holds one of them at a time."""
    monkeypatch.setattr(storage, "GROUP_BYTES", 1000)
    blobs = [Blob("op", "page", n, b"\0", bytes(300)) for n in range(10)]
    note = Folder(str(tmp_path)).write_blobs("state/0.parquet", blobs)
    assert pq.ParquetFile(tmp_path / "state/0.parquet").num_row_groups == 4
    assert list(Folder(str(tmp_path)).read_blobs(note)) == blobs
    assert note.rows == 10


def test_blobs_are_what_the_store_holds() -> None:
    prefix, roots = uid_hash("op"), {}
    items = {
        prefix + b"R\0\0\0\1": b"r",
        prefix + b"P\0\0\0\7\0\0\0\0\0": b"p",
        prefix + b"L\0\0\0\2S\0\0\0\0name": b"l",
    }
    blobs = list(blobs_of(split_roots(items.items(), roots), {prefix: "op"}))
    assert [(b.kind, b.place) for b in blobs] == [("page", 7), ("list", 2)]
    assert {b.key: b.value for b in blobs} | roots == items
    with pytest.raises(SavepointError, match="a key of no operator of this job"):
        list(blobs_of(items.items(), {}))


def test_files_of_attempts_that_lost_are_removed(tmp_path: Path) -> None:
    job = local_job(counted())
    job.run_batch(5)
    notes, path = notes_of(job.plan), str(tmp_path / "one")
    stores = [store.blobs.items() for store in job._stores.values()]
    write_part(path, "lost", notes, stores[0])
    won = write_part(path, "won", notes, stores[0])
    finish_savepoint(path, notes, [won], Moment(0, 0, {}))
    assert Folder(path).names("state") == ["won.parquet"]
    assert {b.operator for b in Savepoint(path).blobs()} == {"sum"}


def test_a_source_without_positions_is_noted_without_any() -> None:
    """A DataFrame is never asked where it begins."""
    env = StreamExecutionEnvironment()
    frame = DataFrameSource(None, bounded=False)
    collect(env.from_source(frame, WatermarkStrategy.no_watermarks(), "frame").uid("frame"), "out")
    plan = compile_job(env.get_stream_graph(), PlanOptions())
    assert [(s.kind, s.splits) for s in notes_of(plan).sources] == [("DataFrameSource", (Position(None),))]
