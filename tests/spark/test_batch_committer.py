"""What a batch delivered is held back until this query has committed the batch (F1, F2, F6); without Spark."""

import pytest

from penstock.core.errors import CheckpointError
from tests.spark.job_parts import FakeOwner, FakeProgress, FakeQuery, Parts, batch


def test_a_batch_is_released_only_when_this_query_has_committed_it() -> None:
    """F2: neither a report on the batch before nor one without a commit is enough."""
    parts = Parts()
    parts.run_batch(7)
    assert not parts.committer.release_durable(FakeQuery())
    assert not parts.committer.release_durable(FakeQuery(progress=FakeProgress(6)))
    assert not parts.committer.release_durable(FakeQuery(progress=FakeProgress(7, is_committed=False)))
    assert "release" not in parts.events
    assert parts.committer.release_durable(FakeQuery(progress=FakeProgress(7)))
    assert parts.events == ["batch 7", "hold", "publish", "seal 7", "release", "forget predecessors"]
    assert parts.job.run.released == 7
    assert parts.metrics.batches == 1


def test_the_next_batch_releases_the_one_before() -> None:
    """F2: Spark starts a batch when the one before is durable, whether or not that was noticed meanwhile."""
    parts = Parts()
    parts.run_batch(0)
    parts.run_batch(1)
    released = ["seal 0", "release", "forget predecessors"]
    assert parts.events == ["batch 0", "hold", "publish", *released, "batch 1", "hold", "publish"]


def test_predecessors_are_forgotten_once_in_a_run() -> None:
    """F4: an upgraded job needs its old generation until a batch of the new one is durable."""
    parts = Parts()
    for batch_id in range(3):
        parts.run_batch(batch_id)
    assert parts.events.count("forget predecessors") == 1
    parts.job.run.begin()
    parts.run_batch(3)
    assert parts.events.count("forget predecessors") == 2


def test_nothing_is_let_out_before_the_seal() -> None:
    """F8: a commit that is lost after its results were let out must be noticed."""
    parts = Parts()
    parts.run_batch(0)
    parts.committer.settle(FakeQuery(progress=FakeProgress(0)))
    assert parts.events.index("seal 0") < parts.events.index("release")


def test_a_query_that_ended_without_committing_delivers_nothing() -> None:
    """F1: what the batch delivered never happened; the next run finds it in state if the batch was durable."""
    parts = Parts()
    parts.run_batch(0)
    parts.committer.settle(FakeQuery(failure=OSError("gone")))
    assert parts.events[-1] == "drop"
    parts.run_batch(0)
    parts.committer.settle(None)
    assert parts.events[-1] == "drop"
    assert parts.metrics.batches == 0


def test_a_driver_with_a_successor_runs_no_batch() -> None:
    """F1"""
    parts = Parts(owner=FakeOwner(lost_at=1))
    with pytest.raises(CheckpointError, match="taken over"):
        parts.run_batch(0)
    assert parts.events == []


def test_a_successor_that_comes_while_a_batch_runs_keeps_spark_from_committing_it() -> None:
    """F1"""
    parts = Parts(owner=FakeOwner(lost_at=2))
    with pytest.raises(CheckpointError, match="taken over"):
        parts.run_batch(0)
    assert parts.events == ["batch 0"]


def test_a_job_that_stops_refuses_the_batch_of_a_dataframe() -> None:
    """P8: a DataFrame goes on although the planner plans no more batches; the refusal is not a failure."""
    parts = Parts(unending=True)
    parts.run_batch(0)
    parts.job.stop.ask()
    with pytest.raises(InterruptedError, match="between two batches"):
        parts.run_batch(1)
    assert parts.job.run.cut
    assert parts.events[-2:] == ["release", "forget predecessors"], "the batch before is durable, and out"


def test_other_sources_let_the_last_batch_run() -> None:
    parts = Parts()
    parts.job.stop.ask()
    parts.run_batch(0)
    assert not parts.job.run.cut
    assert parts.commits.holding


def test_the_earliest_timer_of_all_subtasks_is_told() -> None:
    """T11"""
    parts = Parts()
    parts.run_batch(0, batch(timers=(9000, 5000, 7000)))
    assert parts.job.run.next_timer_ms == 5000
    parts.run_batch(1, batch())
    assert parts.job.run.next_timer_ms is None


def test_the_end_of_all_sources_is_noted_and_the_watching_thread_woken() -> None:
    parts = Parts()
    parts.run_batch(0, batch(finished=True))
    assert parts.job.run.finished
    assert parts.job.stop.woken.is_set()


def test_a_commit_that_fails_is_not_counted() -> None:
    """F6: the batch is durable, so its committables come back out of state in the next run."""
    parts = Parts()
    parts.run_batch(0)
    parts.commits.failure = OSError("disk full")
    with pytest.raises(OSError, match="disk full"):
        parts.committer.release_durable(FakeQuery(progress=FakeProgress(0)))
    assert parts.metrics.batches == 0
    assert parts.job.run.released is None


def test_progress_gives_a_restart_strategy_its_attempts_back() -> None:
    """F3"""
    parts = Parts()
    for _ in range(3):
        parts.strategy.next_delay_ms(0)
    parts.run_batch(0)
    parts.committer.release_durable(FakeQuery(progress=FakeProgress(0)))
    assert parts.strategy.next_delay_ms(0) == 50
