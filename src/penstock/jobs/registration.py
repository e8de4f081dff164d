"""Registers a job: lists it while it runs and serves its control channel.

`launch` registers a job before its host starts it; the host unregisters it at its end.
"""

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

from penstock.core.config.variables import STATE_DIR
from penstock.core.processes import process_mark
from penstock.jobs.client import JobClient
from penstock.jobs.control_channel import LocalChannel, Request
from penstock.jobs.listing import (
    CHANNELS,
    RunningJob,
    forget_dead,
    jobs_folder,
    local_path,
    remove_entry,
    running_jobs,
    write_entry,
)

__all__ = ["Handler", "JobRegistration", "register", "unregister"]

Handler = Callable[[JobClient, Mapping[str, Any]], dict[str, Any]]
"""Does what a request asks and returns the answer. The registration's thread calls it, one request at a time."""

_LOG = logging.getLogger("penstock.job")
_LOOK_MS = 250
_LAST_MS = 5_000


def _cancel(client: JobClient, _: Mapping[str, object]) -> dict[str, object]:
    """Answer at once: the job may still be starting, or be in a long batch."""
    _LOG.warning("Another process asks to cancel the job: it ends between two batches.")
    client.ask_to_stop()
    return {"status": client.status.name}


HANDLERS: dict[str, Handler] = {"cancel": _cancel}
"""What may be asked of every job, by the name of the action."""


def register(
    client: JobClient, name: str, host: str, checkpoint: str, now_ms: int, more: Mapping[str, Handler] | None = None
) -> JobRegistration | None:
    """List a job and serve its control channel; None, with a warning, where files cannot be written.

    Pass an empty checkpoint while the job starts: only when the host has claimed the checkpoint's folder may the job
    write there, and `JobRegistration.add_checkpoint` is called. `more` adds handlers to those of every job.
    """
    pid = os.getpid()
    place, channel = _place(client.job_id, checkpoint)
    job = RunningJob(
        client.job_id,
        name,
        pid,
        process_mark(pid),
        socket.gethostname(),
        now_ms,
        client.status.name,
        host,
        os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else "",
        place,
        str(channel),
    )
    try:
        running_jobs()  # removes the entries of jobs that have died
        forget_dead(place)
        LocalChannel(channel).open()
        write_entry(job)
    except OSError as error:
        warnings.warn(
            f"The job cannot be listed, so `penstock list` and `penstock cancel` will not find it: {error}. "
            f"{STATE_DIR.name} names another folder",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return JobRegistration(client, job, {**HANDLERS, **(more or {})})


def _place(job_id: str, checkpoint: str) -> tuple[str, Path]:
    """The checkpoint as others name it, and the folder of the control channel.

    Each job has a channel of its own: a predecessor on the same checkpoint that still runs must not take requests that
    are meant for this job.
    """
    beside = local_path(checkpoint)
    if beside is None:
        return checkpoint, jobs_folder() / f"{job_id}.mailbox"
    return str(beside), beside / CHANNELS / job_id


_REGISTRATIONS: dict[str, JobRegistration] = {}
"""The registrations of this process's jobs, by job id."""


def unregister(client: JobClient) -> None:
    """The job has ended: return once it is off the list. After that no thread touches the job's files any more."""
    registration = _REGISTRATIONS.get(client.job_id)
    if registration is not None:
        registration.end()


class JobRegistration:
    """Keeps the entry of one job up to date and answers its requests, in a thread that ends with the job."""

    def __init__(self, client: JobClient, job: RunningJob, handlers: Mapping[str, Handler]) -> None:
        self._client, self._job, self._handlers = client, job, handlers
        self._channels = [LocalChannel(job.mailbox)]
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._done = False
        self._thread = threading.Thread(target=self._serve, name=f"penstock-registration-{job.short_id}", daemon=True)
        _REGISTRATIONS[job.job_id] = self
        self._thread.start()
        atexit.register(self.end)

    def add_checkpoint(self, checkpoint: str) -> None:
        """The host has claimed the job's checkpoint: list the job there too, and take requests there as well."""
        if not local_path(checkpoint):
            place, channel = checkpoint, Path(self._job.mailbox)
        else:
            place, channel = _place(self._job.job_id, checkpoint)
            forget_dead(place)
            LocalChannel(channel).open()
        with self._lock:
            if self._done:
                return
            if str(channel) != self._job.mailbox:
                self._channels.append(LocalChannel(channel))
            self._job = replace(self._job, checkpoint=place, mailbox=str(channel))
            write_entry(self._job)

    def end(self) -> None:
        """Take the job off the list. The registration's thread does so if the job has ended, else the caller."""
        if threading.current_thread() is self._thread:
            return  # a handler has stopped the job: the thread takes it off the list when it has answered
        self._wake.set()
        if self._client.status.is_globally_terminal_state():
            self._thread.join(_LAST_MS / 1000)
        self._take_off()

    def _serve(self) -> None:
        while not self._client.status.is_globally_terminal_state():
            self._wake.wait(_LOOK_MS / 1000)
            self._wake.clear()
            self._note_status()
            for channel in list(self._channels):
                for request in channel.take():
                    self._handle(channel, request)
        self._take_off()
        atexit.unregister(self.end)

    def _note_status(self) -> None:
        status = self._client.status
        with self._lock:
            if status.name != self._job.status and not status.is_globally_terminal_state() and not self._done:
                self._job = replace(self._job, status=status.name)
                write_entry(self._job)

    def _handle(self, channel: LocalChannel, request: Request) -> None:
        handler = self._handlers.get(request.action)
        try:
            if handler is None:
                answer = {"error": f"This job does not understand {request.action!r}"}
            else:
                answer = handler(self._client, request.arguments)
        except Exception as error:
            answer = {"error": str(error) or type(error).__name__}
        with contextlib.suppress(OSError):  # the asker has given up and removed the folder
            channel.reply(request, answer)

    def _take_off(self) -> None:
        with self._lock:
            if not self._done:
                self._done = True
                remove_entry(self._job)
                for channel in self._channels:
                    channel.close()
                _REGISTRATIONS.pop(self._job.job_id, None)
