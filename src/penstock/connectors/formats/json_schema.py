"""From a JSON Schema to the type of a row, as Flink reads one."""

from __future__ import annotations

import json
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.types.type_info import TypeInformation, Types

__all__ = ["type_of_json_schema"]

_SIMPLE = {"boolean": Types.BOOLEAN(), "integer": Types.BIG_INT(), "number": Types.BIG_DEC()}
_FORMATS = {"date": Types.SQL_DATE(), "time": Types.SQL_TIME(), "date-time": Types.SQL_TIMESTAMP()}


def type_of_json_schema(json_schema: str) -> TypeInformation:
    """The type; whole numbers are `BIG_INT`, other numbers `BIG_DEC`.

    >>> type_of_json_schema('{"type": "object", "properties": {"a": {"type": "integer"}}}').params[0].name
    'BIG_INT'
    """
    try:
        root = json.loads(json_schema)
    except ValueError as error:
        raise ProgramError(f"json_schema(): not JSON: {error}") from error
    return _convert("<root>", root, root)


def _convert(where: str, node: object, root: object) -> TypeInformation:
    if not isinstance(node, dict):
        raise ProgramError(f"json_schema(): {where} is not an object but {node!r:.100}")
    if "$ref" in node:
        return _convert(node["$ref"], _resolve(node["$ref"], root), root)
    name = _type_name(where, node)
    if name in _SIMPLE:
        return _SIMPLE[name]
    match name:
        case "string":
            return _string(node)
        case "object":
            names = list(node.get("properties", {}))
            return Types.ROW_NAMED(names, [_convert(f"{where}/{n}", node["properties"][n], root) for n in names])
        case "array":
            return _array(where, node.get("items"), root)
    raise ProgramError(f"json_schema(): {where} has the type {name!r}, for which there is none here")


def _type_name(where: str, node: dict[str, object]) -> object:
    found = node.get("type")
    names = [n for n in found if n != "null"] if isinstance(found, list) else [found]
    if len(names) != 1 or names[0] is None:
        raise ProgramError(f"json_schema(): {where} must have one type besides null, found {found!r}")
    return names[0]


def _string(node: dict[str, Any]) -> TypeInformation:
    if node.get("contentEncoding") == "base64":
        return Types.PRIMITIVE_ARRAY(Types.BYTE())
    return _FORMATS.get(node.get("format", ""), Types.STRING())


def _array(where: str, items: object, root: object) -> TypeInformation:
    if isinstance(items, list):
        return Types.TUPLE([_convert(f"{where}[{i}]", item, root) for i, item in enumerate(items)])
    return Types.OBJECT_ARRAY(_convert(f"{where}[]", items, root))


def _resolve(reference: str, root: object) -> object:
    if not reference.startswith("#"):
        raise ProgramError(f"json_schema(): the reference {reference!r} leads outside of the schema")
    node = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(step) if isinstance(node, dict) and step else node
    return node
