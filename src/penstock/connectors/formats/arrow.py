"""Types and values of columnar files."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

from penstock.connectors.formats.kinds import BYTES, element, fields, kind
from penstock.connectors.formats.scalars import naive_utc
from penstock.connectors.formats.values import field_names, field_values, row_maker
from penstock.core.errors import RecordError, SinkError
from penstock.core.types import TypeInformation

__all__ = ["arrow_schema", "row_converter", "table_of"]

Convert = Callable[[Any], Any]


def arrow_schema(row_type: TypeInformation, form: str) -> Any:
    """The columns of a row type."""
    import pyarrow

    return pyarrow.schema([(name, _arrow_type(info, form)) for name, info in fields(row_type)])


def _arrow_type(info: TypeInformation, form: str) -> Any:
    import pyarrow

    simple = {
        "STRING": pyarrow.string(),
        "CHAR": pyarrow.string(),
        "BOOLEAN": pyarrow.bool_(),
        "BYTE": pyarrow.int8(),
        "SHORT": pyarrow.int16(),
        "INT": pyarrow.int32(),
        "LONG": pyarrow.int64(),
        "FLOAT": pyarrow.float32(),
        "DOUBLE": pyarrow.float64(),
        "BIG_INT": pyarrow.decimal128(38, 0),
        "BIG_DEC": pyarrow.decimal128(38, 18),
        "SQL_DATE": pyarrow.date32(),
        "SQL_TIME": pyarrow.time64("us"),
        "SQL_TIMESTAMP": pyarrow.timestamp("us"),
        BYTES: pyarrow.binary(),
    }
    found = kind(info)
    if found in simple:
        return simple[found]
    if found == "LIST":
        return pyarrow.list_(_arrow_type(element(info), form))
    if found == "MAP":
        return pyarrow.map_(*(_arrow_type(part, form) for part in info.params))
    if found in ("ROW", "TUPLE"):
        return pyarrow.struct([(n, _arrow_type(t, form)) for n, t in fields(info)])
    raise SinkError(f"{form} has no type for {info.name}")


def table_of(values: Sequence[Any], schema: Any, row_type: TypeInformation | None, form: str) -> Any:
    """Records as a table; without a schema the columns are those of the first record."""
    import pyarrow

    names = schema.names if schema is not None else field_names(values[0], form)
    convert = _to_arrow(row_type) if row_type is not None else None
    rows = [field_values(v, names, form) for v in values]
    try:
        records = [convert(row) if convert is not None else dict(zip(names, row, strict=True)) for row in rows]
        return pyarrow.Table.from_pylist(records, schema=schema)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise RecordError(f"records cannot be written as {form}: {error}") from error


def _to_arrow(info: TypeInformation) -> Convert:
    """From Python to what Arrow takes: rows of all kinds become dicts."""
    match kind(info):
        case "ROW" | "TUPLE":
            names = [n for n, _ in fields(info)]
            parts = [_optional(_to_arrow(t)) for _, t in fields(info)]
            return lambda value: {
                n: p(v) for n, p, v in zip(names, parts, field_values(value, names, "a column"), strict=True)
            }
        case "LIST":
            item = _optional(_to_arrow(element(info)))
            return lambda value: [item(v) for v in value]
        case "MAP":
            key, item = (_optional(_to_arrow(t)) for t in info.params)
            return lambda value: [(key(k), item(v)) for k, v in value.items()]
        case "SQL_TIMESTAMP":
            return lambda value: naive_utc(value) if isinstance(value, datetime.datetime) else value
    return _same


def row_converter(row_type: TypeInformation) -> Convert:
    """From Arrow's dict of a row to a `Row`."""
    return _from_arrow(row_type)


def _from_arrow(info: TypeInformation) -> Convert:
    match kind(info):
        case "ROW" | "TUPLE":
            parts = [(n, _optional(_from_arrow(t))) for n, t in fields(info)]
            make: Callable[[Sequence[Any]], Any] = row_maker([n for n, _ in parts]) if kind(info) == "ROW" else tuple
            return lambda value: make([convert(value.get(name)) for name, convert in parts])
        case "LIST":
            item = _optional(_from_arrow(element(info)))
            return lambda value: [item(v) for v in value]
        case "MAP":
            key, item = (_optional(_from_arrow(t)) for t in info.params)
            return lambda value: {key(k): item(v) for k, v in value}
        case "SQL_TIMESTAMP":
            return naive_utc
        case "BIG_INT":
            return int
    return _same


def _optional(convert: Convert) -> Convert:
    return convert if convert is _same else lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value
