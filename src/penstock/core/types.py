"""Type hints. Penstock needs them only where a columnar sink needs a schema (P7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["RowTypeInfo", "TypeInformation", "Types"]


@dataclass(frozen=True, slots=True)
class TypeInformation:
    """A type by name, with its parameters.

    >>> str(Types.LIST(Types.INT()))
    'LIST<INT>'
    """

    name: str
    params: tuple[TypeInformation, ...] = ()
    field_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.field_names:
            inner = ", ".join(f"{n}: {t}" for n, t in zip(self.field_names, self.params, strict=True))
        else:
            inner = ", ".join(map(str, self.params))
        return f"{self.name}<{inner}>" if inner else self.name

    def get_field_names(self) -> list[str]:
        """Names of a row type's fields."""
        return list(self.field_names)

    def get_field_types(self) -> list[TypeInformation]:
        """Types of a row or tuple type's fields."""
        return list(self.params)


RowTypeInfo = TypeInformation


def _basic(name: str) -> TypeInformation:
    return TypeInformation(name)


class Types:
    """Constructors of type hints, under PyFlink's names."""

    @staticmethod
    def STRING() -> TypeInformation:
        return _basic("STRING")

    @staticmethod
    def BYTE() -> TypeInformation:
        return _basic("BYTE")

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        return _basic("BOOLEAN")

    @staticmethod
    def SHORT() -> TypeInformation:
        return _basic("SHORT")

    @staticmethod
    def INT() -> TypeInformation:
        return _basic("INT")

    @staticmethod
    def LONG() -> TypeInformation:
        return _basic("LONG")

    @staticmethod
    def FLOAT() -> TypeInformation:
        return _basic("FLOAT")

    @staticmethod
    def DOUBLE() -> TypeInformation:
        return _basic("DOUBLE")

    @staticmethod
    def CHAR() -> TypeInformation:
        return _basic("CHAR")

    @staticmethod
    def BIG_INT() -> TypeInformation:
        return _basic("BIG_INT")

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        return _basic("BIG_DEC")

    @staticmethod
    def INSTANT() -> TypeInformation:
        return _basic("INSTANT")

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        return _basic("SQL_DATE")

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        return _basic("SQL_TIME")

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        return _basic("SQL_TIMESTAMP")

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        return _basic("PICKLED_BYTE_ARRAY")

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> TypeInformation:
        names = tuple(f"f{i}" for i in range(len(field_types)))
        return TypeInformation("ROW", tuple(field_types), names)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> TypeInformation:
        return TypeInformation("ROW", tuple(field_types), tuple(field_names))

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TypeInformation:
        return TypeInformation("TUPLE", tuple(field_types))

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return TypeInformation("PRIMITIVE_ARRAY", (element_type,))

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return TypeInformation("BASIC_ARRAY", (element_type,))

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return TypeInformation("OBJECT_ARRAY", (element_type,))

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        return TypeInformation("MAP", (key_type_info, value_type_info))

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        return TypeInformation("LIST", (element_type_info,))
