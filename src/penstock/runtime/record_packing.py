"""Record packing: lists of named tuples or of rows in a form that pickle handles faster.

Pickle asks every record how it is made, and makes it again by calling Python. A packed list has the class once and then
the values of all fields. Lists of other records, and of named tuples with a constructor of their own, are left to
pickle.
"""

from __future__ import annotations

from collections.abc import Sequence
from copyreg import dispatch_table
from functools import lru_cache
from typing import Any

from penstock.core.types.row import Row, RowKind, rows_of
from penstock.pickled import resolve, stable, stable_name
from penstock.runtime.shapes import tuple_maker

__all__ = ["packed"]


class _Packed:
    """Pickles as a packed list, and unpickles as the list itself."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: object) -> None:
        self._parts = parts

    def __reduce__(self) -> tuple[object, ...]:
        make, *rest = self._parts
        return make, tuple(rest)


def packed(values: list[Any]) -> Any:
    """The object to pickle in place of a list of records; often the list itself."""
    if not values:
        return values
    cls: Any = type(values[0])
    if cls is Row:
        return _packed_rows(values)
    if _is_plain_named_tuple(cls) and set(map(type, values)) == {cls}:
        return _Packed(_tuples_by_name, stable_name(cls) or cls, cls._fields, list(map(tuple, values)))
    return values


def _packed_rows(rows: list[Any]) -> object:
    if set(map(type, rows)) != {Row}:
        return rows
    fields = rows[0]._fields
    for row in rows:
        if row._fields != fields or row._row_kind is not RowKind.INSERT:
            return rows
    return _Packed(rows_of, fields, [row._values for row in rows])


@stable("tuples_by_name")
def _tuples_by_name(cls: type | str, names: tuple[str, ...], contents: Sequence[tuple[object, ...]]) -> list[object]:
    found = resolve(cls) if isinstance(cls, str) else cls
    return list(map(tuple_maker(found, names), contents))


@lru_cache(256)
def _is_plain_named_tuple(cls: type) -> bool:
    """Whether a class was made by `namedtuple` or `NamedTuple` and does not change how it is made or pickled."""
    return (
        cls.__bases__ == (tuple,)
        and {"_fields", "_make", "_replace"} <= cls.__dict__.keys()
        and not {"__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"} & cls.__dict__.keys()
        and cls not in dispatch_table
    )
