"""`penstock run`: a job in this process, as `python job.py` would run it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

from penstock.api.unexecuted import programs
from penstock.cli import savepoints
from penstock.cli.hints import import_hint
from penstock.cli.options import PASS_ON, given, job_options, settings
from penstock.cli.progress import progress_of, progress_options
from penstock.cli.say import FAILED, INTERRUPTED, fail, suggestion
from penstock.cli.script import last_line_of, run_script, script_traceback
from penstock.cli.supervise import supervise_option, supervised
from penstock.core.errors import PenstockError

__all__ = ["interruptible", "run", "run_job"]


@click.command(context_settings=PASS_ON)
@job_options
@savepoints.start_options
@supervise_option
@progress_options
def run(
    job: str,
    args: tuple[str, ...],
    from_savepoint: str | None,
    allow_unclaimed_state: bool,
    supervise: bool,
    progress: bool | None,
    plain: bool,
    **options: Any,
) -> None:
    """Run a job.

    JOB is a Python program that ends with env.execute(). Options that are not listed here go to the
    job, and so does everything after "--". A setting of the program is stronger than one given here,
    one given here is stronger than the configuration file that PENSTOCK_CONF_FILE names.

    On a terminal the job's progress is shown below what it prints, and a summary at its end; both go
    to standard error. Ctrl-C stops the job between two batches; with --checkpoint the same command
    goes on from there.

    \b
    Examples:
      penstock run job.py -p 4
      penstock run job.py --checkpoint /data/ckpt --conf penstock.batch.max-records=100000
      penstock run job.py --plain 2>progress.log       a line every few seconds
      penstock run job.py --master spark://host:7077 -- -p "for the job"
      penstock run job.py --checkpoint /data/new --from-savepoint /data/saved/monday
      penstock run job.py --checkpoint /data/ckpt --supervise
    """
    said = {**given(**options), **savepoints.start_settings(from_savepoint, allow_unclaimed_state)}
    if supervise:
        _check_file(job)
        with settings(said):
            sys.exit(supervised(job, args, progress, plain))
    with settings(said), interruptible() as interrupted, progress_of(progress, plain):
        programs.begin()
        run_job(job, args)
        _check_executed(job)
    if interrupted:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)


def _check_executed(job: str) -> None:
    """A program that has built operators and ended without execute() has done nothing at all."""
    forgotten = programs.forgotten()
    if not forgotten:
        return
    names = ", ".join(f"'{name}'" for name in forgotten[:3]) + (", ..." if len(forgotten) > 3 else "")
    what = f"{job} ended without execute() for {len(forgotten)} operator(s): {names}"
    if not programs.any_used:
        fail(f"{what}. Nothing was run: end the program with env.execute()")
    click.echo(f"Warning: {what}. They were not run", err=True)


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Notes Ctrl-C: execute() stops the job and returns, so the program cannot tell us."""
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def run_job(job: str, args: Sequence[str]) -> None:
    """Run the script; its failures end the command with a message that is about the program."""
    _check_file(job)
    try:
        run_script(job, args)
    except PenstockError as error:
        fail(_message(job, error))
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        click.echo(script_traceback(error), err=True)
        hint = import_hint(job, error)
        if hint:
            click.echo(hint, err=True)
        sys.exit(FAILED)


def _check_file(job: str) -> None:
    path = Path(job)
    if path.is_file():
        return
    if path.exists():
        fail(f"{job} is not a file")
    near = suggestion(path.name, (found.name for found in path.parent.glob("*.py")) if path.parent.is_dir() else ())
    fail(f"there is no file {job}{near}")


def _message(job: str, error: PenstockError) -> str:
    """The message of an error and, unless it holds a traceback of its own, the place in the script."""
    where = None if "\n" in str(error) else last_line_of(job, error)
    return f"{error}\n  {where}" if where else str(error)
