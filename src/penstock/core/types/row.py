"""`Row`: a record of positional or named fields, with a change kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from penstock.pickled import stable

__all__ = ["Row", "RowKind", "copy_row", "row_of", "rows_of"]


class RowKind(Enum):
    """The change that a row makes to a table."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __reduce_ex__(self, proto: Any) -> tuple[Any, ...]:
        return _row_kind, (self.value,)

    def __str__(self) -> str:
        return {"INSERT": "+I", "UPDATE_BEFORE": "-U", "UPDATE_AFTER": "+U", "DELETE": "-D"}[self.name]


class Row:
    """A record whose fields are read by position, by name or as attributes.

    >>> row = Row(name="Alice", age=11)
    >>> row.name, row["age"], row[0]
    ('Alice', 11, 'Alice')
    >>> Row("name", "age")("Bob", 12)
    Row(name='Bob', age=12)
    """

    __slots__ = ("_fields", "_row_kind", "_values")
    _fields: list[str] | None
    _values: list[Any]
    _row_kind: RowKind

    def __init__(self, *args: object, **kwargs: object) -> None:
        if args and kwargs:
            raise ValueError("Can not use both args and kwargs to create Row")
        _set(self, list(kwargs) if kwargs else None, list(kwargs.values()) if kwargs else list(args))

    @staticmethod
    def of_kind(row_kind: RowKind, *args: object, **kwargs: object) -> Row:
        """A row with a change kind other than INSERT."""
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The named fields as a dict; rows inside it too if `recursive`."""
        if self._fields is None:
            raise TypeError("Cannot convert a Row class into dict")
        values = [_plain(v) for v in self._values] if recursive else self._values
        return dict(zip(self._fields, values, strict=False))

    def get_row_kind(self) -> RowKind:
        """Whether the row inserts, deletes, or is one half of an update."""
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        """Change what the row does to a table."""
        object.__setattr__(self, "_row_kind", row_kind)

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Give names to the fields of a positional row."""
        object.__setattr__(self, "_fields", list(field_names))

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """Values in the order of `names`; all of them if the row has no names."""
        if self._fields is None or list(names) == self._fields:
            return self._values
        unknown = sorted(set(names) - set(self._fields))
        if unknown:
            raise ValueError(f"Field names {unknown} not exist in {self._fields}.")
        return [self._values[self._fields.index(name)] for name in names]

    def __call__(self, *args: object) -> Row:
        if len(args) > len(self._values):
            raise ValueError(f"Can not create Row with fields {self}, expected {len(self)} values")
        return _create_row(self._values, args, self._row_kind)

    def __getitem__(self, item: int | slice | str) -> Any:
        return self._values[self._index(item)]

    def __setitem__(self, item: int | slice | str, value: object) -> None:
        self._values[self._index(item)] = value

    def _index(self, item: int | slice | str) -> Any:
        if isinstance(item, (int, slice)):
            return item
        if self._fields is None or item not in self._fields:
            raise KeyError(item)
        return self._fields.index(item)

    def __getattr__(self, item: str) -> Any:
        if item.startswith("_") or self._fields is None or item not in self._fields:
            raise AttributeError(item)
        return self._values[self._fields.index(item)]

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(key)

    def __contains__(self, item: object) -> bool:
        return item in (self._values if self._fields is None else self._fields)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return False
        if self._row_kind is not other._row_kind or (self._fields is None) != (other._fields is None):
            return False
        if self._fields is None or self._fields == other._fields:
            return self._values == other._values
        return self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(self._canonical())

    def _canonical(self) -> tuple[object, ...]:
        """Values in an order that equal rows share."""
        if self._fields is None:
            return tuple(self._values)
        return tuple(v for _, v in sorted(zip(self._fields, self._values, strict=False), key=lambda p: p[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_create_row, (self._fields, tuple(self._values), self._row_kind))

    def __repr__(self) -> str:
        if self._fields is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        return f"Row({', '.join(f'{k}={v!r}' for k, v in zip(self._fields, self._values, strict=False))})"


def _set(row: Row, fields: list[str] | None, values: list[object]) -> None:
    _put_fields(row, fields)
    _put_values(row, values)
    _put_kind(row, RowKind.INSERT)


_put_fields, _put_values, _put_kind = (Row.__dict__[name].__set__ for name in ("_fields", "_values", "_row_kind"))


@stable("create_row")
def _create_row(fields: Sequence[str] | None, values: Sequence[Any], kind: RowKind) -> Row:
    row = row_of(None if fields is None else list(fields), values)
    if kind is not RowKind.INSERT:
        row.set_row_kind(kind)
    return row


def row_of(fields: list[str] | None, values: Iterable[object]) -> Row:
    """A row, twice as fast as through its constructor. Names are never changed in place, and may be shared."""
    row = Row.__new__(Row)
    _put_fields(row, fields)
    _put_values(row, list(values))
    _put_kind(row, RowKind.INSERT)
    return row


@stable("rows_of")
def rows_of(fields: list[str] | None, contents: Iterable[list[Any]]) -> list[Row]:
    """Rows of the same names; the lists of their values become theirs."""
    new, put_fields, put_values, put_kind, kind = Row.__new__, _put_fields, _put_values, _put_kind, RowKind.INSERT
    rows = []
    for values in contents:
        row = new(Row)
        put_fields(row, fields)
        put_values(row, values)
        put_kind(row, kind)
        rows.append(row)
    return rows


@stable("row_kind")
def _row_kind(value: int) -> RowKind:
    return RowKind(value)


def copy_row(row: Row) -> Row:
    """Another row of the same values."""
    copied = row_of(row._fields, row._values)
    _put_kind(copied, row._row_kind)
    return copied


def _plain(value: Any) -> Any:
    """Rows inside a value as dicts."""
    return next((make(value) for cls, make in _PLAIN if isinstance(value, cls)), value)


_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Row, lambda row: row.as_dict(True)),
    (list, lambda items: [_plain(v) for v in items]),
    (dict, lambda entries: {k: _plain(v) for k, v in entries.items()}),
)
