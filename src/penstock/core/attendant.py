"""Beside a running job: lists it, takes what other processes ask of it, takes it off the list at its end."""

from __future__ import annotations

import atexit
import logging
import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from penstock.core.client import JobClient
from penstock.core.mailbox import Mailbox, Request
from penstock.core.running_jobs import (
    RunningJob,
    announce,
    announcements,
    forget_dead,
    jobs_folder,
    local_path,
    process_mark,
    withdraw,
)

__all__ = ["Attendant", "Handler", "attend", "dismiss"]

Handler = Callable[[JobClient, dict[str, Any]], dict[str, Any]]
"""Does what a request asks and says what came of it; called in the attendant's thread, one request at a time."""

_LOG = logging.getLogger("penstock.job")
_LOOK_MS = 250
_LAST_MS = 5_000


def _cancel(client: JobClient, _: dict[str, Any]) -> dict[str, Any]:
    _LOG.warning("Another process asks to cancel the job: it ends between two batches.")
    client.stop()
    return {"status": client.status.name}


HANDLERS: dict[str, Handler] = {"cancel": _cancel}
"""What may be asked of every job."""


def attend(
    client: JobClient, name: str, engine: str, checkpoint: str, now_ms: int, more: Mapping[str, Handler] | None = None
) -> Attendant | None:
    """List a job that has started and look after its mailbox; None, with a warning, where files cannot be written."""
    pid, beside = os.getpid(), local_path(checkpoint)
    # a folder of its own: a predecessor that still runs must not take requests that are meant for this job
    mailbox = beside / "penstock" / "mailbox" / client.job_id if beside else jobs_folder() / f"{client.job_id}.mailbox"
    place = checkpoint if beside is None else str(beside)
    job = RunningJob(
        client.job_id,
        name,
        pid,
        process_mark(pid),
        socket.gethostname(),
        now_ms,
        client.status.name,
        engine,
        os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else "",
        place,
        str(mailbox),
    )
    try:
        announcements()  # forgets those that have died
        forget_dead(place)
        Mailbox(mailbox).open()
        announce(job)
    except OSError as error:
        warnings.warn(
            f"The job cannot be listed, so `penstock list` and `penstock cancel` will not find it: {error}. "
            "PENSTOCK_STATE_DIR names another folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return Attendant(client, job, {**HANDLERS, **(more or {})})


_ATTENDANTS: dict[str, Attendant] = {}
"""Those of jobs that are listed, by job id."""


def dismiss(client: JobClient) -> None:
    """The job has ended: return once it is off the list, after which nobody touches its files."""
    attendant = _ATTENDANTS.get(client.job_id)
    if attendant is not None:
        attendant.leave()


class Attendant:
    """A thread that ends with its job."""

    def __init__(self, client: JobClient, job: RunningJob, handlers: Mapping[str, Handler]) -> None:
        self._client, self._job, self._handlers = client, job, handlers
        self._mailbox = Mailbox(job.mailbox)
        self._wake = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._attend, name=f"penstock-attendant-{job.short_id}", daemon=True)
        _ATTENDANTS[job.job_id] = self
        self._thread.start()
        atexit.register(self.leave)

    def _attend(self) -> None:
        while not self._client.status.is_globally_terminal_state():
            self._wake.wait(_LOOK_MS / 1000)
            self._wake.clear()
            self._note_status()
            for request in self._mailbox.take():
                self._serve(request)
        self._end()
        atexit.unregister(self.leave)

    def _note_status(self) -> None:
        status = self._client.status
        if status.name != self._job.status and not status.is_globally_terminal_state():
            self._job = replace(self._job, status=status.name)
            announce(self._job)

    def _serve(self, request: Request) -> None:
        handler = self._handlers.get(request.action)
        try:
            if handler is None:
                answer = {"error": f"This job does not understand {request.action!r}"}
            else:
                answer = handler(self._client, request.arguments)
        except Exception as error:
            answer = {"error": str(error) or type(error).__name__}
        self._mailbox.reply(request, answer)

    def leave(self) -> None:
        """Let a job that has ended be taken off the list by its thread, else do it here."""
        if threading.current_thread() is self._thread:
            return  # it leaves when it has answered
        self._wake.set()
        if self._client.status.is_globally_terminal_state():
            self._thread.join(_LAST_MS / 1000)
        self._end()

    def _end(self) -> None:
        if not self._done:
            self._done = True
            withdraw(self._job)
            self._mailbox.close()
            _ATTENDANTS.pop(self._job.job_id, None)
