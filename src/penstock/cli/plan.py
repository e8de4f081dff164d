"""`penstock plan`: what would run, as text or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from penstock.cli.options import PASS_ON, given, job_options, settings
from penstock.cli.run import interruptible, run_job
from penstock.cli.say import fail
from penstock.core.config.options.job import PLAN_ONLY

__all__ = ["plan"]

_FORMS = ("text", "mermaid", "svg", "html", "json")
_SUFFIXES = {".svg": "svg", ".html": "html", ".htm": "html", ".json": "json", ".mmd": "mermaid", ".md": "mermaid"}


@click.command(context_settings=PASS_ON)
@job_options
@click.option("--format", "form", type=click.Choice(_FORMS), help="Default: what the file's name says, else text.")
@click.option("--graph", type=click.Choice(["stream", "job", "execution"]), help="One graph only; default: all three.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Default: standard output.")
def plan(
    job: str, args: tuple[str, ...], form: str | None, graph: str | None, output: str | None, **options: Any
) -> None:
    """Show a job's stream graph, job graph, execution graph and guarantees.

    The program is run up to its first execute(); nothing is read, no Spark is started. The stream graph
    is the program as written; the job graph has chains of operators that run in one task; the execution
    graph has every parallel subtask.

    \b
    Examples:
      penstock plan job.py -p 4
      penstock plan job.py -o plan.html              a page for the browser
      penstock plan job.py --graph job -o job.svg    a picture
      penstock plan job.py --format mermaid          for Markdown
    """
    from penstock.launch import PlannedOnly

    form = form or _SUFFIXES.get(Path(output or "").suffix.lower(), "text")
    with settings({**given(**options), PLAN_ONLY.key: "true"}), interruptible():
        try:
            run_job(job, args)
        except PlannedOnly as planned:
            _give_out(planned.render(form, graph), output)
            return
    fail(f"{job} ended without execute(): there is no job to show")


def _give_out(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        Path(output).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}")
    click.echo(f"Wrote {output}", err=True)
