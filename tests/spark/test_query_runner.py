"""One run of the query: batches released, requests carried out, stopped between two batches; without Spark."""

from collections.abc import Callable

from penstock.core.errors import JobFailedError, PenstockError
from penstock.jobs.client import JobStatus
from penstock.spark.streaming.query_runner import QueryRunner
from tests.spark.job_parts import FakeOwner, FakeProgress, FakeQuery, FakeRequests, Parts, batch


class Run:
    """A runner whose fake query is driven by `steps`, one for each time that the runner looks."""

    def __init__(self, *steps: Callable[["Run"], None], unending: bool = False) -> None:
        self.parts = Parts(unending)
        self.events = self.parts.events
        self.query = FakeQuery(self.events)
        self.requests = FakeRequests(self.events)
        self.lookout = FakeOwner()
        self.refusal: Exception | None = None
        self._steps = list(steps)
        self.runner = QueryRunner(
            self.parts.job,
            self.parts.committer,
            self.requests,
            self.lookout,
            lambda: self.events.append("publish"),
            self._start,
            lambda error: error if isinstance(error, PenstockError) else JobFailedError(str(error)),
        )
        self.parts.job.clock.on_sleep = self._step  # type: ignore[attr-defined]
        self.parts.job.stop.woken.wait = self._wait  # type: ignore[method-assign]

    def _start(self) -> FakeQuery:
        if self.refusal is not None:
            raise self.refusal
        self._step()
        return self.query

    def _wait(self, timeout: float | None = None) -> bool:
        self._step()
        return False

    def _step(self) -> None:
        assert self._steps, f"the runner goes on: {self.events}"
        self._steps.pop(0)(self)

    def once(self) -> PenstockError | None:
        error = self.runner.run_once()
        assert not self._steps, f"the runner ended early: {self.events}"
        return error


def idle(run: Run) -> None:
    pass


def first_batch(run: Run) -> None:
    run.parts.run_batch(0)
    run.query.triggering = True


def committed(run: Run) -> None:
    run.query.progress = FakeProgress(0)
    run.query.triggering = False


def ended(run: Run) -> None:
    run.parts.run_batch(0, batch(finished=True))
    run.query.progress = FakeProgress(0)


def asked_to_stop(run: Run) -> None:
    run.parts.job.stop.ask()


def broken(run: Run) -> None:
    run.query.failure = OSError("the disk is gone")


def test_a_job_whose_input_ends_is_stopped_when_its_last_batch_is_out() -> None:
    run = Run(ended)
    assert run.once() is None
    assert run.events[-1] == "query stopped"
    assert run.events.index("release") < run.events.index("query stopped")
    assert run.runner.completed
    assert run.parts.metrics.snapshot([], 0)["batch_ms"] == [100]


def test_the_status_says_that_it_runs() -> None:
    seen = []
    run = Run(idle, lambda run: seen.append(run.parts.job.record.status), asked_to_stop)
    run.once()
    assert seen == [JobStatus.RUNNING]


def test_a_batch_that_runs_is_never_cut_off() -> None:
    """P8: the query is stopped when the batch is durable and its results are out."""
    run = Run(first_batch, asked_to_stop, idle, idle, committed)
    assert run.once() is None
    assert run.events[-3:] == ["forget predecessors", "publish", "query stopped"]
    assert not run.runner.completed


def test_a_query_that_plans_a_batch_is_not_stopped_yet() -> None:
    """P8"""

    def planning(run: Run) -> None:
        run.parts.job.stop.ask()
        run.query.triggering = True

    def planned(run: Run) -> None:
        assert not run.query.stopped
        run.query.triggering = False

    run = Run(idle, planning, idle, planned)
    assert run.once() is None
    assert run.query.stopped


def test_a_request_waits_for_the_first_batch_of_the_run() -> None:
    """F4: that batch commits what the run before had prepared."""

    def asked(run: Run) -> None:
        run.requests.holds = run.requests.ends = True

    def nothing_yet(run: Run) -> None:
        assert "request after batch 0" not in run.events

    run = Run(asked, nothing_yet, first_batch, committed)
    assert run.once() is None
    assert run.events.index("release") < run.events.index("request after batch 0")
    assert run.events[-1] == "query stopped"
    assert run.runner.completed, "it ends with a savepoint, as was asked"


def test_a_request_that_does_not_end_the_job_lets_it_go_on() -> None:
    """F4"""

    def asked(run: Run) -> None:
        run.requests.holds = True

    run = Run(asked, first_batch, committed, idle, asked_to_stop)
    run.once()
    assert "request after batch 0" in run.events
    assert not run.requests.saved


def test_a_failed_query_gives_its_error_and_drops_what_it_held() -> None:
    """F1"""
    run = Run(first_batch, broken)
    error = run.once()
    assert "the disk is gone" in str(error)
    assert run.events[-1] == "drop"
    assert "query stopped" not in run.events


def test_a_failed_query_that_had_committed_the_batch_delivers_it() -> None:
    """F1, F6"""

    def committed_and_broken(run: Run) -> None:
        committed(run)
        broken(run)

    run = Run(first_batch, committed_and_broken)
    assert run.once() is not None
    assert run.events[-2:] == ["release", "forget predecessors"]


def test_a_query_that_cannot_start_is_an_error_like_others() -> None:
    run = Run()
    run.refusal = OSError("no such folder")
    assert "no such folder" in str(run.once())


def test_a_driver_with_a_successor_stops_its_query() -> None:
    """F1: also while nothing is to be done."""
    run = Run(idle)
    run.lookout.lost_at = 1
    assert "taken over" in str(run.once())
    assert run.events[-1] == "query stopped"


def test_a_batch_that_was_refused_to_stop_the_job_is_no_failure() -> None:
    """P8"""

    def refused(run: Run) -> None:
        run.parts.job.stop.ask()
        run.parts.job.run.cut = True
        run.query.failure = InterruptedError("The job stops between two batches")

    assert Run(refused, unending=True).once() is None


def test_each_run_starts_anew() -> None:
    """T11: a timer of the run before is not waited for: its batch is run again, and says when."""
    run = Run(asked_to_stop)
    before = run.parts.job.run
    before.released, before.next_timer_ms, before.cut = 7, 9000, True
    run.once()
    assert (before.released, before.next_timer_ms, before.cut) == (None, None, False)
    assert run.events[0] == "publish", "the planner is told before the query starts"
