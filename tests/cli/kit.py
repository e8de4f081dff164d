"""Calling the command line in this process."""

from pathlib import Path
from textwrap import dedent

from click.testing import CliRunner, Result

from penstock.cli import main


def penstock(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def script(folder: Path, text: str, name: str = "job.py") -> str:
    path = folder / name
    path.write_text(dedent(text))
    return str(path)
