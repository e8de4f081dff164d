"""Beside a running job: lists it, takes what other processes ask of it, takes it off the list at its end."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock.core.client import JobClient
from penstock.core.mailbox import Mailbox, Request
from penstock.core.running_jobs import (
    MAILBOXES,
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


def _cancel(client: JobClient, _: dict[str, object]) -> dict[str, object]:
    """Answered at once: the job may still be starting, or be in a long batch."""
    _LOG.warning("Another process asks to cancel the job: it ends between two batches.")
    client.ask_to_stop()
    return {"status": client.status.name}


HANDLERS: dict[str, Handler] = {"cancel": _cancel}
"""What may be asked of every job."""


def attend(
    client: JobClient, name: str, engine: str, checkpoint: str, now_ms: int, more: Mapping[str, Handler] | None = None
) -> Attendant | None:
    """List a job and look after its mailbox; None, with a warning, where files cannot be written.

    The checkpoint is empty while the job starts: whether the folder is the job's to write to is told by `settle`.
    """
    pid = os.getpid()
    place, mailbox = _place(client.job_id, checkpoint)
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


def _place(job_id: str, checkpoint: str) -> tuple[str, Path]:
    """The checkpoint as others name it, and the mailbox.

    The mailbox is the job's own: a predecessor that still runs must not take requests that are meant for this job.
    """
    beside = local_path(checkpoint)
    if beside is None:
        return checkpoint, jobs_folder() / f"{job_id}.mailbox"
    return str(beside), beside / MAILBOXES / job_id


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
        self._mailboxes = [Mailbox(job.mailbox)]
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._attend, name=f"penstock-attendant-{job.short_id}", daemon=True)
        _ATTENDANTS[job.job_id] = self
        self._thread.start()
        atexit.register(self.leave)

    def settle(self, checkpoint: str) -> None:
        """The job has claimed its checkpoint: list it there too, and take requests there as well."""
        if not local_path(checkpoint):
            place, mailbox = checkpoint, Path(self._job.mailbox)
        else:
            place, mailbox = _place(self._job.job_id, checkpoint)
            forget_dead(place)
            Mailbox(mailbox).open()
        with self._lock:
            if self._done:
                return
            if str(mailbox) != self._job.mailbox:
                self._mailboxes.append(Mailbox(mailbox))
            self._job = replace(self._job, checkpoint=place, mailbox=str(mailbox))
            announce(self._job)

    def _attend(self) -> None:
        while not self._client.status.is_globally_terminal_state():
            self._wake.wait(_LOOK_MS / 1000)
            self._wake.clear()
            self._note_status()
            for mailbox in list(self._mailboxes):
                for request in mailbox.take():
                    self._serve(mailbox, request)
        self._end()
        atexit.unregister(self.leave)

    def _note_status(self) -> None:
        status = self._client.status
        with self._lock:
            if status.name != self._job.status and not status.is_globally_terminal_state() and not self._done:
                self._job = replace(self._job, status=status.name)
                announce(self._job)

    def _serve(self, mailbox: Mailbox, request: Request) -> None:
        handler = self._handlers.get(request.action)
        try:
            if handler is None:
                answer = {"error": f"This job does not understand {request.action!r}"}
            else:
                answer = handler(self._client, request.arguments)
        except Exception as error:
            answer = {"error": str(error) or type(error).__name__}
        with contextlib.suppress(OSError):  # whoever asked has given up and removed the folder
            mailbox.reply(request, answer)

    def leave(self) -> None:
        """Let a job that has ended be taken off the list by its thread, else do it here."""
        if threading.current_thread() is self._thread:
            return  # it leaves when it has answered
        self._wake.set()
        if self._client.status.is_globally_terminal_state():
            self._thread.join(_LAST_MS / 1000)
        self._end()

    def _end(self) -> None:
        with self._lock:
            if not self._done:
                self._done = True
                withdraw(self._job)
                for mailbox in self._mailboxes:
                    mailbox.close()
                _ATTENDANTS.pop(self._job.job_id, None)
