"""`penstock savepoint` and `penstock stop`: ask a running job, through files beside its checkpoint."""

from __future__ import annotations

from collections.abc import Callable

import click

from penstock.cli.jobs import checkpoint_of, job_argument
from penstock.core.config.options.checkpoints import ALLOW_UNCLAIMED, SAVEPOINT_PATH
from penstock.jobs.savepoint_requests import SavepointRequest, Waits, ask_for_savepoint

__all__ = ["savepoint", "start_options", "start_settings", "stop"]


def start_options(command: Callable[..., object]) -> Callable[..., object]:
    """Options that say what a job starts from."""
    command = click.option(
        "--allow-unclaimed-state", is_flag=True, help="Drop state of the savepoint that no operator claims by its uid."
    )(command)
    return click.option("--from-savepoint", metavar="PATH", help="Start from a savepoint.")(command)


def start_settings(from_savepoint: str | None, allow_unclaimed_state: bool) -> dict[str, str]:
    """The same as settings."""
    said = {
        SAVEPOINT_PATH.key: from_savepoint,
        ALLOW_UNCLAIMED.key: "true" if allow_unclaimed_state else None,
    }
    return {key: value for key, value in said.items() if value is not None}


_TIMEOUT = click.option(
    "--timeout",
    type=click.IntRange(1),
    default=None,
    show_default="as long as the job lives",
    help="Seconds to wait for the job.",
)


@click.command()
@job_argument
@click.argument("path")
@_TIMEOUT
def savepoint(job: str, path: str, timeout: int | None) -> None:
    """Have a running job write a savepoint.

    JOB is its name, its id, or the checkpoint folder that it was started with; PATH a folder that is empty or does not
    exist yet. The job goes on; it holds still between two batches while its state is read.

    \b
    Example:
      penstock savepoint "hot items" /data/saved/monday
    """
    click.echo(_ask(job, path, False, False, timeout))


@click.command()
@job_argument
@click.option("--savepoint", "path", metavar="PATH", help="Write a savepoint there first.")
@click.option("--drain", is_flag=True, help="Bring event time to its end first, so that everything that waits fires.")
@_TIMEOUT
def stop(job: str, path: str | None, drain: bool, timeout: int | None) -> None:
    """Stop a running job between two batches.

    JOB is its name, its id, or the checkpoint folder that it was started with. A job stopped without --drain goes on
    when it is started again, from the same folder or from the savepoint.

    \b
    Examples:
      penstock stop /data/ckpt
      penstock stop /data/ckpt --savepoint /data/saved/monday
      penstock stop /data/ckpt --savepoint /data/saved/last --drain
    """
    said = _ask(job, path or "", True, drain, timeout)
    click.echo(said or "Stopped.")


def _ask(job: str, path: str, ends: bool, drain: bool, timeout: int | None) -> str:
    waits = Waits(limit_ms=None if timeout is None else timeout * 1000)
    return ask_for_savepoint(checkpoint_of(job), SavepointRequest(path, ends, drain), waits)
