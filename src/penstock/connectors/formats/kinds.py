"""Helpers that take a type hint apart for the formats: its kind, its parts, the names of its fields."""

from __future__ import annotations

from penstock.core.types.type_info import TypeInformation

__all__ = ["BYTES", "element", "fields", "is_array", "is_bytes", "kind", "mentions"]

BYTES = "BYTES"
_ARRAYS = frozenset({"LIST", "BASIC_ARRAY", "PRIMITIVE_ARRAY", "OBJECT_ARRAY"})


def kind(info: TypeInformation) -> str:
    """The name of a type without its parameters; `BYTES` for arrays of bytes, `LIST` for all other arrays.

    >>> from penstock.core.types.type_info import Types
    >>> kind(Types.BASIC_ARRAY(Types.INT())), kind(Types.PRIMITIVE_ARRAY(Types.BYTE())), kind(Types.INT())
    ('LIST', 'BYTES', 'INT')
    """
    if is_bytes(info):
        return BYTES
    return "LIST" if is_array(info) else info.name


def is_bytes(info: TypeInformation) -> bool:
    """Whether values are `bytes`."""
    return info.name == "PICKLED_BYTE_ARRAY" or (info.name == "PRIMITIVE_ARRAY" and info.params[0].name == "BYTE")


def is_array(info: TypeInformation) -> bool:
    return info.name in _ARRAYS


def element(info: TypeInformation) -> TypeInformation:
    """Of an array, the type of its elements."""
    return info.params[0]


def fields(info: TypeInformation) -> list[tuple[str, TypeInformation]]:
    """Of a row or tuple, names and types of its fields; a tuple's are f0, f1, …"""
    names = info.field_names or tuple(f"f{i}" for i in range(len(info.params)))
    return list(zip(names, info.params, strict=True))


def mentions(info: TypeInformation, wanted: str) -> bool:
    """Whether a type is, or has anywhere inside it, one of that kind."""
    return kind(info) == wanted or any(mentions(part, wanted) for part in info.params)
