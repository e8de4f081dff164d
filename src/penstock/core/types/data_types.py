"""Column types under the table API's names, for formats that take a row type; they are the types of `Types`."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.core.config.compat import warn_once
from penstock.core.errors import ProgramError
from penstock.core.types.type_info import BasicType, BasicTypeInfo, InstantTypeInfo, TypeInformation, Types

__all__ = ["DataTypes", "DecimalType", "LocalZonedTimestampType"]

Field = tuple[str, TypeInformation]
_LONGEST = 0x7FFFFFFF
"""The length of a VARCHAR that is as good as none."""
_MOST_DIGITS = 38


class DecimalType(BasicTypeInfo):
    """Decimal numbers of so many digits, some of them after the point; formats round to these, half up.

    >>> DataTypes.DECIMAL(10, 2)
    DECIMAL(10, 2)
    """

    def __init__(self, precision: int, scale: int) -> None:
        if not 1 <= precision <= _MOST_DIGITS or not 0 <= scale <= precision:
            raise ProgramError(
                f"DataTypes.DECIMAL({precision}, {scale}): the precision is a number from 1 to {_MOST_DIGITS}, the "
                "scale one from 0 to the precision"
            )
        super().__init__(BasicType.BIG_DEC)
        self.precision, self.scale = precision, scale

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecimalType) and (self.precision, self.scale) == (other.precision, other.scale)

    def __hash__(self) -> int:
        return hash((self.name, self.precision, self.scale))

    def __repr__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class LocalZonedTimestampType(InstantTypeInfo):
    """Moments: an `Instant` or a datetime with a time zone when written, a datetime in UTC when read.

    >>> DataTypes.TIMESTAMP_LTZ()
    TIMESTAMP_LTZ
    """

    def __init__(self) -> None:
        super().__init__(BasicType.INSTANT)

    def __repr__(self) -> str:
        return "TIMESTAMP_LTZ"


def _typed(info: TypeInformation, nullable: bool) -> TypeInformation:
    if not nullable:
        warn_once("DataTypes.nullable")
    return info


def _dropped(argument: str, given: int, anyway: int | None = None) -> None:
    """Say that an argument does nothing, unless it asks for what happens anyway."""
    if given != anyway:
        warn_once(f"DataTypes.{argument}")


class DataTypes:
    """Constructors of column types.

    >>> DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT())]) == Types.ROW_NAMED(["a"], [Types.LONG()])
    True
    """

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> TypeInformation:
        """True or False."""
        return _typed(Types.BOOLEAN(), nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> TypeInformation:
        """A whole number of 8 bits."""
        return _typed(Types.BYTE(), nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> TypeInformation:
        """A whole number of 16 bits."""
        return _typed(Types.SHORT(), nullable)

    @staticmethod
    def INT(nullable: bool = True) -> TypeInformation:
        """A whole number of 32 bits."""
        return _typed(Types.INT(), nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> TypeInformation:
        """A whole number of 64 bits."""
        return _typed(Types.LONG(), nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> TypeInformation:
        """A floating-point number of 32 bits."""
        return _typed(Types.FLOAT(), nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> TypeInformation:
        """A floating-point number of 64 bits, Python's `float`."""
        return _typed(Types.DOUBLE(), nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> TypeInformation:
        """A `datetime.date`."""
        return _typed(Types.SQL_DATE(), nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> TypeInformation:
        """Text of any length."""
        return _typed(Types.STRING(), nullable)

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> TypeInformation:
        """Text; the length is accepted and not enforced."""
        _dropped("CHAR.length", length)
        return _typed(Types.STRING(), nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> TypeInformation:
        """Text; the length is accepted and not enforced."""
        _dropped("VARCHAR.length", length, _LONGEST)
        return _typed(Types.STRING(), nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> TypeInformation:
        """Bytes of any length."""
        return _typed(Types.PRIMITIVE_ARRAY(Types.BYTE()), nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> TypeInformation:
        """Bytes; the length is accepted and not enforced."""
        _dropped("BINARY.length", length)
        return _typed(Types.PRIMITIVE_ARRAY(Types.BYTE()), nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> TypeInformation:
        """Bytes; the length is accepted and not enforced."""
        _dropped("VARBINARY.length", length, _LONGEST)
        return _typed(Types.PRIMITIVE_ARRAY(Types.BYTE()), nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> TypeInformation:
        """A `decimal.Decimal` with so many digits, `scale` of them behind the point."""
        return _typed(DecimalType(precision, scale), nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TypeInformation:
        """A `datetime.time`."""
        if precision != 0:  # left out
            _dropped("TIME.precision", precision, 6)
        return _typed(Types.SQL_TIME(), nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TypeInformation:
        """A `datetime.datetime` without a time zone."""
        _dropped("TIMESTAMP.precision", precision, 6)
        return _typed(Types.SQL_TIMESTAMP(), nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> TypeInformation:
        """Moments, to the microsecond."""
        _dropped("TIMESTAMP_LTZ.precision", precision, 6)
        return _typed(LocalZonedTimestampType(), nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision: int = 6, nullable: bool = True) -> TypeInformation:
        """Another name of `TIMESTAMP_LTZ`."""
        return DataTypes.TIMESTAMP_LTZ(precision, nullable)

    @staticmethod
    def ARRAY(element_type: TypeInformation, nullable: bool = True) -> TypeInformation:
        """A list of values of one type."""
        return _typed(Types.LIST(element_type), nullable)

    @staticmethod
    def MAP(key_type: TypeInformation, value_type: TypeInformation, nullable: bool = True) -> TypeInformation:
        """A dict with keys of one type and values of one type."""
        return _typed(Types.MAP(key_type, value_type), nullable)

    @staticmethod
    def FIELD(name: str, data_type: TypeInformation, description: str | None = None) -> Field:
        """A field of a `ROW`: its name and its type."""
        if description is not None:
            warn_once("DataTypes.FIELD.description")
        return name, data_type

    @staticmethod
    def ROW(row_fields: Sequence[Field] = (), nullable: bool = True) -> TypeInformation:
        """A row of named fields."""
        return _typed(Types.ROW_NAMED([n for n, _ in row_fields], [t for _, t in row_fields]), nullable)
