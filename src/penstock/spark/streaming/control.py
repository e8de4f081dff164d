"""How the driver tells the planner of the sources, a process beside it, what the next batch may be."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Protocol, TypedDict

from penstock.core.whole_files import write_whole
from penstock.spark.streaming.job_context import JobContext

__all__ = ["Control", "ControlFile", "ControlPublisher", "WaitingRequests"]


class Control(TypedDict, total=False):
    """What the planner is told; nothing before the driver has said anything."""

    stop: bool
    """Plan no more batches: the job ends."""
    hold: bool
    """Plan no batch for now: the job stands still for a savepoint."""
    drain: bool
    """Plan one last batch, in which all sources end."""
    next_timer_ms: int | None
    """When a batch is wanted even if no data comes."""
    limits: dict[str, int]
    """Records that a split of each source, by uid, may bring into a batch."""


class ControlFile:
    """A file on the driver's machine, written by the driver and read by the planner."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None
        self._data = Control()

    def write(self, control: Control) -> None:
        """Replace what the file says, whole or not at all."""
        write_whole(self.path, json.dumps(control))

    def read(self) -> Control:
        """What the file says; called by the planner before each batch, so an unchanged file is not parsed again."""
        try:
            stat = os.stat(self.path)
        except FileNotFoundError:
            return self._data
        if (stat.st_mtime_ns, stat.st_ino) != self._seen:
            self._seen = (stat.st_mtime_ns, stat.st_ino)
            with open(self.path, encoding="utf-8") as file:
                self._data = json.load(file)
        return self._data


class WaitingRequests(Protocol):
    """The requests that the job has not carried out yet, as far as the planner has to know of them."""

    @property
    def holds(self) -> bool:
        """Whether the job is to stand still."""

    @property
    def drains(self) -> bool:
        """Whether all sources are to end."""


class ControlPublisher:
    """Writes the control file whenever there is something new to tell the planner."""

    def __init__(
        self,
        job: JobContext,
        file: ControlFile,
        requests: WaitingRequests,
        limits: Callable[[], dict[str, int]],
    ) -> None:
        # configuration
        self._job, self._file, self._requests, self._limits = job, file, requests, limits
        # of the job
        self._published = Control()

    def publish_control(self) -> None:
        """Tell the planner how things stand; called at the start of a run, after each batch and now and then.

        Requests wait until the first batch of a run is out: that batch commits what the run before had prepared.
        """
        with self._job.lock:
            run = self._job.run
            begun = run.released is not None
            control = Control(
                stop=self._job.stop.asked,
                hold=begun and self._requests.holds,
                drain=begun and self._requests.drains,
                next_timer_ms=run.next_timer_ms,
                limits=self._limits(),
            )
            if control != self._published:
                self._published = control
                self._file.write(control)
