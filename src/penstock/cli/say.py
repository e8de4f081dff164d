"""How the command line speaks to people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

import click

__all__ = ["FAILED", "INTERRUPTED", "WRONG_USE", "fail", "suggestion", "table"]

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130


def fail(message: str, code: int = FAILED) -> NoReturn:
    """End the command with a message and an exit code; no stack trace."""
    click.echo(f"{click.style('Error:', fg='red')} {message}", err=True)
    sys.exit(code)


def suggestion(wanted: str, known: Iterable[str]) -> str:
    """`: did you mean 'x'?`, or nothing."""
    near = get_close_matches(wanted, list(known), 1)
    return f": did you mean '{near[0]}'?" if near else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; numbers are not treated otherwise than text.

    >>> print(table(["NAME", "ID"], [["words", "5f1a"]]))
    NAME   ID
    words  5f1a
    """
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows])
    return "\n".join(line.rstrip() for line in lines)
