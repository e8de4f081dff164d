"""Hints for an import that failed: PyFlink names that Penstock spells otherwise, has elsewhere, or does not have."""

from __future__ import annotations

import importlib
import re
from difflib import get_close_matches

__all__ = ["import_hint"]

_ALIKE = 0.8
"""How alike two names must be before one is proposed for the other: a slip of a letter or two, not a common ending."""

_FACADES = (
    "penstock.common",
    "penstock.datastream",
    "penstock.datastream.functions",
    "penstock.datastream.state",
    "penstock.datastream.window",
    "penstock.datastream.async_retry_strategies",
    "penstock.datastream.async_retry_predicates",
    "penstock.datastream.connectors",
    "penstock.datastream.connectors.file_system",
    "penstock.datastream.connectors.jdbc",
    "penstock.metrics",
    "penstock.table",
    "penstock.cep",
)
"""Where names are looked for, the shortest path first."""

_GONE = {
    "TimeCharacteristic": (
        "a WatermarkStrategy gives a stream event time, and windows and timers say which time they mean. Leave it and "
        "set_stream_time_characteristic() out."
    ),
}
"""Names of PyFlink 1 that PyFlink 2 has no more, and what to do without them."""

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
    return _missing(wanted[1], error.name) if wanted else f"There is no such name in {error.name}. {_CHAPTER}"


def _missing(name: str, module: str) -> str:
    """The hint for a name that a module of ours lacks: it was removed, it is elsewhere, or the nearest known name."""
    if name in _GONE:
        return f"PyFlink 2 has no {name} and neither has {module}: {_GONE[name]}"
    homes = [home for home in _FACADES if name in _public(home)]
    if homes:
        return f"There is no {name} in {module}: import it from {homes[0]}"
    for home in (module, *_FACADES):
        near = get_close_matches(name, _public(home), 1, _ALIKE)
        if near:
            where = "" if home == module else f" of {home}"
            return f"There is no such name in {module}: did you mean '{near[0]}'{where}? {_CHAPTER}"
    return f"There is no such name in {module}. {_CHAPTER}"


def _public(module: str) -> list[str]:
    return list(getattr(importlib.import_module(module), "__all__", ()))
