"""Savepoints at the edges of the pieces they are cut into (F4)."""

from pathlib import Path
from typing import Any

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.savepoint import restore_rows, storage
from penstock.savepoint.blobs import Blob
from penstock.savepoint.storage import Folder
from penstock.testing import LocalJob, collect, local_job


def around(n: int) -> list[int]:
    """The counts at which a piece of n has its edges."""
    return sorted({0, 1, n - 1, n, n + 1, 2 * n + 1})


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("room", [1, 4 * 100 - 1, 4 * 100, 4 * 100 + 1])
def test_a_file_of_a_savepoint_holds_every_blob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, room: int
) -> None:
    """F4: in row groups of any size (a blob of 36 bytes counts as 100), read in stretches of any size."""
    monkeypatch.setattr(storage, "GROUP_BYTES", room)
    blobs = [Blob("op", "page", n, b"\0", bytes(36)) for n in range(count)]
    note: Any = Folder(str(tmp_path)).write_blobs("state/0.parquet", blobs)
    for stretch in (1, 7, 4 << 20):
        monkeypatch.setattr(storage, "READ_BYTES", stretch)
        assert note is None or list(Folder(str(tmp_path)).read_blobs(note)) == blobs
    assert (note is not None and note.rows == count) or count == 0


@pytest.mark.parametrize("keys", around(4))
@pytest.mark.parametrize("room", [1, 200, 1 << 20])
def test_a_job_takes_in_every_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: int, room: int) -> None:
    """F4: state enters in rows of any size."""
    monkeypatch.setattr(restore_rows, "ROW_BYTES", room)

    values = [*((key, 10 + key) for key in range(keys)), *((key, 1) for key in range(keys))]

    def job(savepoint: str | None = None) -> LocalJob:
        env = StreamExecutionEnvironment()
        summed = env.from_collection(values).uid("numbers").key_by(lambda v: v[0]).sum(1).uid("sum")
        collect(summed, "out")
        return local_job(env, 2, savepoint=savepoint)

    before = job()
    before.run_batch(keys)
    before.savepoint(str(tmp_path / "point"))
    after = job(str(tmp_path / "point"))
    after.run()
    assert sorted(after.results.get("out", [])) == [(key, 11 + key) for key in range(keys)]
