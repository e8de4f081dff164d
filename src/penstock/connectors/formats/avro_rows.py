"""What an Avro schema says about records: their Penstock type, and how rows become Avro's dicts and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from penstock.connectors.formats.scalars import naive_utc
from penstock.connectors.formats.values import field_values, row_maker
from penstock.core.errors import ProgramError
from penstock.core.types import TypeInformation, Types

__all__ = ["Named", "from_rows", "to_rows", "type_of"]

Convert = Callable[[Any], Any]
Named = dict[str, Any]
"""Schemas by full name, for references."""

_SIMPLE = {
    "string": Types.STRING(),
    "enum": Types.STRING(),
    "boolean": Types.BOOLEAN(),
    "int": Types.INT(),
    "long": Types.LONG(),
    "float": Types.FLOAT(),
    "double": Types.DOUBLE(),
    "bytes": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "fixed": Types.PRIMITIVE_ARRAY(Types.BYTE()),
}
_LOGICAL = {
    "date": Types.SQL_DATE(),
    "time-millis": Types.SQL_TIME(),
    "time-micros": Types.SQL_TIME(),
    "timestamp-millis": Types.SQL_TIMESTAMP(),
    "timestamp-micros": Types.SQL_TIMESTAMP(),
    "local-timestamp-millis": Types.SQL_TIMESTAMP(),
    "local-timestamp-micros": Types.SQL_TIMESTAMP(),
    "decimal": Types.BIG_DEC(),
    "uuid": Types.STRING(),
}


def _kind(node: Any) -> str:
    return "union" if isinstance(node, list) else str(node["type"]) if isinstance(node, dict) else str(node)


def _resolved(node: Any, named: Named) -> Any:
    return named.get(node, node) if isinstance(node, str) else node


def _branches(node: list[Any]) -> list[Any]:
    return [n for n in node if n != "null"]


def type_of(node: Any, named: Named) -> TypeInformation:
    """The type of the rows of a (parsed) schema."""
    node = _resolved(node, named)
    if isinstance(node, dict) and node.get("logicalType") in _LOGICAL:
        return _LOGICAL[node["logicalType"]]
    found = _kind(node)
    if found in _SIMPLE:
        return _SIMPLE[found]
    match found:
        case "record" | "error":
            parts = node["fields"]
            return Types.ROW_NAMED([f["name"] for f in parts], [type_of(f["type"], named) for f in parts])
        case "array":
            return Types.LIST(type_of(node["items"], named))
        case "map":
            return Types.MAP(Types.STRING(), type_of(node["values"], named))
        case "union" if len(_branches(node)) == 1:
            return type_of(_branches(node)[0], named)
    raise ProgramError(f"The Avro schema {node!r:.200} has no type here: of a union only null and one other are known")


def to_rows(node: Any, named: Named) -> Convert:
    """From what fastavro reads to rows; moments in UTC, without saying so."""
    node = _resolved(node, named)
    match _kind(node):
        case "record" | "error":
            return _record_to_row(node, named)
        case "array":
            item = to_rows(node["items"], named)
            return lambda value: [item(v) for v in value]
        case "map":
            item = to_rows(node["values"], named)
            return lambda value: {k: item(v) for k, v in value.items()}
        case "union":
            return _union(node, named, to_rows)
    return _moment_out if _is_moment(node) else _same


def _record_to_row(node: Any, named: Named) -> Convert:
    names = [f["name"] for f in node["fields"]]
    make = row_maker(names)
    parts: list[tuple[str, Convert]] = []

    def convert(value: Any) -> Any:
        if not parts:  # late, since a schema may refer to itself
            parts.extend((f["name"], to_rows(f["type"], named)) for f in node["fields"])
        return make([part(value[name]) for name, part in parts])

    return convert


def from_rows(node: Any, named: Named) -> Convert:
    """From rows, tuples, dataclasses or dicts to what fastavro writes."""
    node = _resolved(node, named)
    match _kind(node):
        case "record" | "error":
            return _row_to_record(node, named)
        case "array":
            item = from_rows(node["items"], named)
            return lambda value: [item(v) for v in value]
        case "map":
            item = from_rows(node["values"], named)
            return lambda value: {k: item(v) for k, v in value.items()}
        case "union":
            return _union(node, named, from_rows)
    return _moment_in if _is_moment(node) else _same


def _row_to_record(node: Any, named: Named) -> Convert:
    names = [f["name"] for f in node["fields"]]
    parts: list[Convert] = []

    def convert(value: Any) -> Any:
        if not parts:
            parts.extend(from_rows(f["type"], named) for f in node["fields"])
        given = field_values(value, names, "Avro")
        return {n: p(v) if v is not None else None for n, p, v in zip(names, parts, given, strict=True)}

    return convert


def _union(node: list[Any], named: Named, build: Callable[[Any, Named], Convert]) -> Convert:
    """Null and one other; where there are more, Avro's own rules choose and values stay as they are."""
    branches = _branches(node)
    if len(branches) != 1:
        return _same
    convert = build(branches[0], named)
    return lambda value: None if value is None else convert(value)


def _is_moment(node: Any) -> bool:
    return isinstance(node, dict) and str(node.get("logicalType", "")).startswith("timestamp-")


def _moment_out(value: Any) -> Any:
    return naive_utc(value) if isinstance(value, datetime.datetime) else value


def _moment_in(value: Any) -> Any:
    """fastavro takes a moment without an offset for local time; here it is UTC."""
    return value.replace(tzinfo=datetime.UTC) if isinstance(value, datetime.datetime) and not value.tzinfo else value


def _same(value: Any) -> Any:
    return value
