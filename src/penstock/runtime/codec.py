"""Records and state values as bytes, and the rule that makes them independent of later mutation.

A value that is immutable through and through is kept as it is. Every other value is detached from the object that the
program holds by a round trip through the codec at the moment it is emitted or stored. Bytes that are kept or sent name
the fields of records (`runtime/shapes.py`), since another version of the program may read them.
"""

from __future__ import annotations

import datetime
import io
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock.core.errors import PenstockError, RecordError, StateError
from penstock.core.types.row import Row, copy_row
from penstock.pickled import stable
from penstock.runtime.local_classes import dumps_local
from penstock.runtime.shapes import DICT_FIELDS, SELF_TOLD, dumps_by_name, refitted
from penstock.runtime.values import Record

__all__ = ["IMMUTABLE", "Encoded", "decode", "detach", "dumps", "encode", "is_immutable", "loads"]

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


@stable("Encoded")
class Encoded(bytes):
    """A mutable value in its encoded form; each read decodes it again, so that reads share nothing."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return (Encoded, (bytes(self),))


def dumps(value: object) -> bytes:
    """Pickle a value that is kept or sent. All parts of a job pickle by it."""
    try:
        return dumps_by_name(value)
    except Exception as error:
        return dumps_local(value, error)


def loads(data: bytes) -> Any:
    """Read bytes that `dumps` of this or an older version wrote; an error names the class that cannot be read."""
    try:
        if data[1] != SELF_TOLD:
            return pickle.loads(data)
        return _loads_record(data)
    except Exception as error:
        raise _unreadable(data, error) from error


def _loads_record(data: bytes) -> object:
    """A record of scalars, fitted to its class if that has other fields now."""
    try:
        record = pickle.loads(data)
        if vars(record).keys() == DICT_FIELDS[type(record)]:
            return record
    except (AttributeError, TypeError):  # the class keeps its fields in another way now, or is gone
        pass
    return refitted(data)


class _Finder(pickle.Unpickler):
    """Names the class that cannot be found."""

    def find_class(self, module: str, name: str) -> object:
        try:
            return super().find_class(module, name)
        except (AttributeError, ImportError) as error:
            raise StateError(
                f"State or a record was written with the class {module}.{name}, which is not there any more ({error}). "
                f"If it was renamed or moved, keep its old name too: {name.rpartition('.')[2]} = <the new class> in "
                f"{module}"
            ) from None


def _unreadable(data: bytes, error: Exception) -> PenstockError:
    if isinstance(error, PenstockError):
        return error
    try:
        _Finder(io.BytesIO(data)).load()
    except PenstockError as found:
        return found
    except Exception as again:
        error = again
    return StateError(
        f"State or a record cannot be read with the classes of this program: {type(error).__name__}: {error}. "
        "Keep the classes as they were when it was written, or let them say how older fields are read"
    )


def _dumps_now(value: object) -> bytes:
    try:
        return pickle.dumps(value, 5)
    except Exception as error:
        return dumps_local(value, error)


def _dumps_record(value: object) -> bytes:
    try:
        return pickle.dumps(value, SELF_TOLD)
    except Exception:  # the class is defined inside a function, or cannot be pickled at all
        return dumps(value)


def is_immutable(value: Record) -> bool:
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
    """Whether a class is a named tuple whose instances have no attributes beside their fields."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__dict__.get("__slots__") == ()


def _pickled(value: object, what: str, dump: Callable[[Any], bytes]) -> bytes:
    try:
        return dump(value)
    except Exception as error:
        raise RecordError(
            f"a {what} cannot be pickled: {value!r:.200} ({type(error).__name__}: {error}). "
            "Keep plain data instead of handles, locks or lambdas"
        ) from error


def detach(value: object) -> Any:
    """`value` itself if it is immutable, else a copy that shares nothing with it."""
    if is_immutable(value):
        return value
    if type(value) is Row and IMMUTABLE.issuperset(map(type, value)):
        # for lists and dicts a round trip is as fast as looking at all their items; for rows a copy is faster
        return copy_row(value)
    # the bytes are read at once by this very program, so they need no names of fields
    return pickle.loads(_pickled(value, "record", _dumps_now))


def encode(value: object) -> Any:
    """The form in which state keeps a value: itself if it is immutable, else `Encoded`."""
    if is_immutable(value):
        return value
    names = DICT_FIELDS[type(value)]
    if names is not None:
        fields = vars(value)
        if fields.keys() == names and IMMUTABLE.issuperset(map(type, fields.values())):
            # pickle itself names the fields of such a record, and is faster than our own way for a single one
            return Encoded(_pickled(value, "state value", _dumps_record))
    return Encoded(_pickled(value, "state value", dumps))


def decode(stored: object) -> Any:
    """The value that state kept, never shared between two reads unless immutable."""
    return loads(stored) if type(stored) is Encoded else stored
