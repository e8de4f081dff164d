"""F4, F1: a job goes on from files that an older version left in the middle of it, whatever they hold.

`kinds/savepoint.tar.gz` and `kinds/checkpoint.tar.gz` were written by `python -m tests.golden.make FOLDER` before
modules of Penstock were moved. Never write them again: a version that cannot read them is wrong.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.testing import local_job
from tests.golden.job import program, results
from tests.golden.make import unpacked

KINDS = Path(__file__).parent / "kinds"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The results of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    local_job(program(folder, "local"), 2).run()
    found = results(folder)
    assert {name: sum(lines.values()) for name, lines in found.items()} == {
        "lines": 2742,
        "transactions": 90,
        "ahead": 90,
        "rows": 90,
    }
    return found


@pytest.mark.parametrize("parallelism", [2, 3])
def test_a_local_job_goes_on_from_an_older_savepoint(whole: Any, parallelism: int) -> None:
    """F4"""
    with unpacked(KINDS / "savepoint.tar.gz") as folder:
        before = results(folder)
        assert all(0 < sum(before[name].values()) < sum(whole[name].values()) for name in whole)
        local_job(program(folder, "local"), parallelism, savepoint=str(folder / "savepoint")).run()
        assert results(folder) == whole


@pytest.mark.spark
def test_a_spark_job_goes_on_from_an_older_savepoint(whole: Any) -> None:
    """F4"""
    with unpacked(KINDS / "savepoint.tar.gz") as folder:
        program(folder, savepoint=str(folder / "savepoint")).execute("golden")
        assert results(folder) == whole


@pytest.mark.spark
def test_a_spark_job_goes_on_from_an_older_checkpoint(whole: Any) -> None:
    """F1: a batch had been planned and not committed, with events of a source function kept for it."""
    with unpacked(KINDS / "checkpoint.tar.gz") as folder:
        assert (folder / "checkpoint" / "offsets" / "2").exists()
        assert not (folder / "checkpoint" / "commits" / "2").exists()
        program(folder).execute("golden")
        assert results(folder) == whole
