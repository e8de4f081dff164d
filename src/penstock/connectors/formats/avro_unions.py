"""Avro's unions: which branch a value belongs to."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from penstock.connectors.formats.scalars import WHOLE_BOUNDS
from penstock.connectors.formats.values import field_names
from penstock.core.errors import RecordError

__all__ = ["Named", "branch_of", "kind_of", "name_of", "resolved", "whole"]

Named = dict[str, Any]
"""Schemas by full name, for references."""


def kind_of(node: object) -> str:
    """The name of a schema's type; `union` for a list of them."""
    return "union" if isinstance(node, list) else str(node["type"]) if isinstance(node, dict) else str(node)


def resolved(node: object, named: Named) -> Any:
    """The schema behind a name; a schema that is not a name is returned as it is."""
    return named.get(node, node) if isinstance(node, str) else node


def name_of(node: object) -> str:
    """The name of a union's branch in fastavro: the full name of a record, enum or fixed, else the name of the type."""
    return str(node["name"]) if isinstance(node, dict) and "name" in node else kind_of(node)


def branch_of(branches: Sequence[Any], named: Named, value: Any) -> int:
    """The place of the first branch that holds such values; a whole number may go where only fractions are foreseen."""
    for test in (_fits, _fits_as_number):
        for place, node in enumerate(branches):
            if test(resolved(node, named), value):
                return place
    raise ValueError(f"{value!r:.100} ({type(value).__name__}) belongs to none of {', '.join(map(name_of, branches))}")


def whole(value: object, kind: str) -> bool:
    """Whether a value is a whole number of Avro's type `int` or `long`."""
    bound = WHOLE_BOUNDS[kind.upper()]
    return isinstance(value, int) and not isinstance(value, bool) and -bound <= value < bound


def _fits_as_number(node: object, value: object) -> bool:
    return kind_of(node) in ("float", "double") and isinstance(value, int) and not isinstance(value, bool)


def _fits(node: Any, value: Any) -> bool:
    logical = _LOGICAL.get(node.get("logicalType", "")) if isinstance(node, dict) else None
    if logical is not None:
        return logical(value)
    kind = kind_of(node)
    if kind in ("int", "long"):
        return whole(value, kind)
    if kind in _CLASSES:
        return isinstance(value, _CLASSES[kind])
    match kind:
        case "enum":
            return value in node["symbols"]
        case "fixed":
            return isinstance(value, (bytes, bytearray)) and len(value) == node["size"]
        case "record" | "error":
            return _has_fields(node, value)
    return False


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "float": float,
    "double": float,
    "string": str,
    "bytes": (bytes, bytearray),
    "array": list,
    "map": dict,
}


def _moment(value: object) -> bool:
    return isinstance(value, datetime.datetime)


_LOGICAL: dict[str, Callable[[Any], bool]] = {
    "date": lambda value: isinstance(value, datetime.date) and not _moment(value),
    "time-millis": lambda value: isinstance(value, datetime.time),
    "time-micros": lambda value: isinstance(value, datetime.time),
    "timestamp-millis": _moment,
    "timestamp-micros": _moment,
    "local-timestamp-millis": _moment,
    "local-timestamp-micros": _moment,
    "decimal": lambda value: isinstance(value, Decimal),
    "uuid": lambda value: isinstance(value, (str, uuid.UUID)),
}


def _has_fields(node: Any, value: Any) -> bool:
    """By name, or, where the value has no names, by their number."""
    names = [field["name"] for field in node["fields"]]
    try:
        found = field_names(value, "Avro")
    except RecordError:
        return False
    if isinstance(value, Mapping) or found != [f"f{i}" for i in range(len(found))]:
        return sorted(found) == sorted(names)
    return isinstance(value, tuple) and len(found) == len(names)
