"""Makes the golden checkpoint and the golden savepoint anew: `python -m tests.golden.make FOLDER`.

Never replace those that are there: a version that cannot go on from them is wrong. Make others beside them when there
is something new that can be in state.
"""

from __future__ import annotations

import fcntl
import shutil
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.common.errors import PenstockError
from penstock.testing import LocalJob, local_job
from tests.golden.job import program

__all__ = ["PLACE", "begun", "make", "scratch", "unpacked"]

PLACE = Path("/tmp/penstock-golden")
"""Where the golden files were made, and where they must lie when a job goes on from them: what a file sink has prepared
is kept in state with its whole path."""


@contextmanager
def scratch() -> Iterator[Path]:
    """The place, empty, for one process at a time; removed afterwards."""
    with PLACE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir()
        try:
            yield PLACE
        finally:
            shutil.rmtree(PLACE, ignore_errors=True)


@contextmanager
def unpacked(golden: Path) -> Iterator[Path]:
    """The place, as it was when the golden file was made."""
    with scratch() as place:
        with tarfile.open(golden) as archive:
            archive.extractall(place, filter="data")
        yield place


def begun(folder: Path) -> LocalJob:
    """The job after three batches on the local host."""
    job = local_job(program(folder, "local"), 2)
    for _ in range(3):
        job.run_batch(15)
    return job


def make(into: Path) -> None:
    """Both golden files."""
    into.mkdir(parents=True, exist_ok=True)
    with scratch() as place:
        job = begun(place)
        job.savepoint(str(place / "savepoint"))
        _pack(place, into / "savepoint.tar.gz")
    with scratch() as place:
        with pytest.raises(PenstockError, match="stopped in the middle"):
            program(place, stumbling=True).execute("golden")
        _pack(place, into / "checkpoint.tar.gz")


def _pack(place: Path, archive: Path) -> None:
    with tarfile.open(archive, "w:gz") as made:
        for path in sorted(place.iterdir()):
            made.add(path, path.name)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
