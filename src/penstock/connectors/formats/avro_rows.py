"""From an Avro schema to the Penstock type of its records, and between rows and Avro's dicts."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from penstock.connectors.formats.avro_unions import Named, branch_of, kind_of, name_of, resolved, whole
from penstock.connectors.formats.scalars import naive_utc
from penstock.connectors.formats.values import field_values, row_maker
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["Named", "from_rows", "to_rows", "type_of"]

Convert = Callable[[Any], Any]
_ANYTHING = Types.PICKLED_BYTE_ARRAY()
_SIMPLE = {
    "null": _ANYTHING,
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


def _branches(node: list[Any]) -> list[Any]:
    return [n for n in node if n != "null"]


def type_of(node: Any, named: Named) -> TypeInformation:
    """The type of the rows of a (parsed) schema; what holds values of several types may hold anything."""
    node = resolved(node, named)
    if isinstance(node, dict) and node.get("logicalType") in _LOGICAL:
        return _LOGICAL[node["logicalType"]]
    found = kind_of(node)
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
    return _ANYTHING


def to_rows(node: Any, named: Named) -> Convert:
    """From what fastavro reads to rows; moments in UTC, without saying so."""
    node = resolved(node, named)
    match kind_of(node):
        case "record" | "error":
            return _record_to_row(node, named)
        case "array":
            item = to_rows(node["items"], named)
            return lambda value: [item(v) for v in value]
        case "map":
            item = to_rows(node["values"], named)
            return lambda value: {k: item(v) for k, v in value.items()}
        case "union":
            return _union_to_rows(node, named)
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
    node = resolved(node, named)
    match kind_of(node):
        case "record" | "error":
            return _row_to_record(node, named)
        case "array":
            item = from_rows(node["items"], named)
            return lambda value: [item(v) for v in value]
        case "map":
            item = from_rows(node["values"], named)
            return lambda value: {k: item(v) for k, v in value.items()}
        case "union":
            return _union_from_rows(node, named)
        case "null":
            return _nothing
        case "int" | "long" as found if not _is_logical(node):
            return _whole(found)
    return _moment_in if _is_moment(node) else _same


def _row_to_record(node: Any, named: Named) -> Convert:
    names = [f["name"] for f in node["fields"]]
    parts: list[Convert] = []

    def convert(value: Any) -> Any:
        if not parts:
            parts.extend(_naming(f["name"], from_rows(f["type"], named)) for f in node["fields"])
        given = field_values(value, names, "Avro")
        return {n: p(v) if v is not None else None for n, p, v in zip(names, parts, given, strict=True)}

    return convert


def _naming(name: str, convert: Convert) -> Convert:
    def call(value: object) -> Any:
        try:
            return convert(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"field {name!r}: {error}") from error

    return call


def _union_to_rows(node: list[Any], named: Named) -> Convert:
    """fastavro does not say which branch it read: the value tells."""
    branches = _branches(node)
    converts: list[Convert] = []

    def convert(value: object) -> Any:
        if value is None:
            return None
        if not converts:  # late, since a schema may refer to itself
            converts.extend(to_rows(branch, named) for branch in branches)
        return converts[0 if len(branches) == 1 else branch_of(branches, named, value)](value)

    return convert


def _union_from_rows(node: list[Any], named: Named) -> Convert:
    """With several branches besides null, fastavro is told which one it is."""
    branches = _branches(node)
    converts: list[Convert] = []

    def convert(value: object) -> Any:
        if value is None:
            return None
        if not converts:
            converts.extend(from_rows(branch, named) for branch in branches)
        if len(branches) == 1:
            return converts[0](value)
        place = branch_of(branches, named, value)
        return name_of(resolved(branches[place], named)), converts[place](value)

    return convert


def _nothing(value: object) -> None:
    if value is not None:
        raise ValueError(f"{value!r:.100} ({type(value).__name__}) where the schema has null, which holds None alone")


def _whole(kind: str) -> Convert:
    def check(value: object) -> object:
        if not whole(value, kind):
            raise ValueError(
                f"{value!r:.100} ({type(value).__name__}) is not a whole number that fits in Avro's {kind}"
            )
        return value

    return check


def _is_logical(node: object) -> bool:
    return isinstance(node, dict) and node.get("logicalType") in _LOGICAL


def _is_moment(node: object) -> bool:
    return isinstance(node, dict) and str(node.get("logicalType", "")).startswith("timestamp-")


def _moment_out(value: object) -> object:
    return naive_utc(value) if isinstance(value, datetime.datetime) else value


def _moment_in(value: object) -> object:
    """fastavro takes a moment without an offset for local time; here it is UTC."""
    return value.replace(tzinfo=datetime.UTC) if isinstance(value, datetime.datetime) and not value.tzinfo else value


def _same(value: object) -> object:
    return value
