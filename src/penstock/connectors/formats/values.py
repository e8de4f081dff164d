"""Records of any Python kind as fields: by name, by position, or as plain lists and dicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from penstock.core.errors import RecordError
from penstock.core.types.row import Row, row_of

__all__ = ["field_names", "field_values", "plain", "row_maker"]

_SCALARS = frozenset({type(None), bool, int, float, str, bytes})


def plain(value: object) -> Any:
    """Rows, named tuples and dataclasses, however deep inside, as dicts; rows without names and tuples as lists.

    >>> plain((1, Row(a=Row(1, 2)), [Row(b=3)]))
    [1, {'a': [1, 2]}, [{'b': 3}]]
    """
    if type(value) in _SCALARS:
        return value
    named = _by_name(value)
    if named is not None:
        return {k: plain(v) for k, v in named.items()}
    if isinstance(value, (list, tuple, Row)):
        return [plain(v) for v in value]
    return value


_Named = Callable[[Any], Mapping[Any, Any] | None]


def _by_name(value: object) -> Mapping[Any, object] | None:
    """The fields of a record by name; None if they have no names."""
    cls: type = type(value)
    return _namer(cls)(value)


@lru_cache(256)
def _namer(cls: type) -> _Named:
    """How fields of a record of some class are named; looked up once for each class, not for each record."""
    return next(named for holds, named in _NAMERS if holds(cls))


_NAMERS: tuple[tuple[Callable[[type], bool], _Named], ...] = (
    (lambda cls: issubclass(cls, Mapping), lambda value: value),
    (lambda cls: issubclass(cls, Row), lambda row: None if row._fields is None else row.as_dict()),
    (lambda cls: issubclass(cls, tuple) and hasattr(cls, "_asdict"), lambda value: value._asdict()),
    (dataclasses.is_dataclass, lambda value: {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}),
    (lambda cls: True, lambda value: None),
)


def field_names(value: object, form: str) -> list[str]:
    """The names of a record's fields, or f0, f1, … if it has none."""
    named = _by_name(value)
    if named is not None:
        return [str(name) for name in named]
    if isinstance(value, (list, tuple, Row)):
        return [f"f{i}" for i in range(len(value))]
    raise _no_fields(value, form)


def field_values(value: object, names: Sequence[str], form: str) -> list[Any]:
    """The record's fields in the order of `names`; nothing of it may be dropped in silence.

    >>> field_values({"b": 2}, ["a", "b"], "CSV")
    [None, 2]
    """
    named = _by_name(value)
    if named is not None:
        if unknown := sorted(str(k) for k in named if k not in names):
            raise RecordError(f"the record {value!r:.200} has fields {unknown} that the schema {list(names)} has not")
        return [named.get(name) for name in names]
    if not isinstance(value, (list, tuple, Row)):
        raise _no_fields(value, form)
    if len(value) != len(names):
        raise RecordError(f"the record {value!r:.200} has {len(value)} fields, the schema {len(names)}")
    return list(value)


def _no_fields(value: object, form: str) -> RecordError:
    return RecordError(
        f"the record {value!r:.200} cannot be written as {form}: it must have fields (tuple, Row, dataclass, dict)"
    )


def row_maker(names: Sequence[str]) -> Callable[[Sequence[Any]], Row]:
    """A function from values to a `Row` with these names."""
    return partial(row_of, list(names))
