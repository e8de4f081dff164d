"""Single values on their way through JSON and CSV: what is read leniently, what is written one way.

Numbers and booleans may come as text, as Jackson takes them; dates and times are ISO 8601, without an
offset in Python (UTC) and with `Z` on the wire; bytes are base64.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import math
import re
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from penstock.connectors.formats.kinds import BYTES, kind
from penstock.core.time.spans import Instant
from penstock.core.types.data_types import DecimalType, LocalZonedTimestampType
from penstock.core.types.type_info import TypeInformation

__all__ = ["WHOLE_BOUNDS", "NumberText", "as_instant", "moment_of", "naive_utc", "reader", "rounded", "writer"]

_BITS = {"BYTE": 8, "SHORT": 16, "INT": 32, "LONG": 64}
WHOLE_BOUNDS = {name: 1 << bits - 1 for name, bits in _BITS.items()}
"""Of each kind of whole numbers that has a size: the first number that is too large for it."""


def naive_utc(moment: datetime.datetime) -> datetime.datetime:
    """The same moment in UTC, without saying so, which is how `SQL_TIMESTAMP` has it."""
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or (not isinstance(value, (str, int)) and value != int(value)):
        raise ValueError(f"{value!r} is not a whole number")
    return int(value)


def _within(bits: int) -> Callable[[Any], int]:
    low, high = -(1 << bits - 1), 1 << bits - 1

    def check(value: object) -> int:
        number = _whole(value)
        if not low <= number < high:
            raise ValueError(f"{number} does not fit in {bits} bits")
        return number

    return check


def _boolean(value: object) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _single(value: object) -> float:
    """The nearest 32-bit float, which is what a FLOAT is in Flink."""
    number = _number(value)
    try:
        nearest: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        raise ValueError(f"{number!r} does not fit in a 32-bit float") from None
    return nearest


def _decimal(value: Any) -> Decimal:
    try:
        return Decimal(repr(value) if isinstance(value, float) else value)
    except (InvalidOperation, TypeError) as error:
        raise ValueError(f"{value!r} is not a number") from error


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)


def _needs_text(parse: Callable[[str], object]) -> Callable[[Any], object]:
    def read(value: object) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not text")
        return parse(value)

    return read


def _time(text: str) -> datetime.time:
    return datetime.time.fromisoformat(text.removesuffix("Z"))


_INSTANT = re.compile(r"(.*\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z")


def _instant(text: str) -> Instant:
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a moment such as 2024-01-01T00:00:00Z")
    moment = datetime.datetime.fromisoformat(match[1]).replace(tzinfo=datetime.UTC)
    return Instant(round(moment.timestamp()), int((match[2] or "").ljust(9, "0")))


def _instant_out(moment: Instant) -> str:
    second = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=moment.seconds)
    return f"{second.isoformat()}.{moment.nanos:09}Z"


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error


_READ: dict[str, Callable[[Any], object]] = {
    "STRING": _text,
    "CHAR": _text,
    "BOOLEAN": _boolean,
    **{name: _within(bits) for name, bits in _BITS.items()},
    "BIG_INT": _whole,
    "FLOAT": _single,
    "DOUBLE": _number,
    "BIG_DEC": _decimal,
    "SQL_DATE": _needs_text(datetime.date.fromisoformat),
    "SQL_TIME": _needs_text(_time),
    "SQL_TIMESTAMP": _needs_text(lambda text: naive_utc(datetime.datetime.fromisoformat(text))),
    "INSTANT": _needs_text(_instant),
    BYTES: _needs_text(_bytes),
}
"""By kind: from a JSON value, or from text, to Python. Raises `ValueError` or `TypeError`."""


class NumberText(str):
    """The text of a number, which formats write without quotes."""

    __slots__ = ()


def _double_out(value: object) -> str:
    number = _number(value)
    return NumberText(_as_java(number)) if math.isfinite(number) else _not_finite(number)


def _float_out(value: object) -> str:
    number = _single(value)
    return NumberText(_as_java(_shortest(number))) if math.isfinite(number) else _not_finite(number)


def _not_finite(number: float) -> str:
    return str(number).replace("inf", "Infinity").replace("nan", "NaN")


def _shortest(single: float) -> float:
    """The number with the fewest digits that is the same 32-bit float: 0.1, not 0.10000000149011612."""
    # six digits always survive, unless the number is so small that a float has fewer
    for digits in range(6 if abs(single) >= _LEAST_NORMAL else 2, 9):
        short = float(f"{single:.{digits}g}")
        if _single(short) == single:
            return short
    return float(f"{single:.9g}")


_LEAST_NORMAL = 2.0**-126


def _as_java(number: float) -> str:
    """Java's notation, which is Jackson's: a point always, an exponent from 10⁷ and below 10⁻³.

    >>> [_as_java(x) for x in (1.0, 1e7, 9.9e-4, 0.001, 5e-324)]
    ['1.0', '1.0E7', '9.9E-4', '0.001', '4.9E-324']
    """
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).rstrip("0")
    if len(shown) < 2:  # Java shows two digits at least, and the two that are nearest
        shown = f"{abs(number):.1e}"[0:3:2]
    return f"{'-' * sign}{shown[0]}.{shown[1:]}E{len(digits) + exponent - 1}"


def _of(cls: type | tuple[type, ...], show: Callable[[Any], object]) -> Callable[[Any], object]:
    def write(value: Any) -> Any:
        if not isinstance(value, cls):
            raise ValueError(f"{value!r} is a {type(value).__name__}")
        return show(value)

    return write


_WRITE: dict[str, Callable[[Any], object]] = {
    "STRING": _of(str, str),
    "CHAR": _of(str, str),
    "BOOLEAN": _of(bool, bool),
    **{name: _within(bits) for name, bits in _BITS.items()},
    "BIG_INT": _whole,
    "FLOAT": _float_out,
    "DOUBLE": _double_out,
    "BIG_DEC": _decimal,
    "SQL_DATE": _of(datetime.date, datetime.date.isoformat),
    "SQL_TIME": _of(datetime.time, lambda value: f"{value.isoformat()}Z"),
    "SQL_TIMESTAMP": _of(datetime.datetime, lambda value: f"{naive_utc(value).isoformat()}Z"),
    "INSTANT": lambda value: _instant_out(as_instant(value)),
    BYTES: _of((bytes, bytearray), lambda value: base64.b64encode(value).decode()),
}
"""By kind: from Python to a JSON scalar (`Decimal` for `BIG_DEC`, `NumberText` for floats that are finite). Raises
`ValueError` or `TypeError`."""


def reader(info: TypeInformation) -> Callable[[Any], Any] | None:
    """From a JSON value, or from text, to a value of the type; None if there is no form for it."""
    read = _READ.get(kind(info))
    if isinstance(info, DecimalType):
        return lambda value: rounded(_decimal(value), info)
    if isinstance(info, LocalZonedTimestampType):
        return _needs_text(lambda text: moment_of(_instant(text)))
    return read


def writer(info: TypeInformation) -> Callable[[Any], Any] | None:
    """From a value of the type to a JSON scalar; None if there is no form for it."""
    if isinstance(info, DecimalType):
        return lambda value: rounded(_decimal(value), info)
    return _WRITE.get(kind(info))


# -- types with more to them than their kind ----------------------------------------------------------


def rounded(number: Decimal, info: DecimalType) -> Decimal:
    """The number with the digits of its type, rounded half up as Flink does; refused if it has too many before the
    point, where Flink would put null."""
    if number.is_finite() and number.adjusted() < info.precision:
        made = number.quantize(Decimal(1).scaleb(-info.scale), ROUND_HALF_UP, _WIDE)
        if not made or made.adjusted() < info.precision - info.scale:
            return made
    raise ValueError(f"{number} does not fit in {info!r}")


_WIDE = Context(prec=100)


def as_instant(value: object) -> Instant:
    """The moment that an `Instant`, or a datetime with a time zone, stands for."""
    if isinstance(value, Instant):
        return value
    if not isinstance(value, datetime.datetime):
        raise ValueError(f"{value!r} is a {type(value).__name__}, not an Instant")
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone, so that it is not clear which moment it is: give it one")
    micros = (value - _EPOCH) // datetime.timedelta(microseconds=1)
    return Instant(micros // 1_000_000, micros % 1_000_000 * 1000)


def moment_of(instant: Instant) -> datetime.datetime:
    """The moment as a datetime in UTC, which has microseconds."""
    if instant.nanos % 1000:
        raise ValueError(f"{instant!r} has a fraction of a microsecond, for which there is no room")
    return _EPOCH + datetime.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
