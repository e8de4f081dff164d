"""F4: savepoints of every format that was released are opened and gone on from.

`savepoints/format-N` was written after the first batch of 40 records of each input, at parallelism 2, by
`python -m tests.golden.test_golden_savepoints FOLDER`. Never write it again:
a version that cannot read it is wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from penstock.savepoint.metadata import FORMAT
from penstock.state import open_state
from penstock.testing import LocalJob, ManualClock, local_job
from tests.savepoint.programs import RESULTS, VARIANTS, Variant, program
from tests.savepoint.test_golden_jobs import STREAMS, whole

SAVEPOINTS = sorted((Path(__file__).parent / "savepoints").iterdir())


def begun() -> LocalJob:
    job = local_job(program(STREAMS), 2, clock=ManualClock())
    job.run_batch(40)
    return job


def test_there_is_one_of_the_present_format() -> None:
    assert f"format-{FORMAT}" in [path.name for path in SAVEPOINTS]


@pytest.mark.parametrize("path", SAVEPOINTS, ids=lambda path: path.name)
def test_a_savepoint_of_an_older_version_can_be_looked_at(path: Path) -> None:
    """F5."""
    view = open_state(str(path))
    assert {uid: len(view.keyed(uid)) for uid in ("count", "sum", "sessions", "sliding", "matches")} == {
        "count": 4,
        "sum": 12,
        "sessions": 13,
        "sliding": 27,
        "matches": 10,
    }
    assert len(view.timers("count")) == 18
    assert len(view.lists("kept")) == 80
    assert view.sources()["at"].tolist() == [40, 40, 1]


@pytest.mark.parametrize("path", SAVEPOINTS, ids=lambda path: path.name)
@pytest.mark.parametrize("variant", [VARIANTS[0], VARIANTS[-3]])
def test_a_job_goes_on_from_a_savepoint_of_an_older_version(path: Path, variant: Variant) -> None:
    first = begun()
    job = local_job(program(STREAMS, variant), 3, clock=ManualClock(), savepoint=str(path))
    job.run()
    for name, expected in whole(STREAMS).items():
        assert name in RESULTS
        assert Counter(first.results.get(name, []) + job.results.get(name, [])) == expected, name


if __name__ == "__main__":
    begun().savepoint(sys.argv[1])
