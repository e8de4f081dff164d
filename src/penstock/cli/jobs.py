"""`penstock list` and `penstock cancel`: jobs that run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from penstock.cli.say import fail, table
from penstock.core.errors import JobNotFoundError
from penstock.core.time.clock import SystemClock
from penstock.jobs.asking import ask_job, await_end
from penstock.jobs.listing import RunningJob, find_job, running_jobs

__all__ = ["cancel", "checkpoint_of", "job_argument", "list_jobs"]


def _names(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Completions: names and ids of running jobs."""
    known = [text for job in running_jobs() for text in (job.name, job.short_id)]
    return [text for text in known if text.startswith(typed)]


job_argument = click.argument("job", shell_complete=_names)
"""A running job: its name, id or the beginning of one, process number, or checkpoint folder."""


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
def list_jobs(as_json: bool) -> None:
    """List the jobs that run.

    A job is on the list from its start to its end, on the machine where it was started and for the
    user who started it. Jobs whose process has died are taken off.

    \b
    Examples:
      penstock list
      penstock list --json
    """
    jobs = running_jobs()
    if as_json:
        click.echo(json.dumps([asdict(job) for job in jobs], indent=2))
    elif not jobs:
        click.echo("No job runs. Start one: penstock run job.py")
    else:
        now_ms = SystemClock().now_ms()
        click.echo(table(["ID", "NAME", "STATUS", "FOR", "PID", "CHECKPOINT"], [_row(job, now_ms) for job in jobs]))


def _row(job: RunningJob, now_ms: int) -> list[str]:
    where = str(job.pid) if job.here else f"{job.pid} on {job.machine}"
    return [job.short_id, job.name, job.status, span(now_ms - job.started_ms), where, job.checkpoint or "-"]


def span(length_ms: int) -> str:
    """A length of time in its two largest units.

    >>> span(59_000), span(3_725_000), span(200_000_000)
    ('59 s', '1 h 2 min', '2 d 7 h')
    """
    seconds = max(0, length_ms // 1000)
    parts = [(seconds // 86400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s")]
    first = next((i for i, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2])


@click.command()
@job_argument
@click.option("--wait", is_flag=True, help="Wait until the job has ended.")
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(0), default=120.0, show_default=True, help="Seconds to wait."
)
def cancel(job: str, wait: bool, timeout_s: float) -> None:
    """Cancel a running job.

    JOB is its name, its id or the beginning of one, the number of its process, or its checkpoint
    folder. The job answers at once and ends between two batches: what is committed stays, and
    started again on its checkpoint it goes on from there.

    \b
    Examples:
      penstock cancel "hot items"
      penstock cancel 5f1a2b3c
      penstock cancel /data/ckpt --wait
    """
    found = find_job(job)
    ends = ask_job(found, "cancel", timeout_s).get("status") == "CANCELLING"
    if ends and wait:
        await_end(found, timeout_s)
        ends = False
    again = f" Started again, it goes on from {found.checkpoint}." if found.checkpoint else ""
    how = ": it ends as soon as the batch that runs has ended." if ends else "."
    click.echo(f"{'Canceling' if ends else 'Canceled'} '{found.name}' ({found.short_id}){how}{again}")


def checkpoint_of(wanted: str) -> str:
    """The checkpoint of a running job; a folder is taken at its word, for the job may run on another machine."""
    try:
        found = find_job(wanted)
    except JobNotFoundError:
        if "/" in wanted or Path(wanted).is_dir():
            return wanted
        raise
    if not found.checkpoint:
        fail(f"'{found.name}' was started without --checkpoint: it can only be canceled (penstock cancel)")
    return found.checkpoint
