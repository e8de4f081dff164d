"""Lists as keys: a list cannot be hashed, so the runtime keeps a stand-in that compares by the list's value.

The sending side of a keyed edge makes the stand-in from the list that the key selector returned. State, timers and
pages know the stand-in alone. User functions are given a new list each time they ask for the key, so that changing it
changes nothing else.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from penstock.core.errors import KeyTypeError
from penstock.core.types.row import Row
from penstock.pickled import stable
from penstock.runtime.codec import dumps, loads
from penstock.runtime.values import Key

__all__ = ["ListKey", "hashable", "shown"]


class _Form(enum.Enum):
    """Marks in a canonical form, which tell apart values that would be the same plain tuple."""

    LIST = 1
    ROW = 2
    NAMED_ROW = 3
    DATACLASS = 4


class ListKey:
    """The stand-in of a key that is a list or holds one. Equal keys have equal stand-ins."""

    __slots__ = ("data", "form")

    def __init__(self, form: object, data: bytes) -> None:
        self.form, self.data = form, data

    def __eq__(self, other: object) -> bool:
        return self.form == other.form if type(other) is ListKey else NotImplemented

    def __hash__(self) -> int:
        return hash(self.form)

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.data,)

    def __repr__(self) -> str:
        return repr(shown(self))


def hashable(key: object) -> Key:
    """The key as the runtime keeps it: itself if it can be hashed, a stand-in if lists make it unhashable.

    >>> hashable((1, "a"))
    (1, 'a')
    >>> hashable([1, 2]) == hashable([1.0, 2]), hashable([1, 2]) == hashable([2, 1])
    (True, False)
    """
    if type(key) is ListKey:
        return key
    try:
        hash(key)
    except TypeError:
        return ListKey(_canonical(key, key), dumps(key))
    return key


@stable("list_key")
def _restored(data: bytes) -> object:
    """A pickled stand-in: the list is kept, and its form made anew, so that no form is ever on disk."""
    return hashable(loads(data))


def shown(key: object) -> Any:
    """The key as user functions see it; each caller gets a new list.

    >>> shown(hashable(["a", ["b"]]))
    ['a', ['b']]
    """
    return loads(key.data) if type(key) is ListKey else key


def _canonical(part: Any, whole: Any) -> object:
    """A hashable form of a part of a key that is equal for equal parts."""
    for cls, form in _FORMS:
        if isinstance(part, cls):
            return form(part, whole)
    params = getattr(type(part), "__dataclass_params__", None)
    if params is not None and params.frozen and params.eq:
        fields = (getattr(part, f.name) for f in dataclasses.fields(part) if f.compare)
        return (_Form.DATACLASS, type(part).__qualname__, *(_canonical(item, whole) for item in fields))
    try:
        hash(part)
    except TypeError:
        inside = "" if part is whole else f" (inside {whole!r:.200})"
        raise KeyTypeError(
            f"{part!r:.200} ({type(part).__name__}){inside} cannot be a key: it is unhashable. "
            "Use plain values, or tuples and lists of them"
        ) from None
    return part


def _canonical_row(row: Row, whole: object) -> object:
    values = tuple(_canonical(value, whole) for value in row._canonical())
    kind = row.get_row_kind().value
    if row._fields is None:
        return (_Form.ROW, kind, *values)
    return (_Form.NAMED_ROW, kind, tuple(sorted(row._fields)), *values)


_FORMS: tuple[tuple[type, Callable[[Any, Any], object]], ...] = (
    (list, lambda part, whole: (_Form.LIST, *(_canonical(item, whole) for item in part))),
    (tuple, lambda part, whole: tuple(_canonical(item, whole) for item in part)),
    (Row, _canonical_row),
)
