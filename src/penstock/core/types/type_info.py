"""Type hints. Penstock needs them only where a columnar sink needs a schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, Self

from penstock.core.config.compat import warn_once
from penstock.core.time.spans import Instant
from penstock.core.types.row import Row
from penstock.core.types.type_variables import K, T, T_co, V

__all__ = [
    "BasicArrayTypeInfo",
    "BasicType",
    "BasicTypeInfo",
    "DateTypeInfo",
    "InstantTypeInfo",
    "ListTypeInfo",
    "LocalTimeTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PickledBytesTypeInfo",
    "PrimitiveArrayTypeInfo",
    "ResultTypeQueryable",
    "RowTypeInfo",
    "SqlTimeTypeInfo",
    "TimeTypeInfo",
    "TimestampTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
]


class TypeInformation(Generic[T_co]):
    """A type: `name` as in `Types`, `params` for what it is made of, `field_names` for rows.

    >>> Types.LIST(Types.INT())
    ListTypeInfo<Integer>
    >>> Types.LIST(Types.INT()).name, Types.LIST(Types.INT()).params
    ('LIST', (Integer,))
    """

    name: str = ""
    params: tuple[TypeInformation, ...] = ()
    field_names: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.name, self.params) == (other.name, other.params)

    def __hash__(self) -> int:
        return hash((self.name, self.params))

    def __repr__(self) -> str:
        return type(self).__name__

    def bridged_to(self, conversion_cls: str) -> Self:
        """The type itself: programs for PyFlink name the Java class of a column's values here. Values are Python's."""
        warn_once("DataTypes.bridged_to")
        return self

    def not_null(self) -> Self:
        """The type itself: a column may hold None."""
        warn_once("DataTypes.nullable")
        return self

    def nullable(self) -> Self:
        """The type itself, which allows None."""
        return self


class ResultTypeQueryable(ABC):
    """Something that knows the type of what it produces."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """The type of the records that this source or function makes."""


class BasicType(Enum):
    """Types that are not made of others."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class BasicTypeInfo(TypeInformation[T_co]):
    """A number, a string, a boolean, a moment."""

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type
        self.name = basic_type.name

    def __repr__(self) -> str:
        return str(self._basic_type.value)

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo[str]:
        """Text."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo[bool]:
        """True or False."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo[int]:
        """A whole number of 8 bits."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo[int]:
        """A whole number of 16 bits."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """A whole number of 32 bits."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo[int]:
        """A whole number of 64 bits."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo[float]:
        """A floating-point number of 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo[float]:
        """A floating-point number of 64 bits."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo[str]:
        """One character."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo[int]:
        """A whole number of any size."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo[Decimal]:
        """A `decimal.Decimal`."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> InstantTypeInfo:
        """A moment, as `Instant`."""
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo[Instant]):
    """An `Instant`."""

    def __init__(self, basic_type: BasicType) -> None:
        super().__init__(basic_type)


class SqlTimeTypeInfo(TypeInformation):
    """Where the types of `datetime` come from."""

    @staticmethod
    def DATE() -> DateTypeInfo:
        """A `datetime.date`."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """A `datetime.time`."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """A `datetime.datetime`."""
        return TimestampTypeInfo()


class DateTypeInfo(TypeInformation[date]):
    """A `datetime.date`."""

    name = "SQL_DATE"

    def __init__(self) -> None:
        """Takes nothing."""


class TimeTypeInfo(TypeInformation[time]):
    """A `datetime.time`."""

    name = "SQL_TIME"


class TimestampTypeInfo(TypeInformation[datetime]):
    """A `datetime.datetime`."""

    name = "SQL_TIMESTAMP"


class LocalTimeTypeInfo(TypeInformation[date | time | datetime]):
    """A date, time or both without a time zone."""

    class TimeType(Enum):
        """Which of them."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self.name = time_type.name

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self.name}>"


class PickledBytesTypeInfo(TypeInformation[Any]):
    """Any Python object: what a stream without a hint has."""

    name = "PICKLED_BYTE_ARRAY"

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class _Of(TypeInformation[list[T]]):
    """Made of one other type."""

    allowed: frozenset[str] = frozenset()

    def __init__(self, element_type: TypeInformation[T]) -> None:
        if self.allowed and element_type.name not in self.allowed:
            raise TypeError(f"Types.{self.name} takes {', '.join(sorted(self.allowed))}, got {element_type!r}")
        self.params = (element_type,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.params[0]}>"


_PRIMITIVE = frozenset({"BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR"})


