"""Types and values of columnar files."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from penstock.connectors.formats.kinds import BYTES, element, fields, kind
from penstock.connectors.formats.scalars import as_instant, moment_of, naive_utc, rounded
from penstock.connectors.formats.values import field_names, field_values, row_maker
from penstock.core.errors import RecordError, SinkError
from penstock.core.types.data_types import DecimalType, LocalZonedTimestampType
from penstock.core.types.type_info import TypeInformation

__all__ = ["arrow_schema", "row_converter", "table_of"]

Convert = Callable[[Any], Any]


def arrow_schema(row_type: TypeInformation, form: str) -> Any:
    """The columns of a row type."""
    import pyarrow

    return pyarrow.schema([(name, _arrow_type(info, form)) for name, info in fields(row_type)])


def _arrow_type(info: TypeInformation, form: str) -> object:
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
        "INSTANT": pyarrow.timestamp("us", "UTC"),
        BYTES: pyarrow.binary(),
    }
    found = kind(info)
    if isinstance(info, DecimalType):
        return pyarrow.decimal128(info.precision, info.scale)
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
    records = [_columns_of(value, names, convert, form) for value in values]
    try:
        return pyarrow.Table.from_pylist(records, schema=schema)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise _unfit(values, records, schema, form, error) from error


def _columns_of(value: object, names: Sequence[str], convert: Convert | None, form: str) -> dict[str, object]:
    row = field_values(value, names, form)
    try:
        return dict(zip(names, row, strict=True)) if convert is None else convert(row)
    except (ValueError, TypeError, AttributeError) as error:
        raise RecordError(f"the record {value!r:.200} cannot be written as {form}: {error}") from error


def _unfit(
    values: Sequence[Any], records: list[dict[str, Any]], schema: Any, form: str, error: Exception
) -> RecordError:
    """Which record it was, and which of its columns: Arrow says neither, so each value is tried by itself."""
    for value, record in zip(values, records, strict=True):
        for name, field in record.items():
            kind_of_column = schema.field(name).type if schema is not None else _first_type(records, name)
            if why := _refusal(field, kind_of_column):
                return RecordError(
                    f"the record {value!r:.200} cannot be written as {form}: column {name!r} is "
                    f"{kind_of_column}, got {field!r:.100} ({type(field).__name__}): {why}"
                )
    return RecordError(f"records cannot be written as {form}: {error}")


def _first_type(records: list[dict[str, object]], name: str) -> object:
    """The Arrow type of a column without a declared type: that of its first value."""
    import pyarrow

    first = next((record[name] for record in records if record.get(name) is not None), None)
    try:
        return pyarrow.array([first]).type
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _refusal(value: object, kind_of_column: object) -> str:
    import pyarrow

    try:
        pyarrow.array([value], kind_of_column)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        return str(error)
    return ""


def _to_arrow(info: TypeInformation) -> Convert:
    """From Python to what Arrow takes: rows of all kinds become dicts."""
    match kind(info):
        case "ROW" | "TUPLE":
            names = [n for n, _ in fields(info)]
            parts = [_naming(n, _optional(_to_arrow(t))) for n, t in fields(info)]
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
        case "INSTANT":
            return lambda value: moment_of(as_instant(value))
        case "BIG_DEC" if isinstance(info, DecimalType):
            return lambda value: rounded(value, info) if isinstance(value, Decimal) else value
    return _same


def _naming(name: str, convert: Convert) -> Convert:
    """The same, but an error says which column it is about."""
    if convert is _same:
        return convert

    def call(value: object) -> Any:
        try:
            return convert(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"column {name!r}: {error}") from error

    return call


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
        case "INSTANT":
            return _utc if isinstance(info, LocalZonedTimestampType) else lambda value: as_instant(_utc(value))
        case "BIG_INT":
            return int
    return _same


def _utc(moment: datetime.datetime) -> datetime.datetime:
    """A file may say no zone, which means UTC."""
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)


def _optional(convert: Convert) -> Convert:
    return convert if convert is _same else lambda value: None if value is None else convert(value)


def _same(value: object) -> object:
    return value
