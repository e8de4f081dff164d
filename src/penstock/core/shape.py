"""What a declared type makes of records: named rows, plain tuples, numbers of its width (P7).

A hint of plain Python types changes nothing. `Types.ROW_NAMED` gives a tuple or an unnamed `Row` its names, so that
functions behind it may ask for fields by name.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from penstock.core.errors import OperatorError
from penstock.core.row import Row
from penstock.core.types import TypeInformation

__all__ = ["Shape", "shape_of"]

Shape = Callable[[Any], Any]
_SINGLE = struct.Struct("<f")


def shape_of(declared: TypeInformation | None) -> Shape | None:
    """The function that gives a value its declared type; None if it would change nothing.

    >>> from penstock.core.types import Types
    >>> shape_of(Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()]))(("Ann", 1))
    Row(name='Ann', age=1)
    >>> shape_of(Types.FLOAT())(110.1)
    110.0999984741211
    >>> shape_of(Types.MAP(Types.STRING(), Types.LONG())) is None
    True
    """
    make = None if declared is None else _MAKERS.get(declared.name)
    return None if declared is None or make is None else make(declared)


def _parts(declared: TypeInformation) -> list[Shape | None]:
    return [shape_of(part) for part in declared.params]


def _row(declared: TypeInformation) -> Shape:
    names, parts = list(declared.field_names), _parts(declared)

    def shape(value: Any) -> Any:
        if value is None:
            return None
        row = Row(*_fields(_by_names(value, names), parts, declared))
        row.set_field_names(names)
        if isinstance(value, Row):
            row.set_row_kind(value.get_row_kind())
        return row

    return shape


def _by_names(value: Any, names: list[str]) -> Any:
    """The fields of a named row in the order of the type; other values have theirs in that order already."""
    if not isinstance(value, Row):
        return value
    try:
        return value.get_fields_by_names(names)
    except ValueError as error:
        raise OperatorError(f"declared as a row of {', '.join(names)}, but found {value!r:.200}") from error


def _tuple(declared: TypeInformation) -> Shape:
    parts = _parts(declared)

    def shape(value: Any) -> Any:
        if value is None or (value.__class__ is tuple and len(value) == len(parts) and not any(parts)):
            return value
        return tuple(_fields(value, parts, declared))

    return shape


def _fields(value: Any, parts: Sequence[Shape | None], declared: TypeInformation) -> list[Any]:
    if not isinstance(value, tuple | list | Row) or len(value) != len(parts):
        raise OperatorError(
            f"declared as {declared} with {len(parts)} fields, but found {value!r:.200}: return a tuple or a Row with "
            "as many, or declare another type"
        )
    return [field if part is None else part(field) for field, part in zip(value, parts, strict=True)]


def _sequence(declared: TypeInformation) -> Shape | None:
    part = shape_of(declared.params[0])
    return None if part is None else lambda values: None if values is None else [part(value) for value in values]


def _map(declared: TypeInformation) -> Shape | None:
    key, value = (part or _same for part in _parts(declared))
    if key is _same and value is _same:
        return None
    return lambda items: None if items is None else {key(k): value(v) for k, v in items.items()}


def _same(value: Any) -> Any:
    return value


def _float(declared: TypeInformation) -> Shape:
    """Rounded to 32 bits, as a Java float has."""
    return lambda value: None if value is None else _SINGLE.unpack(_SINGLE.pack(value))[0]


def _double(declared: TypeInformation) -> Shape:
    return lambda value: float(value) if value.__class__ is int else value


_MAKERS: dict[str, Callable[[TypeInformation], Shape | None]] = {
    "BASIC_ARRAY": _sequence,
    "DOUBLE": _double,
    "FLOAT": _float,
    "LIST": _sequence,
    "MAP": _map,
    "OBJECT_ARRAY": _sequence,
    "PRIMITIVE_ARRAY": _sequence,
    "ROW": _row,
    "TUPLE": _tuple,
}