class PrimitiveArrayTypeInfo(_Of[T]):
    """A list of numbers, booleans or characters without gaps."""

    name = "PRIMITIVE_ARRAY"
    allowed = _PRIMITIVE

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)


class BasicArrayTypeInfo(_Of[T]):
    """A list of basic values or None."""

    name = "BASIC_ARRAY"
    allowed = _PRIMITIVE | {"STRING"}

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)


class ObjectArrayTypeInfo(_Of[T]):
    """A list of values of any one type, or None."""

    name = "OBJECT_ARRAY"

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)


class ListTypeInfo(_Of[T]):
    """A list."""

    name = "LIST"

    def __init__(self, element_type: TypeInformation[T]) -> None:
        super().__init__(element_type)


class MapTypeInfo(TypeInformation[dict[K, V]]):
    """A dict."""

    name = "MAP"

    def __init__(self, key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> None:
        self.params = (key_type_info, value_type_info)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self.params[0]}, {self.params[1]}>"


class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """A tuple."""

    name = "TUPLE"

    def __init__(self, field_types: Sequence[TypeInformation]) -> None:
        self.params = tuple(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """The types of the fields, in order."""
        return list(self.params)

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self.params))})"


class RowTypeInfo(TypeInformation[Row]):
    """A `Row`; fields without names are called f0, f1, …

    >>> Types.ROW_NAMED(["word", "count"], [Types.STRING(), Types.INT()])
    RowTypeInfo(word: String, count: Integer)
    """

    name = "ROW"

    def __init__(self, field_types: Sequence[TypeInformation], field_names: Sequence[str] | None = None) -> None:
        if field_names is not None and len(field_names) != len(field_types):
            raise ValueError(f"A row type has {len(field_types)} types but {len(field_names)} names: {field_names}")
        self.params = tuple(field_types)
        self._named = field_names is not None
        self.field_names = tuple(field_names or (f"f{i}" for i in range(len(field_types))))

    def get_field_names(self) -> list[str]:
        """The names of the fields, in order."""
        return list(self.field_names)

    def get_field_index(self, field_name: str) -> int:
        """Where a named field is; -1 if the row has no names."""
        return self.field_names.index(field_name) if self._named else -1

    def get_field_types(self) -> list[TypeInformation]:
        """The types of the fields, in order."""
        return list(self.params)

    def __repr__(self) -> str:
        named = zip(self.field_names, self.params, strict=True)
        fields = [f"{n}: {t}" for n, t in named] if self._named else map(str, self.params)
        return f"RowTypeInfo({', '.join(fields)})"


class Types:
    """Constructors of type hints, under PyFlink's names."""

    @staticmethod
    def STRING() -> TypeInformation[str]:
        """Text."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BYTE() -> TypeInformation[int]:
        """A whole number of 8 bits."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def BOOLEAN() -> TypeInformation[bool]:
        """True or False."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def SHORT() -> TypeInformation[int]:
        """A whole number of 16 bits."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT() -> TypeInformation[int]:
        """A whole number of 32 bits."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG() -> TypeInformation[int]:
        """A whole number of 64 bits."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT() -> TypeInformation[float]:
        """A floating-point number of 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE() -> TypeInformation[float]:
        """A floating-point number of 64 bits, Python's `float`."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR() -> TypeInformation[str]:
        """One character."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT() -> TypeInformation[int]:
        """A whole number of any size."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC() -> TypeInformation[Decimal]:
        """A `decimal.Decimal`."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT() -> TypeInformation[Instant]:
        """A moment, as `Instant`."""
        return InstantTypeInfo(BasicType.INSTANT)

    @staticmethod
    def SQL_DATE() -> TypeInformation[date]:
        """A `datetime.date`."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TypeInformation[time]:
        """A `datetime.time`."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation[datetime]:
        """A `datetime.datetime`."""
        return TimestampTypeInfo()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation[Any]:
        """Any Python object, pickled."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """A row of fields by position."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: Sequence[str], field_types: Sequence[TypeInformation]) -> RowTypeInfo:
        """A row of named fields."""
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: Sequence[TypeInformation]) -> TupleTypeInfo:
        """A tuple with a type for each place."""
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """A list of numbers or booleans of one type; of BYTE, bytes."""
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """A list of values of one basic type."""
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation[T]) -> TypeInformation[list[T]]:
        """A list of values of one type, of any kind."""
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation[K], value_type_info: TypeInformation[V]) -> TypeInformation[dict[K, V]]:
        """A dict with keys of one type and values of one type."""
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation[T]) -> TypeInformation[list[T]]:
        """A list of values of one type."""
        return ListTypeInfo(element_type_info)
