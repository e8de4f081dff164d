"""Avro records in Parquet files, as parquet-avro lays them out.

A field that is null has no column, and a union of several types is a group with a column for each, of which one is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.connectors.formats.avro_rows import type_of
from penstock.connectors.formats.avro_unions import Named, branch_of, kind_of, resolved
from penstock.connectors.formats.values import field_values
from penstock.core.errors import ProgramError
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["column_type", "from_columns", "to_columns"]

Convert = Callable[[Any], Any]


def _branches(node: list[Any]) -> list[Any]:
    return [branch for branch in node if branch != "null"]


def _columns(node: Any) -> list[dict[str, Any]]:
    """The fields of a record that have a column."""
    return [field for field in node["fields"] if kind_of(field["type"]) != "null"]


def column_type(node: Any, named: Named) -> TypeInformation:
    """The type of the columns of a (parsed) schema."""
    node = resolved(node, named)
    match kind_of(node):
        case "record" | "error":
            found = _columns(node)
            return Types.ROW_NAMED([f["name"] for f in found], [column_type(f["type"], named) for f in found])
        case "array":
            return Types.LIST(column_type(node["items"], named))
        case "map":
            return Types.MAP(Types.STRING(), column_type(node["values"], named))
        case "null":
            raise ProgramError("Parquet has no column for Avro's null: give the elements of arrays and maps a type")
        case "union":
            parts = [column_type(branch, named) for branch in _branches(node)]
            return parts[0] if len(parts) == 1 else Types.ROW_NAMED([f"member{i}" for i in range(len(parts))], parts)
    return type_of(node, named)


def to_columns(node: object, named: Named) -> Convert:
    """From a record to the values of its columns."""
    return _converter(node, named, _record_out, _union_out)


def from_columns(node: object, named: Named) -> Convert:
    """From the values of columns to a record, a dict."""
    return _converter(node, named, _record_in, _union_in)


_Build = Callable[[Any, Named], Convert]


def _converter(node: Any, named: Named, record: _Build, union: _Build) -> Convert:
    node = resolved(node, named)
    match kind_of(node):
        case "record" | "error":
            return _optional(record(node, named))
        case "array":
            item = _converter(node["items"], named, record, union)
            return _optional(lambda value: [item(v) for v in value])
        case "map":
            item = _converter(node["values"], named, record, union)
            return _optional(lambda value: {k: item(v) for k, v in value.items()})
        case "union":
            branches = _branches(node)
            return _optional(
                _converter(branches[0], named, record, union) if len(branches) == 1 else union(branches, named)
            )
    return _same


def _record_out(node: Any, named: Named) -> Convert:
    names = [field["name"] for field in node["fields"]]
    parts = {field["name"]: to_columns(field["type"], named) for field in _columns(node)}

    def convert(value: object) -> Any:
        given = dict(zip(names, field_values(value, names, "Parquet"), strict=True))
        if full := [name for name in names if name not in parts and given[name] is not None]:
            raise ValueError(f"field {full[0]!r}: {given[full[0]]!r:.100} where the schema has null")
        return {name: part(given[name]) for name, part in parts.items()}

    return convert


def _record_in(node: Any, named: Named) -> Convert:
    parts = {field["name"]: from_columns(field["type"], named) for field in _columns(node)}
    names = [field["name"] for field in node["fields"]]
    return lambda value: {name: parts[name](value.get(name)) if name in parts else None for name in names}


def _union_out(branches: Any, named: Named) -> Convert:
    converts = [to_columns(branch, named) for branch in branches]

    def convert(value: Any) -> Any:
        place = branch_of(branches, named, value)
        return {f"member{i}": converts[i](value) if i == place else None for i in range(len(branches))}

    return convert


def _union_in(branches: Any, named: Named) -> Convert:
    converts = [(f"member{i}", from_columns(branch, named)) for i, branch in enumerate(branches)]
    return lambda value: next((convert(value[name]) for name, convert in converts if value[name] is not None), None)


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _same(value: object) -> object:
    return value
