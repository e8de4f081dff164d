"""`penstock`: the commands, in the order in which people meet them."""

from __future__ import annotations

from typing import Any

import click

from penstock._version import __version__
from penstock.cli.completion import completion
from penstock.cli.config import config
from penstock.cli.demo import demo
from penstock.cli.doctor import doctor
from penstock.cli.jobs import cancel, list_jobs
from penstock.cli.new import new
from penstock.cli.plan import plan
from penstock.cli.run import run
from penstock.cli.savepoints import savepoint, stop
from penstock.cli.say import fail, suggestion
from penstock.cli.state import state
from penstock.core.errors import PenstockError

__all__ = ["main"]


class _Commands(click.Group):
    """Commands in the order of their adding; mistakes end with a message, not with a stack trace."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = suggestion(args[0], self.commands)
            raise click.UsageError(f"{error.message.rstrip('.')}{near or '.'}", ctx) from None

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PenstockError as error:
            fail(str(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="penstock")
def main() -> None:
    """Stateful stream processing for Python, on Apache Spark.

    \b
    Examples:
      penstock demo                                a live stream, about a minute
      penstock new shop                            a project with a job and its test
      penstock run job.py                          embedded local Spark
      penstock run job.py --input clicks.csv -p 4  --input goes to the job
      penstock run job.py --master spark://host:7077 --checkpoint /data/ckpt
      penstock run job.py --host local             in this process, without a JVM
      penstock plan job.py --format html -o plan.html
    """


for command in (run, plan, list_jobs, stop, cancel, savepoint, state, config, new, demo, doctor, completion):
    main.add_command(command)
