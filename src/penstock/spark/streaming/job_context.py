"""What the parts of a streaming job share, and what they need of Spark's query. Imports nothing of PySpark."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Protocol

from penstock.core.program.job import JobPlan
from penstock.core.time.clock import Clock
from penstock.spark.client import JobRecord

__all__ = ["BatchProgress", "JobContext", "RunProgress", "RunningQuery", "StopSignal", "WaitingClock"]


class BatchProgress(Protocol):
    """Spark's report on a batch that has ended. Each method asks the JVM, so none is called without need."""

    def batch_id(self) -> int:
        """Spark's number of the batch."""

    def duration_ms(self) -> int:
        """How long the batch took, Spark's own work included."""

    def committed(self) -> bool:
        """Whether the query that makes this report has committed the batch."""


class RunningQuery(Protocol):
    """Spark's query, as far as the parts of a job use it. Tests put a fake in its place."""

    @property
    def active(self) -> bool:
        """Whether the query runs; False once it has stopped or failed."""

    @property
    def triggering(self) -> bool:
        """Whether the query is planning or running a batch right now."""

    def last_progress(self) -> BatchProgress | None:
        """The report on the last batch; None before the first has ended."""

    def stop(self) -> None:
        """Stop the query and wait until it has stopped."""

    def exception(self) -> Exception | None:
        """What an ended query failed with; None if it was stopped."""


class WaitingClock(Clock, Protocol):
    """A clock that can also let time pass."""

    def sleep_ms(self, delay_ms: float) -> None:
        """Block the calling thread."""


class StopSignal:
    """That the job is to end between two batches, and the events by which threads that wait are woken.

    `asked` is set from any thread and never taken back. It is also set by the job itself, when a request that it has
    carried out says that the job ends.
    """

    def __init__(self) -> None:
        self.asked = False
        self.woken = threading.Event()
        """Set when a batch has run and when something is asked of the job; the thread that watches the query waits."""
        self._halted = threading.Event()

    def ask(self) -> None:
        """Ask the job to end, and wake it: it tells the planner. Called by the client, from any thread."""
        self.asked = True
        self._halted.set()
        self.woken.set()

    def wait_ms(self, delay_ms: int) -> bool:
        """Wait for the time between two runs; True if the client asked the job to end meanwhile."""
        return self._halted.wait(delay_ms / 1000)


@dataclass(slots=True)
class RunProgress:
    """How far the current run of the query has come. A run starts with the job and after each failure."""

    released: int | None = None
    """Spark's number of the last batch of this run whose results are out; None before the first."""
    next_timer_ms: int | None = None
    """When the next processing-time timer is due, as the last batch reported; None if there is none."""
    finished: bool = False
    """Whether all sources have ended."""
    cut: bool = False
    """Whether the run was ended by refusing a batch, which Spark reports as a failure and which is none."""

    def begin(self) -> None:
        """Called at the start of a run: nothing of the run before counts."""
        self.released = self.next_timer_ms = None
        self.finished = self.cut = False


@dataclass(frozen=True, slots=True)
class JobContext:
    """What all parts of a streaming job share.

    `lock` is held while a batch is held back, released or dropped, and while the planner is told: the thread that
    watches the query and the thread in which Spark runs a batch do so alike.
    """

    plan: JobPlan
    record: JobRecord
    clock: WaitingClock
    lock: threading.RLock = field(default_factory=threading.RLock)
    stop: StopSignal = field(default_factory=StopSignal)
    run: RunProgress = field(default_factory=RunProgress)
