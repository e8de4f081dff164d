"""Failures of user functions: which operator, which record, and the function's own traceback."""

from __future__ import annotations

import traceback
from operator import length_hint
from pathlib import Path
from typing import Any

from penstock.core.errors import OperatorError, PenstockError, UserFunctionError

__all__ = ["NO_RECORD", "describe", "last_taken", "named", "not_iterable", "user_failure"]

_PACKAGE = Path(__file__).resolve().parents[1]
_OURS = (str(_PACKAGE / "runtime"), str(_PACKAGE / "api"))

NO_RECORD: Any = object()
"""Stands for the record of a call that has none."""


def describe(value: object, limit: int = 300) -> str:
    """A record for an error message, cut to a readable length."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def last_taken(values: list[Any], rest: object) -> Any:
    """The record that an iterator over `values` returned last: the one that a failing function was called with."""
    return values[len(values) - length_hint(rest) - 1] if values else None


def user_failure(operator: str, uid: str, doing: str, record: object, error: BaseException) -> PenstockError:
    """The error to raise for `error`, which came out of user code."""
    if isinstance(error, OperatorError) and not error.operator:
        return named(error, operator, uid)
    if isinstance(error, PenstockError):
        return error
    shown = "" if record is NO_RECORD else describe(record)
    where = "" if record is NO_RECORD else f" on record {shown}"
    trace = user_traceback(error)
    message = f"{doing} of operator '{operator}' (uid {uid}) failed{where}\n{trace}"
    return UserFunctionError(message, operator, uid, shown, trace)


def not_iterable(operator: str, uid: str, doing: str, record: object, result: object) -> UserFunctionError:
    """The error for a function that must yield records or return an iterable of them and returned something else."""
    shown = describe(record)
    return UserFunctionError(
        f"{doing} of operator '{operator}' (uid {uid}) returned {describe(result)} ({type(result).__name__}) "
        f"for record {shown}: yield records or return an iterable of them",
        operator,
        uid,
        shown,
    )


def named(error: OperatorError, operator: str, uid: str) -> OperatorError:
    """The same error with the operator's name in it."""
    return type(error)(f"Operator '{operator}' (uid {uid}): {error.args[0]}", operator, uid)


def user_traceback(error: BaseException) -> str:
    """The traceback without the frames that called the function."""
    summary = traceback.TracebackException.from_exception(error)
    kept = [f for f in summary.stack if not f.filename.startswith(_OURS)]
    if kept:
        summary.stack = traceback.StackSummary.from_list(kept)
    return "".join(summary.format()).rstrip()
