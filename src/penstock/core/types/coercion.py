"""Type coercion: gives values the form of their declared type, as PyFlink's coders do on the way to a function."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from penstock.core.errors import RecordError
from penstock.core.types.row import Row
from penstock.core.types.type_info import TypeInformation

__all__ = ["coerce"]


def coerce(info: TypeInformation, value: object, wrap: bool = False) -> Any:
    """`value` in the form that a stream of type `info` carries; refused if it cannot have it.

    `wrap`: as in PyFlink's `from_collection` a whole number that is too long keeps its last bits, and one where a
    text is meant becomes its text.

    >>> from penstock.core.types.type_info import Types
    >>> coerce(Types.ROW_NAMED(["name", "tags"], [Types.STRING(), Types.LIST(Types.INT())]), ("a", (1, 2)))
    Row(name='a', tags=[1, 2])
    """
    rule = _RULES.get(info.name)
    return value if value is None or rule is None else rule(info, value, wrap)


def _row(info: TypeInformation, value: object, wrap: bool) -> Row:
    names = info.field_names
    values = [coerce(t, v, wrap) for t, v in zip(info.params, _fields(info, value), strict=True)]
    row = Row(*values)
    row.set_field_names(list(names))
    if isinstance(value, Row):
        row.set_row_kind(value.get_row_kind())
    return row


def _fields(info: TypeInformation, value: object) -> Sequence[Any]:
    """The values of a row's fields, in order: by name where they have names, else by position."""
    cls: type = type(value)
    return _reader(cls)(info, value)


@lru_cache(256)
def _reader(cls: type) -> Callable[[TypeInformation, Any], Sequence[Any]]:
    """How the fields of a record of some class are read; looked up once for each class, not for each record."""
    return next((read for base, read in _READERS if issubclass(cls, base)), _of_attributes)


def _of_attributes(info: TypeInformation, value: object) -> Sequence[Any]:
    if hasattr(value, "__dict__"):
        return [vars(value).get(name) for name in info.field_names]
    raise _refused(info, value, "give a Row, tuple, list, dict or object with these fields")


def _tuple(info: TypeInformation, value: object, wrap: bool) -> tuple[Any, ...]:
    if not isinstance(value, (tuple, list, Row)):
        raise _refused(info, value, "give a tuple")
    return tuple(coerce(t, v, wrap) for t, v in zip(info.params, _counted(info, value), strict=True))


def _counted(info: TypeInformation, value: Any) -> Sequence[Any]:
    if len(value) != len(info.params):
        raise _refused(info, value, f"it has {len(value)} fields, the type {len(info.params)}")
    return value  # type: ignore[no-any-return]


_READERS: tuple[tuple[type | tuple[type, ...], Callable[[TypeInformation, Any], Sequence[Any]]], ...] = (
    (dict, lambda info, value: [value.get(name) for name in info.field_names]),
    (Row, lambda info, value: _counted(info, value.get_fields_by_names(info.field_names))),
    ((tuple, list), _counted),
)


def _list(info: TypeInformation, value: object, wrap: bool) -> Any:
    (element,) = info.params
    if isinstance(value, (bytes, bytearray)) and element.name == "BYTE":
        return bytes(value)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise _refused(info, value, "give a list")
    return [coerce(element, v, wrap) for v in value]


def _map(info: TypeInformation, value: object, wrap: bool) -> dict[Any, Any]:
    key, item = info.params
    if not isinstance(value, Mapping):
        raise _refused(info, value, "give a dict")
    return {coerce(key, k, wrap): coerce(item, v, wrap) for k, v in value.items()}


def _double(info: TypeInformation, value: Any, wrap: bool) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _refused(info, value, "give a number") from None


def _float(info: TypeInformation, value: object, wrap: bool) -> float:
    """Single precision, as in a column of that type."""
    try:
        single: float = struct.unpack("<f", struct.pack("<f", _double(info, value, wrap)))[0]
    except OverflowError:
        raise _refused(info, value, "it does not fit in 32 bits: use DOUBLE") from None
    return single


def _whole(bits: int) -> Callable[[TypeInformation, Any, bool], int]:
    """A whole number of so many bits. PyFlink wraps a larger one, and refuses one that does not fit in 64 bits."""
    limit, widest = 1 << (bits - 1), 1 << 63

    def check(info: TypeInformation, value: object, wrap: bool) -> int:
        index = getattr(value, "__index__", None)
        if index is None or isinstance(value, bool):
            raise _refused(info, value, "give a whole number")
        number: int = index()
        most = widest if wrap else limit
        if not -most <= number < most:
            raise _refused(info, value, f"it does not fit in {most.bit_length()} bits")
        return (number + limit) % (2 * limit) - limit

    return check


def _text(info: TypeInformation, value: object, wrap: bool) -> str:
    if wrap and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _refused(info, value, "give a str")
    return value


def _refused(info: TypeInformation, value: object, hint: str) -> RecordError:
    return RecordError(f"{value!r:.200} ({type(value).__name__}) is not of type {info}: {hint}")


_RULES: dict[str, Callable[[TypeInformation, Any, bool], Any]] = {
    "ROW": _row,
    "TUPLE": _tuple,
    "LIST": _list,
    "PRIMITIVE_ARRAY": _list,
    "BASIC_ARRAY": _list,
    "OBJECT_ARRAY": _list,
    "MAP": _map,
    "DOUBLE": _double,
    "FLOAT": _float,
    "BYTE": _whole(8),
    "SHORT": _whole(16),
    "INT": _whole(32),
    "LONG": _whole(64),
    "STRING": _text,
}
