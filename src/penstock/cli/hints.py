"""What to do about an import that failed: PyFlink's names, and those that are spelt otherwise."""

from __future__ import annotations

import re
import sys

from penstock.cli.say import suggestion

__all__ = ["import_hint"]

_CHAPTER = "The guide's chapter 'Coming from PyFlink' says which names are not there, and why."


def import_hint(job: str, error: BaseException) -> str | None:
    """A line to show below the traceback, or None where the traceback says it all."""
    if not isinstance(error, ImportError) or not error.name:
        return None
    if error.name.split(".")[0] == "pyflink":
        return f"A PyFlink program runs with its imports changed: sed -i 's/\\bpyflink\\b/penstock/g' {job}"
    if error.name.split(".")[0] != "penstock":
        return None
    if isinstance(error, ModuleNotFoundError):
        return f"There is no module {error.name}. {_CHAPTER}"
    wanted = re.search(r"cannot import name '(\w+)'", str(error))
    near = suggestion(wanted[1], vars(sys.modules[error.name])) if wanted and error.name in sys.modules else ""
    return f"There is no such name in {error.name}{near or '.'} {_CHAPTER}"
