"""`penstock state`: what a savepoint or a checkpoint holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from penstock.cli.say import fail, table
from penstock.core.errors import JobNotFoundError
from penstock.jobs.listing import find_job

__all__ = ["state"]

_WIDEST = 60
_ENDS = {-(2**63): "-∞", 2**63 - 1: "+∞"}
"""Watermarks of an operator that has seen none yet, and of one whose input has ended."""


@click.command()
@click.argument("path", type=click.Path())
@click.argument("uid", required=False)
@click.option("--timers", is_flag=True, help="The operator's timers instead of its state.")
@click.option("--key", metavar="TEXT", help="Only entries of this key, as it is printed.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Rows to show.")
@click.option("--format", "form", type=click.Choice(["text", "csv", "json"]), default="text", show_default=True)
def state(path: str, uid: str | None, timers: bool, key: str | None, limit: int, form: str) -> None:
    """Look into a savepoint or a checkpoint.

    PATH is a savepoint's folder, or the checkpoint folder of a job that does not run. Without UID: its
    operators, where its sources stand, and their event time. With the uid of an operator: its keyed
    state, or its timers. The state of a checkpoint is read by Spark, which takes a while.

    \b
    Examples:
      penstock state /data/saved/monday
      penstock state /data/saved/monday count-views --limit 20
      penstock state /data/saved/monday count-views --timers
      penstock state /data/ckpt guard --key "'ann'" --format json
    """
    _refuse_running(path)
    view = _opened(path)
    if uid is None:
        _overview(view, form)
        return
    found = view.timers(uid) if timers else view.keyed(uid)
    chosen = found[found["key"].map(repr) == key] if key is not None else found
    _show(chosen.head(limit), form)
    if len(chosen) > limit:
        click.echo(f"{len(chosen) - limit} more rows; --limit shows them", err=True)


def _refuse_running(path: str) -> None:
    try:
        job = find_job(path)
    except JobNotFoundError:
        return
    fail(f"'{job.name}' runs on {path}: take a savepoint and look into that (penstock savepoint {job.short_id} DIR)")


def _opened(path: str) -> Any:
    from penstock.state import open_state

    if "://" not in path and not Path(path).is_dir():
        fail(f"there is no folder {path}")
    return open_state(path)


def _overview(view: Any, form: str) -> None:
    parts = {"operators": view.operators(), "sources": view.sources(), "event time": view.clocks()}
    if form == "json":
        records = {
            name: json.loads(frame.to_json(orient="records", default_handler=repr)) for name, frame in parts.items()
        }
        click.echo(json.dumps(records, indent=2))
        return
    for name, frame in parts.items():
        if len(frame):
            click.echo(f"== {name} ==")
            _show(_readable(frame) if form == "text" and name == "event time" else frame, form)


def _show(frame: Any, form: str) -> None:
    if form == "csv":
        click.echo(frame.to_csv(index=False), nl=False)
    elif form == "json":
        click.echo(frame.to_json(orient="records", default_handler=repr))
    else:
        rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
        click.echo(table([name.upper() for name in frame.columns], rows) if rows else "nothing")


def _readable(clocks: Any) -> Any:
    return clocks.assign(watermark=[_ENDS.get(clock, clock) for clock in clocks["watermark"]])


def _cell(value: object) -> str:
    text = "-" if value is None else value if isinstance(value, str) else repr(value)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
