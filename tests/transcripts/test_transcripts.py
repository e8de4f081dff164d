"""Every transcript on every host (P11); the YAML files say which rules each case is about."""

from pathlib import Path

import pytest

from penstock.core.program.job import RuntimeSettings
from penstock.testing.transcripts import Transcript, load_transcripts, run_local, run_on_host
from tests.effort import some

FILES = sorted(Path(__file__).parent.glob("*.yaml"))
CASES = [case for file in FILES for case in load_transcripts(file)]
EVERYWHERE = [case for case in CASES if not case.local_only]

# no split, every record alone, uneven
SPLITS = [(), (1,) * 60, (2, 1, 3, 0, 5)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("parallelism", some([1, 2, 4], 1))
def test_in_the_local_host_for_every_split_into_batches(case: Transcript, parallelism: int) -> None:
    """P11: whatever the batches and the parallelism."""
    for split in some(SPLITS, 2):
        assert run_local(case, parallelism, split) == []


@pytest.mark.parametrize("case", some(CASES, 60), ids=lambda case: case.name)
def test_restarted_after_every_batch(case: Transcript) -> None:
    """F1, S4: state, timers and clocks are as they were."""
    assert run_local(case, 2, SPLITS[1], restart_every_batch=True) == []


@pytest.mark.parametrize("case", some(CASES, 60), ids=lambda case: case.name)
def test_with_hardly_any_memory(case: Transcript) -> None:
    """S6: every page is split and pushed out as soon as may be."""
    tiny = RuntimeSettings(
        watermark_records=1, page_bytes=1, state_budget_bytes=0, chunk_records=1, sort_budget_bytes=0
    )
    assert run_local(case, 2, (3, 3), settings=tiny) == []


def test_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_all_as_branches_of_one_local_job() -> None:
    """G3: any number of sources and sinks in one job."""
    assert run_on_host(EVERYWHERE, "local", 2) == []


@pytest.mark.spark
@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_all_as_branches_of_one_spark_job(host: str) -> None:
    """P11, G3: one job for all of them, since each Spark job costs seconds; streaming in several batches."""
    assert run_on_host(EVERYWHERE, host, 2, {"penstock.batch.max-records": "4"}) == []
