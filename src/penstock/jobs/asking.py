"""Asks a running job of this machine for something, and waits; the command line does."""

from __future__ import annotations

from penstock.core.errors import JobControlError, JobNotFoundError
from penstock.core.time.clock import SystemClock
from penstock.jobs.control_channel import LocalChannel, Request
from penstock.jobs.listing import RunningJob, find_job, running_jobs

__all__ = ["ask_job", "await_end"]

_LOOK_MS = 100


def ask_job(job: RunningJob, action: str, timeout_s: float, **arguments: object) -> dict[str, object]:
    """Ask a job for an action and wait for its answer; `{}` if the job ended meanwhile without one.

    JobControlError if the job refuses, cannot be reached, or does not answer in time.
    """
    channel = LocalChannel(job.mailbox)
    try:
        request = channel.ask(action, **arguments)
        answer = _await_answer(job, channel, request, timeout_s)
    except OSError as error:
        raise JobControlError(f"'{job.name}' cannot be reached through {job.mailbox}: {error}") from None
    except ValueError as error:  # the answer is damaged
        raise JobControlError(f"'{job.name}': {error}") from None
    if "error" in answer:
        raise JobControlError(f"'{job.name}': {answer['error']}")
    return answer


def _await_answer(job: RunningJob, channel: LocalChannel, request: Request, timeout_s: float) -> dict[str, object]:
    clock = SystemClock()
    deadline_ms = clock.now_ms() + timeout_s * 1000
    while (answer := channel.answer(request)) is None:
        if not _listed(job):
            answer = channel.answer(request) or {}
            channel.close()
            break
        if clock.now_ms() >= deadline_ms:
            raise JobControlError(
                f"'{job.name}' has not answered for {timeout_s:g} s; it may be in a long batch (process {job.pid})"
            )
        clock.sleep_ms(_LOOK_MS)
    return answer


def await_end(job: RunningJob, timeout_s: float) -> None:
    """Wait until a job that is being canceled is off the list; JobControlError if that takes too long."""
    clock = SystemClock()
    deadline_ms = clock.now_ms() + timeout_s * 1000
    while _listed(job):
        if clock.now_ms() >= deadline_ms:
            raise JobControlError(
                f"'{job.name}' is being canceled but has not ended for {timeout_s:g} s (process {job.pid})"
            )
        clock.sleep_ms(_LOOK_MS)


def _listed(job: RunningJob) -> bool:
    return job.alive and any(other.job_id == job.job_id for other in _same_place(job))


def _same_place(job: RunningJob) -> list[RunningJob]:
    """The entries among which the job is, if it runs: a job found beside its checkpoint may be another user's."""
    listed = running_jobs()
    if any(other.job_id == job.job_id for other in listed) or not job.checkpoint:
        return listed
    try:
        return [find_job(job.checkpoint)]
    except JobNotFoundError:
        return []
