"""Options that every command on a job takes, and the way they reach the program."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.core.config.options.checkpoints import CHECKPOINT_DIR
from penstock.core.config.options.job import HOST, PARALLELISM
from penstock.core.config.options.spark import SPARK_MASTER
from penstock.core.config.table import ALL_OPTIONS
from penstock.core.config.variables import CONF

__all__ = ["PASS_ON", "given", "job_options", "settings"]

PASS_ON = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}


def _setting(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """`k=v` pairs as a dict."""
    bad = [value for value in values if not value.partition("=")[0].strip() or "=" not in value]
    if bad:
        raise click.BadParameter(f"{bad[0]!r} is not of the form key=value")
    return {key.strip(): text for key, _, text in (value.partition("=") for value in values)}


if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class _Hosts(_Choice):
    """The name of a host. The table of hosts is looked up when the names are needed, since commands start often."""

    def __init__(self) -> None:
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        from penstock.launch import host_names

        return host_names()

    @choices.setter
    def choices(self, _: tuple[str, ...]) -> None:
        """Called by the base class with the names given to it: none."""


def _names(_: click.Context, __: click.Parameter, typed: str) -> list[str]:
    """Completions: settings that do something, each up to its value."""
    return [f"{key}=" for key, option in ALL_OPTIONS.items() if not option.no_effect and key.startswith(typed)]


def job_options(command: Any) -> Any:
    """The job, its arguments, and the options that become settings."""
    options = (
        click.argument("job", type=click.Path()),
        click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[JOB ARGS]..."),
        click.option(
            "-p", "--parallelism", type=click.IntRange(1), help="Subtasks of operators that do not say; default: cores."
        ),
        click.option("--master", metavar="URL", help="The Spark cluster, e.g. spark://host:7077; default: embedded."),
        click.option(
            "--checkpoint",
            metavar="DIR",
            type=click.Path(),
            help="Where progress is kept; a job started again goes on there.",
        ),
        click.option(
            "--conf",
            multiple=True,
            metavar="KEY=VALUE",
            callback=_setting,
            shell_complete=_names,
            help="A setting; repeatable. penstock config lists them.",
        ),
        click.option(
            "--host",
            type=_Hosts(),
            help="What runs the job; default: bounded if all its input is, else streaming.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def given(
    parallelism: int | None, master: str | None, checkpoint: str | None, conf: dict[str, str], host: str | None
) -> dict[str, str]:
    """Settings that were said on the command line; options of their own are stronger than --conf."""
    said = {
        PARALLELISM.key: str(parallelism) if parallelism else None,
        SPARK_MASTER.key: master,
        CHECKPOINT_DIR.key: checkpoint,
        HOST.key: host,
    }
    return {**conf, **{key: value for key, value in said.items() if value is not None}}


@contextmanager
def settings(said: dict[str, str]) -> Iterator[None]:
    """Hand settings to the program through its environment."""
    before = os.environ.get(CONF.name)
    os.environ[CONF.name] = json.dumps({**json.loads(before or "{}"), **said})
    try:
        yield
    finally:
        os.environ.pop(CONF.name)
        if before is not None:
            os.environ[CONF.name] = before
