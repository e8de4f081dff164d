"""Columns of a file: the row type they make, and the units in which timestamps and times are read."""

from __future__ import annotations

from typing import Any

from penstock.core.errors import SourceError
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["in_microseconds", "row_type_of"]

_TESTS = (
    ("is_boolean", Types.BOOLEAN()),
    ("is_int8", Types.BYTE()),
    ("is_int16", Types.SHORT()),
    ("is_int32", Types.INT()),
    ("is_integer", Types.LONG()),
    ("is_float32", Types.FLOAT()),
    ("is_floating", Types.DOUBLE()),
    ("is_string", Types.STRING()),
    ("is_large_string", Types.STRING()),
    ("is_binary", Types.PRIMITIVE_ARRAY(Types.BYTE())),
    ("is_large_binary", Types.PRIMITIVE_ARRAY(Types.BYTE())),
    ("is_fixed_size_binary", Types.PRIMITIVE_ARRAY(Types.BYTE())),
    ("is_decimal", Types.BIG_DEC()),
    ("is_date", Types.SQL_DATE()),
    ("is_time", Types.SQL_TIME()),
    ("is_timestamp", Types.SQL_TIMESTAMP()),
)


def row_type_of(schema: Any, path: str) -> TypeInformation:
    """The row of a schema's columns, or of a struct's fields."""
    return Types.ROW_NAMED([f.name for f in schema], [_type_of(f.type, f"{path}, column {f.name!r}") for f in schema])


def _type_of(found: Any, where: str) -> TypeInformation:
    from pyarrow import types

    for test, info in _TESTS:
        if getattr(types, test)(found):
            return info
    if types.is_dictionary(found):
        return _type_of(found.value_type, where)
    if types.is_struct(found):
        return row_type_of([found.field(i) for i in range(found.num_fields)], where)
    if types.is_map(found):
        return Types.MAP(_type_of(found.key_type, where), _type_of(found.item_type, where))
    if types.is_list(found) or types.is_large_list(found):
        return Types.LIST(_type_of(found.value_type, where))
    raise SourceError(f"{where}: there is no type for Arrow's {found}")


def in_microseconds(batch: Any) -> Any:
    """The batch with every timestamp in microseconds, as Python has them; finer parts are cut off.

    Arrow returns a timestamp in nanoseconds as an object of pandas, not as a `datetime`. All timestamps of ORC are in
    nanoseconds to Arrow.
    """
    import pyarrow

    schema = pyarrow.schema([field.with_type(_microseconds(field.type)) for field in batch.schema])
    return batch if schema.equals(batch.schema) else batch.cast(schema, safe=False)


def _microseconds(found: Any) -> object:
    import pyarrow
    from pyarrow import types

    if types.is_timestamp(found):
        return pyarrow.timestamp("us", found.tz) if found.unit == "ns" else found
    if types.is_struct(found):
        return pyarrow.struct([f.with_type(_microseconds(f.type)) for f in found])
    if types.is_map(found):
        return pyarrow.map_(_microseconds(found.key_type), found.item_field.with_type(_microseconds(found.item_type)))
    if types.is_list(found):
        return pyarrow.list_(found.value_field.with_type(_microseconds(found.value_type)))
    if types.is_large_list(found):
        return pyarrow.large_list(found.value_field.with_type(_microseconds(found.value_type)))
    return found
