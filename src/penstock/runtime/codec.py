"""Records and state values as bytes, and the rule that makes them independent of later mutation (S7).

What is immutable through and through is kept as it is; everything else is fixed by a round trip
through the codec at the moment it is emitted or stored.
"""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock.core.errors import RecordError
from penstock.core.row import Row, copy_row

__all__ = ["IMMUTABLE", "Encoded", "decode", "dumps", "encode", "fix", "is_immutable", "loads"]

loads: Callable[[bytes], Any] = pickle.loads

IMMUTABLE: frozenset[type] = frozenset(
    {
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        Decimal,
        datetime.date,
        datetime.time,
        datetime.datetime,
        datetime.timedelta,
    }
)


class Encoded(bytes):
    """A mutable value in its encoded form; decoded anew each time it is read."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Encoded, (bytes(self),))


def dumps(value: Any) -> bytes:
    """Pickle with the protocol that all parts of a job use."""
    return pickle.dumps(value, 5)


def is_immutable(value: Any) -> bool:
    """Whether nothing reachable from `value` can be changed."""
    cls = type(value)
    if cls in IMMUTABLE:
        return True
    if cls is not tuple and not _is_named_tuple(cls):
        return False
    for item in value:  # noqa: SIM110 - scalars, the commonest, without a call
        if type(item) not in IMMUTABLE and not is_immutable(item):
            return False
    return True


def _is_named_tuple(cls: type) -> bool:
    """One whose instances have no attributes beside their fields."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__dict__.get("__slots__") == ()


def _pickled(value: Any, what: str) -> bytes:
    try:
        return dumps(value)
    except Exception as error:
        raise RecordError(
            f"a {what} cannot be pickled: {value!r:.200} ({type(error).__name__}: {error}). "
            "Keep plain data instead of handles, locks or lambdas"
        ) from error


def fix(value: Any) -> Any:
    """`value` itself if immutable, else a copy that shares nothing with it."""
    if is_immutable(value):
        return value
    if type(value) is Row and IMMUTABLE.issuperset(map(type, value)):
        # of lists and dicts a round trip is as fast as a look at all that they hold; of rows it is not
        return copy_row(value)
    return loads(_pickled(value, "record"))


def encode(value: Any) -> Any:
    """What state keeps: the value if immutable, else its encoded form."""
    return value if is_immutable(value) else Encoded(_pickled(value, "state value"))


def decode(stored: Any) -> Any:
    """The value that state kept, never shared between two reads unless immutable."""
    return loads(stored) if type(stored) is Encoded else stored
