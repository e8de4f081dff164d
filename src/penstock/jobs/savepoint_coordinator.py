"""Takes savepoints of a running job, and ends it, when its own process or another one asks for that."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from penstock.core.errors import JobFailedError
from penstock.core.time.clock import Clock
from penstock.jobs.control_channel import ControlChannel, Request
from penstock.jobs.savepoint_requests import SavepointRequest

__all__ = ["SavepointCoordinator", "SavepointWriter"]

_LOOK_MS = 1000


class SavepointWriter(Protocol):
    """What a host does for savepoints of its job: it alone knows where the state lies."""

    @property
    def drainable(self) -> bool:
        """Whether all sources can be brought to an end."""

    def write(self, request: SavepointRequest, batch: int, finished: bool) -> str:
        """Write a savepoint of the state after a batch, and return its path; raises what makes it impossible.

        Called between two batches. `batch` is the host's number of the last batch whose results are out; `finished`
        says that all sources have ended.
        """

    def explain(self, error: Exception) -> Exception:
        """The error as the asker is told it."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A request that waits for its turn. `answer` gets the savepoint's path, empty if none was asked for."""

    request: SavepointRequest
    answer: Future[str] = field(default_factory=Future)


class SavepointCoordinator:
    """Does one request after the other while the job stands still between two batches.

    The host's supervising thread calls `handle_requests` when no batch is being committed, and tells its planner by
    `holds` and `drains` to make no more batches. Any thread may call `submit` and read the properties.
    """

    def __init__(self, channel: ControlChannel, writer: SavepointWriter, clock: Clock) -> None:
        # configuration
        self._channel, self._writer, self._clock = channel, writer, clock
        # of the job
        self._pending: deque[_Pending] = deque()
        self._last: tuple[_Pending, str] | None = None
        self._looked_ms = 0
        self._closed = False

    @property
    def drains(self) -> bool:
        """Whether all sources are to end, because the next request asks for that."""
        return self._wants_drain(self._first())

    @property
    def holds(self) -> bool:
        """Whether the job is to hold still for the next request."""
        first = self._first()
        return first is not None and not self._wants_drain(first)

    @property
    def saved(self) -> bool:
        """Whether the job ends with a savepoint, as was asked of it."""
        return self._last is not None and bool(self._last[1])

    def submit(self, request: SavepointRequest) -> Future[str]:
        """A request of the job's own process; the future gets the savepoint's path."""
        pending = _Pending(request)
        self._pending.append(pending)
        if self._closed:
            self._refuse_pending()
        return pending.answer

    def handle_requests(self, batch: int, finished: bool, still: Callable[[], bool]) -> bool:
        """Do what is asked for, if the job stands `still`; returns whether the job is to end now.

        `batch` and `finished` are as for `SavepointWriter.write`. A request for a drained savepoint waits until all
        sources have ended.
        """
        self._look()
        pending = self._first()
        if pending is None or (self._wants_drain(pending) and not finished) or not still():
            return False
        try:
            path = self._writer.write(pending.request, batch, finished) if pending.request.path else ""
        except Exception as error:
            self._pending.popleft()
            pending.answer.set_exception(self._writer.explain(error))
            return False
        self._pending.popleft()
        if pending.request.stop:
            self._last = (pending, path)
        else:
            pending.answer.set_result(path)
        return pending.request.stop

    def close(self) -> None:
        """The job has ended: answer the request to stop, and refuse the requests that still wait."""
        if self._last is not None:
            pending, path = self._last
            pending.answer.set_result(path)
        self._refuse_pending()

    def _first(self) -> _Pending | None:
        """The request whose turn it is; it stays first until it is done."""
        try:
            return self._pending[0]
        except IndexError:
            return None

    def _wants_drain(self, pending: _Pending | None) -> bool:
        return pending is not None and pending.request.drain and self._writer.drainable

    def _refuse_pending(self) -> None:
        self._closed = True
        while self._pending:
            answer = self._pending.popleft().answer
            if not answer.done():
                answer.set_exception(JobFailedError("The job ended before it could do what was asked of it"))

    def _look(self) -> None:
        """Take what other processes ask for; once a second, since the folder may be far away."""
        now_ms = self._clock.now_ms()
        if now_ms - self._looked_ms >= _LOOK_MS:
            self._looked_ms = now_ms
            for request in self._channel.take():
                self._accept(request)

    def _accept(self, request: Request) -> None:
        try:
            wanted = SavepointRequest.of(request)
        except TypeError as error:
            self._channel.refuse(request, error)
            return
        self._channel.acknowledge(request)
        self.submit(wanted).add_done_callback(lambda answer: self._channel.reply(request, _outcome(answer)))


def _outcome(answer: Future[str]) -> dict[str, str]:
    error = answer.exception()
    return {"error": str(error)} if error is not None else {"path": answer.result()}
