"""The supervisor: restarts, and the status with which a job ends (F3); without Spark."""

import logging

import pytest

from penstock.core.errors import CheckpointError, PenstockError, SparkDiedError
from penstock.jobs.client import JobStatus
from penstock.jobs.restart import FixedDelay, NoRestart, RestartStrategy
from penstock.spark.streaming.job_context import JobContext
from penstock.spark.streaming.metrics import JobMetrics
from penstock.spark.streaming.supervisor import Supervisor
from tests.spark.job_parts import FakeOwner, failure, job_context


class FakeRunner:
    """Gives one outcome for each run: an error, None for an end; one that is raised comes as a list."""

    def __init__(self, *outcomes: PenstockError | list[BaseException] | None) -> None:
        self.outcomes = list(outcomes)
        self.completed = False

    def run_once(self) -> PenstockError | None:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, list):
            raise outcome[0]
        return outcome


class Supervised:
    def __init__(
        self,
        runner: FakeRunner,
        strategy: RestartStrategy | None = None,
        owner: FakeOwner | None = None,
        job: JobContext | None = None,
    ) -> None:
        self.job = job or job_context()
        self.metrics = JobMetrics(dict)
        self.finished: list[JobStatus] = []
        Supervisor(
            self.job,
            runner,
            owner or FakeOwner(),
            strategy or FixedDelay(2, 1),
            self.metrics,
            lambda error: error if isinstance(error, PenstockError) else PenstockError(f"translated: {error}"),
            lambda: self.finished.append(self.job.record.status),
        ).supervise()

    @property
    def error(self) -> str:
        return str(self.job.record.error)


def test_a_job_that_ends_by_itself_has_finished() -> None:
    done = Supervised(FakeRunner(None))
    assert done.finished == [JobStatus.FINISHED]
    assert done.job.record.error is None


def test_a_job_that_was_stopped_is_canceled() -> None:
    """P8"""
    job = job_context()
    job.stop.ask()
    assert Supervised(FakeRunner(None), job=job).finished == [JobStatus.CANCELED]


def test_a_job_that_came_to_its_end_while_it_was_being_stopped_has_finished() -> None:
    """F4: so has one that was stopped with a savepoint."""
    job, runner = job_context(), FakeRunner(None)
    job.stop.ask()
    runner.completed = True
    assert Supervised(runner, job=job).finished == [JobStatus.FINISHED]


def test_a_failed_run_is_followed_by_another(caplog: pytest.LogCaptureFixture) -> None:
    """F3"""
    with caplog.at_level(logging.WARNING, "penstock.job"):
        done = Supervised(FakeRunner(failure("a"), failure("b"), None))
    assert done.finished == [JobStatus.FINISHED]
    assert done.metrics.restarts == 2
    assert [record.getMessage() for record in caplog.records] == [
        "Job 'job' failed, restart 1 in 1 ms: a",
        "Job 'job' failed, restart 2 in 1 ms: b",
    ]
    assert done.metrics.snapshot([], 0)["last_failure"] == "b"


def test_the_strategy_decides_when_to_give_up() -> None:
    """F3"""
    done = Supervised(FakeRunner(failure("a"), failure("b"), failure("c")))
    assert done.finished == [JobStatus.FAILED]
    assert done.error == "c"
    assert done.metrics.snapshot([], 0)["failures"] == 3
    assert Supervised(FakeRunner(failure("a")), NoRestart()).error == "a"


def test_a_job_that_fails_while_it_is_being_stopped_is_not_restarted() -> None:
    """P8, F3"""
    job = job_context()
    job.stop.ask()
    done = Supervised(FakeRunner(failure("a")), job=job)
    assert (done.finished, done.error) == ([JobStatus.FAILED], "a")


def test_a_stop_between_two_runs_ends_the_job() -> None:
    """P8: it need not wait for the restart."""
    job = job_context()
    runner = FakeRunner(failure("a"))
    job.stop._halted.set()  # as by a stop that comes during the wait
    done = Supervised(runner, FixedDelay(1, 3_600_000), job=job)
    assert done.finished == [JobStatus.CANCELED]


def test_a_dead_jvm_is_not_restarted_into() -> None:
    """F10: the next job of the process gets another."""
    done = Supervised(FakeRunner(SparkDiedError("The Java process of Spark has died")))
    assert done.finished == [JobStatus.FAILED]
    assert done.metrics.restarts == 0


def test_a_driver_with_a_successor_does_not_restart() -> None:
    """F1: the failure is often the successor's doing, so the successor is what is told."""
    done = Supervised(FakeRunner(failure("a")), owner=FakeOwner(lost_at=1))
    assert isinstance(done.job.record.error, CheckpointError)
    assert done.metrics.restarts == 0


def test_whatever_is_raised_is_kept_for_who_waits() -> None:
    done = Supervised(FakeRunner([ValueError("odd")]))
    assert (done.finished, done.error) == ([JobStatus.FAILED], "translated: odd")
