"""`penstock new`: a project to start from."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from shlex import quote

import click

from penstock.cli.say import fail

__all__ = ["new"]

_FILES = {
    "job.py": "job.py.txt",
    "test_job.py": "test_job.py.txt",
    "README.md": "README.md.txt",
    "pyproject.toml": "pyproject.toml.txt",
    ".gitignore": "gitignore.txt",
}


@click.command()
@click.argument("name", type=click.Path())
def new(name: str) -> None:
    """Start a project: a job, its test, and how to run them.

    NAME is the folder to make. Nothing that exists is overwritten.

    \b
    Example:
      penstock new shop
      cd shop && python -m pytest && penstock run job.py
    """
    folder = Path(name)
    title = _title(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        fail(f"{name} exists and is not an empty folder: choose another name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for made, template in _FILES.items():
            _write(folder / made, template, title)
    except OSError as error:
        fail(f"{name} cannot be made: {error.strerror}")
    click.echo(f"Made {name}:")
    click.echo("".join(f"  {made}\n" for made in _FILES))
    click.echo(f"Next:\n  cd {quote(name)}")
    click.echo("  python -m pytest       its test, without a JVM\n  penstock run job.py    until Ctrl-C")


def _title(folder: Path) -> str:
    """The folder's own name, which names the job and the package."""
    title = folder.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._-]*", title):
        fail(f"{title!r} does not name a project: use letters, digits, '-', '_', '.' and spaces")
    return title


def _write(path: Path, template: str, title: str) -> None:
    text = files("penstock.cli").joinpath("template", template).read_text(encoding="utf-8")
    package = re.sub(r"[ _.]+", "-", title).lower().strip("-")
    path.write_text(text.replace("@NAME@", title).replace("@PACKAGE@", package), encoding="utf-8")
