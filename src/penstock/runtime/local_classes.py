"""Records of classes that no import finds: classes defined inside a function, or made while the program runs.

Pickle writes a class as its name and refuses one that the name does not lead to. Such a class is written as its name
and a number instead, and looked up among the classes that the running job's plan refers to: the functions of the job
refer to the very same class objects, so `isinstance` and equality hold on both sides. After a restart the name leads to
the class that the new program defines. A class that the plan does not refer to is one that a function made while it
ran; it is written with its definition for processes that have not met it.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from penstock.core.errors import StateError
from penstock.core.program.job import JobPlan
from penstock.pickled import stable
from penstock.runtime.reachable import importable, unimportable_classes
from penstock.runtime.shapes import RecordPickler

__all__ = ["define_with", "dumps_local", "enter_job", "local_class"]

_MADE = -1
"""The number of a class that the plan does not refer to."""

_Name = tuple[str, str, int]
"""Module, qualified name, and a number that tells classes of the same name apart, in the order of the plan."""


class _Roster:
    """The classes of one job, in both directions."""

    def __init__(self, classes: list[type]) -> None:
        self.classes: dict[_Name, type] = {}
        self.names: dict[type, _Name] = {}
        self.definitions: dict[type, bytes | None] = {}
        counts: dict[tuple[str, str], int] = {}
        for cls in classes:
            plain = (cls.__module__, cls.__qualname__)
            self.add(cls, counts.setdefault(plain, 0))
            counts[plain] += 1

    def add(self, cls: type, number: int) -> _Name:
        name = (cls.__module__, cls.__qualname__, number)
        self.classes[name] = cls
        self.names[cls] = name
        return name


_PLANS: dict[int, tuple[JobPlan, _Roster]] = {}
_MOST_PLANS = 4
_latest = _Roster([])
_current: ContextVar[_Roster | None] = ContextVar("penstock-local-classes", default=None)
_define: Callable[[type], bytes] | None = None


def enter_job(plan: JobPlan) -> None:
    """Called by hosts before they read or write a job's records or state: from here on this thread works for that
    job."""
    global _latest
    known = _PLANS.get(id(plan))
    if known is None:
        while len(_PLANS) >= _MOST_PLANS:
            del _PLANS[next(iter(_PLANS))]
        known = _PLANS[id(plan)] = plan, _Roster(unimportable_classes(plan))
    _latest = known[1]
    _current.set(known[1])


def define_with(define: Callable[[type], bytes]) -> None:
    """Set the function that pickles a class by value; a host whose jobs run in one process needs none."""
    global _define
    _define = define


def _roster() -> _Roster:
    """The roster of the job that this thread works for; threads of source functions use the latest one."""
    return _current.get() or _latest


@stable("local_class")
def local_class(module: str, qualname: str, number: int, definition: bytes | None = None) -> type:
    """Called by unpickling: the class of the running job that was written so."""
    roster = _roster()
    found = roster.classes.get((module, qualname, number))
    if found is None and definition is not None:
        found = _defined(definition)
        roster.add(found, number)
    if found is None:
        raise StateError(
            f"State or a record was written with the class {module}.{qualname}, which is defined inside a function, "
            "and no function of this job refers to a class of that name. Keep it, or define it at the top of a module"
        )
    return found


def _defined(definition: bytes) -> type:
    found: type = pickle.loads(definition)
    return found


class _LocalPickler(RecordPickler):
    """Writes classes that no import finds by their place among the classes of the job."""

    met = False

    def reducer_override(self, one: object) -> Any:
        if not isinstance(one, type) or importable(one):
            return NotImplemented
        self.met = True
        roster = _roster()
        name = roster.names.get(one)
        if name is None or name[2] == _MADE:
            name = roster.add(one, _MADE)  # of classes of one name, the latest counts
            return local_class, (*name, _definition(roster, one))
        return local_class, name


def _definition(roster: _Roster, cls: type) -> bytes | None:
    if cls not in roster.definitions:
        roster.definitions[cls] = _define(cls) if _define is not None else None
    return roster.definitions[cls]


def dumps_local(value: object, error: Exception) -> bytes:
    """Pickle a value that pickle refused with `error`, if classes that no import finds were the reason."""
    file = io.BytesIO()
    pickler = _LocalPickler(file, 5)
    try:
        pickler.dump(value)
    except Exception as again:
        raise (again if pickler.met else error) from None
    return file.getvalue()
