"""`penstock`: run a job, or look at its plan."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from penstock._version import __version__
from penstock.api.errors import PenstockError
from penstock.cli import savepoints
from penstock.cli.script import last_line_of, run_script, script_traceback
from penstock.cli.supervise import supervise_option, supervised

__all__ = ["main"]

FAILED, INTERRUPTED = 1, 130
PASS_ON = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="penstock")
def main() -> None:
    """Stateful stream processing for Python, on Apache Spark.

    \b
    Examples:
      penstock run job.py                          embedded local Spark
      penstock run job.py --input clicks.csv -p 4  --input goes to the job
      penstock run job.py --master spark://host:7077 --checkpoint /data/ckpt
      penstock run job.py --host local             in this process, without a JVM
      penstock plan job.py                         what would run, and how parallel
    """


def _setting(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """`k=v` pairs as a dict."""
    bad = [value for value in values if not value.partition("=")[0].strip() or "=" not in value]
    if bad:
        raise click.BadParameter(f"{bad[0]!r} is not of the form key=value")
    return {key.strip(): text for key, _, text in (value.partition("=") for value in values)}


def _job(command: Any) -> Any:
    """Arguments and options that every command on a job takes."""
    options = (
        click.argument("job", type=click.Path()),
        click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[JOB ARGS]..."),
        click.option(
            "-p", "--parallelism", type=click.IntRange(1), help="Subtasks of operators that do not say; default: cores."
        ),
        click.option("--master", metavar="URL", help="The Spark cluster, e.g. spark://host:7077; default: embedded."),
        click.option("--checkpoint", metavar="DIR", help="Where progress is kept; a job started again goes on there."),
        click.option("--conf", multiple=True, metavar="KEY=VALUE", callback=_setting, help="A setting; repeatable."),
        click.option(
            "--host",
            type=click.Choice(["local", "bounded", "streaming"]),
            help="What runs the job; default: bounded if all its input is, else streaming.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


savepoints.register(main)


@main.command(context_settings=PASS_ON)
@savepoints.start_options
@supervise_option
@_job
def run(
    job: str,
    args: tuple[str, ...],
    from_savepoint: str | None,
    allow_unclaimed_state: bool,
    supervise: bool,
    **options: Any,
) -> None:
    """Run a job.

    JOB is a Python program that ends with env.execute(). Options that are not listed here go to the
    job, and so does everything after "--". A setting of the program is stronger than one given here,
    one given here is stronger than the configuration file that PENSTOCK_CONF_FILE names.

    \b
    Examples:
      penstock run job.py -p 4
      penstock run job.py --checkpoint /data/ckpt --conf penstock.batch.max-records=100000
      penstock run job.py --master spark://host:7077 -- -p "for the job"
      penstock run job.py --checkpoint /data/new --from-savepoint /data/saved/monday
      penstock run job.py --checkpoint /data/ckpt --supervise
    """
    start = savepoints.start_settings(from_savepoint, allow_unclaimed_state)
    if supervise:
        with _settings({**_given(**options), **start}):
            sys.exit(supervised(job, args))
    with _settings({**_given(**options), **start}), _summary(), _interruptible() as interrupted:
        _run(job, args)
    if interrupted:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)


@main.command(context_settings=PASS_ON)
@_job
def plan(job: str, args: tuple[str, ...], **options: Any) -> None:
    """Show a job's stream graph, job graph, execution graph and guarantees.

    The program is run up to its first execute(); nothing is read, no Spark is started.

    \b
    Example:
      penstock plan job.py -p 4
    """
    from penstock.launch import PLAN_ONLY, PlannedOnly

    with _settings({**_given(**options), PLAN_ONLY: "true"}), _interruptible():
        try:
            _run(job, args)
        except PlannedOnly as planned:
            click.echo(planned.text)
            return
    _fail(f"{job} ended without execute(): there is no job to show")


def _given(
    parallelism: int | None, master: str | None, checkpoint: str | None, conf: dict[str, str], host: str | None
) -> dict[str, str]:
    """Settings that were said on the command line; options of their own are stronger than --conf."""
    said = {
        "parallelism.default": str(parallelism) if parallelism else None,
        "spark.master": master,
        "execution.checkpointing.dir": checkpoint,
        "penstock.host": host,
    }
    return {**conf, **{key: value for key, value in said.items() if value is not None}}


@contextmanager
def _settings(given: dict[str, str]) -> Iterator[None]:
    """Hand settings to the program through its environment."""
    from penstock.launch import CONF_VARIABLE

    before = os.environ.get(CONF_VARIABLE)
    os.environ[CONF_VARIABLE] = json.dumps({**json.loads(before or "{}"), **given})
    try:
        yield
    finally:
        os.environ.pop(CONF_VARIABLE)
        if before is not None:
            os.environ[CONF_VARIABLE] = before


@contextmanager
def _summary() -> Iterator[None]:
    """Shows what is logged about the job when it starts: the guarantee of each path (F7)."""
    logger, handler = logging.getLogger("penstock.job"), logging.StreamHandler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def _interruptible() -> Iterator[list[int]]:
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


def _run(job: str, args: Sequence[str]) -> None:
    """Run the script; its failures end the command with a message that is about the program."""
    if not Path(job).is_file():
        _fail(f"there is no file {job}" if not Path(job).exists() else f"{job} is not a file")
    try:
        run_script(job, args)
    except PenstockError as error:
        _fail(_message(job, error))
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        click.echo(script_traceback(error), err=True)
        sys.exit(FAILED)


def _message(job: str, error: PenstockError) -> str:
    """What went wrong and, unless the message holds a traceback of its own, where in the script."""
    where = None if "\n" in str(error) else last_line_of(job, error)
    return f"{error}\n  {where}" if where else str(error)


def _fail(message: str) -> NoReturn:
    click.echo(f"{click.style('Error:', fg='red')} {message}", err=True)
    sys.exit(FAILED)
