"""How another process asks a running job for a savepoint, or to stop, through the channel beside its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.core.errors import JobNotFoundError, SavepointError
from penstock.core.time.clock import SystemClock
from penstock.jobs.control_channel import ControlChannel, Request, checkpoint_channel
from penstock.jobs.listing import find_job

if TYPE_CHECKING:
    from penstock.savepoint.storage import Folder

__all__ = ["SavepointRequest", "Waits", "ask_for_savepoint"]

_POLL_MS = 200
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class SavepointRequest:
    """What is asked for: a savepoint at `path` (none if empty), then to go on or to `stop`, draining first or not.

    The names of the fields are those in the file of a request.

    >>> SavepointRequest.of(Request("savepoint", {"path": "/data/one", "stop": True}))
    SavepointRequest(path='/data/one', stop=True, drain=False)
    """

    path: str = ""
    stop: bool = False
    drain: bool = False

    @staticmethod
    def of(request: Request) -> SavepointRequest:
        """The request as the job understands it; TypeError if it asks for something unknown."""
        return SavepointRequest(**request.arguments)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the asker waits, in milliseconds.

    The asker waits for as long as it sees the job alive: listed on this machine, its process running. A job that is
    not seen for `answer_ms` and has not begun is taken for not running. For a job that has begun and is not seen, as
    on another machine, the asker waits `finish_ms`. With `limit_ms` each of the two waits ends then in any case.
    """

    answer_ms: int = 60_000
    finish_ms: int = 600_000
    limit_ms: int | None = None


def ask_for_savepoint(
    checkpoint: str, request: SavepointRequest, waits: Waits | None = None, clock: SystemClock | None = None
) -> str:
    """Ask the job that runs on a checkpoint, and wait until it is done; the savepoint's path, if one was asked for.

    Called by the command line, in a process that is not the job's. SavepointError if the job refuses, or is silent.
    """
    from penstock.savepoint.storage import Folder  # brings Arrow, which other commands need not wait for

    folder = Folder(checkpoint)
    if folder.size("penstock/owner") is None:
        raise SavepointError(f"{checkpoint} is not the checkpoint folder of a job of Penstock")
    answer = _Asking(folder, clock or SystemClock(), waits or Waits()).ask(_absolute(request))
    if "error" in answer:
        raise SavepointError(str(answer["error"]))
    return str(answer.get("path", ""))


def _absolute(request: SavepointRequest) -> dict[str, object]:
    """The request's arguments; its path is made absolute, for the job may have been started in another folder."""
    path = request.path
    return {**asdict(request), "path": os.path.abspath(path) if path and "://" not in path else path}


class _Asking:
    """One request to the job on a checkpoint, and the waiting for its answer."""

    def __init__(self, folder: Folder, clock: SystemClock, waits: Waits) -> None:
        self._location, self._clock, self._waits = folder.location, clock, waits
        self._channel: ControlChannel = checkpoint_channel(folder)

    def ask(self, arguments: dict[str, Any]) -> dict[str, Any]:
        request = self._channel.ask("savepoint", **arguments)
        silent, unfinished = "no job answers: none seems to run on it", "the job has not finished what was asked of it"
        try:
            self._wait(lambda: self._channel.begun(request) or None, self._waits.answer_ms, silent)
            return self._wait(lambda: self._channel.answer(request), self._waits.finish_ms, unfinished)
        except ValueError as error:
            raise SavepointError(str(error)) from None
        finally:
            self._channel.withdraw(request)

    def _wait(self, look: Callable[[], _Found | None], unseen_ms: int, otherwise: str) -> _Found:
        """Look now and then until there is something to be seen."""
        limit_ms = self._waits.limit_ms
        began_ms = seen_ms = self._clock.now_ms()
        while True:
            if (found := look()) is not None:
                return found
            now_ms = self._clock.now_ms()
            if limit_ms is not None and now_ms - began_ms >= limit_ms:
                raise SavepointError(f"{self._location}: {_LATE} after {limit_ms / 1000:g} s")
            if now_ms - seen_ms >= unseen_ms:
                if not _lives(self._location):
                    raise SavepointError(f"{self._location}: {otherwise} after {unseen_ms // 1000} s")
                seen_ms = now_ms
            self._clock.sleep_ms(_POLL_MS)


_LATE = "the job has not done what was asked of it, which it may still do,"


def _lives(checkpoint: str) -> bool:
    """Whether a job on this checkpoint is seen to live. Only of jobs on this machine can that be known."""
    try:
        job = find_job(checkpoint)
    except JobNotFoundError:
        return False
    return job.here and job.alive
