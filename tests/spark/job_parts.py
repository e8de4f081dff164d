"""Stand-ins for what a streaming job works with: a query, a clock, a checkpoint, a commit coordinator. No Spark.

All of them write what happens to them into one list, so that a test can assert the order of events.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.core.errors import CheckpointError, PenstockError
from penstock.core.program.job import JobPlan, RuntimeSettings
from penstock.core.time.clock import ManualClock
from penstock.jobs.client import JobStatus
from penstock.jobs.restart import FixedDelay
from penstock.runtime.admission import Admission
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.state.page import NO_TIMER
from penstock.spark.client import JobRecord
from penstock.spark.streaming.committer import BatchCommitter
from penstock.spark.streaming.job_context import JobContext
from penstock.spark.streaming.metrics import JobMetrics

Events = list[Any]


class FakeClock(ManualClock):
    """Sleeping takes no time but moves the clock; `on_sleep` is what happens meanwhile."""

    def __init__(self, now_ms: int = 1000) -> None:
        super().__init__(now_ms)
        self.on_sleep: Callable[[], None] = lambda: None

    def sleep_ms(self, delay_ms: float) -> None:
        self.advance_ms(int(delay_ms))
        self.on_sleep()


@dataclass
class FakeProgress:
    batch: int
    ms: int = 100
    is_committed: bool = True

    def batch_id(self) -> int:
        return self.batch

    def duration_ms(self) -> int:
        return self.ms

    def committed(self) -> bool:
        return self.is_committed


@dataclass
class FakeQuery:
    """Runs until it is stopped or `failure` is set."""

    events: Events = field(default_factory=list)
    progress: FakeProgress | None = None
    triggering: bool = False
    failure: Exception | None = None
    stopped: bool = False

    @property
    def active(self) -> bool:
        return not self.stopped and self.failure is None

    def last_progress(self) -> FakeProgress | None:
        return self.progress

    def stop(self) -> None:
        self.events.append("query stopped")
        self.stopped = True

    def exception(self) -> Exception | None:
        return self.failure


@dataclass
class FakeCheckpoint:
    events: Events

    def seal(self, batch_id: int) -> None:
        self.events.append(f"seal {batch_id}")

    def forget_predecessors(self) -> None:
        self.events.append("forget predecessors")


@dataclass
class FakeOwner:
    """Asked whether this driver still owns the checkpoint; from the `lost_at`th time on it does not."""

    lost_at: int | None = None
    asked: int = 0

    def check(self) -> None:
        self.asked += 1
        if self.lost_at is not None and self.asked >= self.lost_at:
            raise CheckpointError("Another driver has taken over")

    look = check


@dataclass
class FakeCommits:
    events: Events
    holding: bool = False
    failure: Exception | None = None

    def hold(self, output: BatchOutput) -> None:
        assert not self.holding
        self.events.append("hold")
        self.holding = True

    def release(self) -> None:
        self.holding = False
        if self.failure is not None:
            raise self.failure
        self.events.append("release")

    def drop(self) -> None:
        self.events.append("drop")
        self.holding = False


@dataclass
class FakeRequests:
    """`ends`: whether the next request that is carried out ends the job."""

    events: Events = field(default_factory=list)
    holds: bool = False
    drains: bool = False
    saved: bool = False
    ends: bool = False

    def handle_requests(self, batch: int, finished: bool, still: Callable[[], bool]) -> bool:
        if not (self.holds or self.drains) or (self.drains and not finished) or not still():
            return False
        self.events.append(f"request after batch {batch}")
        self.holds = self.drains = False
        self.saved = self.ends
        return self.ends


def job_context() -> JobContext:
    clock = FakeClock()
    plan = JobPlan("job", (), 1, 128, RuntimeSettings())
    return JobContext(plan, JobRecord("job", "5f1a", JobStatus.CREATED, clock), clock)


def batch(finished: bool = False, timers: tuple[int, ...] = (NO_TIMER,)) -> BatchOutput:
    """What a batch delivered: one metrics entry per subtask, with the time of its next timer."""
    made = BatchOutput([])
    made.finished = finished
    made.metrics = [{"next_timer_ms": due, "vertex": 1, "subtask": s} for s, due in enumerate(timers)]
    return made


@dataclass
class Parts:
    """A committer with all that it needs; `events` has what happened, in order."""

    unending: bool = False
    events: Events = field(default_factory=list)
    job: JobContext = field(default_factory=job_context)
    owner: FakeOwner = field(default_factory=FakeOwner)

    def __post_init__(self) -> None:
        self.commits = FakeCommits(self.events)
        self.admission = Admission({}, 0)
        self.strategy = FixedDelay(3, 50)
        self.metrics = JobMetrics(self.admission.limits)
        self.committer = BatchCommitter(
            self.job,
            self.commits,  # type: ignore[arg-type]
            FakeCheckpoint(self.events),
            self.owner,
            self.admission,
            self.strategy,
            self.metrics,
            lambda: self.events.append("publish"),
            self.unending,
        )

    def run_batch(self, batch_id: int, output: BatchOutput | None = None) -> None:
        def run() -> BatchOutput:
            self.events.append(f"batch {batch_id}")
            return batch() if output is None else output

        self.committer.run_batch(batch_id, run)


def failure(text: str = "it broke") -> PenstockError:
    return PenstockError(text)
