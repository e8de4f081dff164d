"""The stable route of a key: equal keys, equal route, on every machine, process and run.

Python's `hash` of strings differs between processes and is not used for them. Its hash of numbers
is fixed by the language reference (equal numbers of any type hash alike), so it is used.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zlib import crc32

import numpy

from penstock.core.errors import KeyTypeError
from penstock.core.types.row import Row
from penstock.runtime.list_keys import ListKey, hashable

__all__ = ["key_group", "route_ints", "stable_hash", "subtask_of_group"]

_MASK = 0xFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15
_MODULUS = 2**61 - 1  # sys.hash_info.modulus of every 64-bit Python
_SUPPORTED = (
    "None, bool, int, float, str, bytes, Decimal, date, time, datetime, enum, numpy scalars, "
    "and tuples, lists, Rows, named tuples and frozen dataclasses of these"
)


def stable_hash(key: object) -> int:
    """A 32-bit hash that depends on the key's value alone.

    >>> stable_hash(1) == stable_hash(1.0) == stable_hash(True)
    True
    >>> stable_hash("penstock")
    1542907546
    """
    hasher = _EXACT.get(type(key))
    return hasher(key) if hasher is not None else _hash_other(key)


def key_group(hashed: int, max_parallelism: int) -> int:
    """The key group of a hash: the unit in which keyed state moves between subtasks."""
    return hashed % max_parallelism


def subtask_of_group(group: int, parallelism: int, max_parallelism: int) -> int:
    """The subtask that owns a key group."""
    return group * parallelism // max_parallelism


def route_ints(keys: list[int], parallelism: int, max_parallelism: int) -> Any:
    """The receiving subtasks of many int keys at once (an array); agrees with the route of each key alone.

    >>> route_ints([3, -1, 2**62], 4, 128).tolist() == [
    ...     subtask_of_group(key_group(stable_hash(k), 128), 4, 128) for k in (3, -1, 2**62)
    ... ]
    True
    """
    plain = numpy.fmod(numpy.array(keys, numpy.int64), _MODULUS)
    plain[plain == -1] = -2
    mixed = plain.astype(numpy.uint64)
    mixed ^= mixed >> numpy.uint64(32)
    mixed *= numpy.uint64(_GOLDEN)
    groups = (mixed >> numpy.uint64(32)) % numpy.uint64(max_parallelism)
    return (groups * numpy.uint64(parallelism) // numpy.uint64(max_parallelism)).astype(numpy.int64)


def _mix_number(hashed: int) -> int:
    hashed &= 0xFFFFFFFFFFFFFFFF
    return ((hashed ^ (hashed >> 32)) * _GOLDEN >> 32) & _MASK


def _mix(value: int) -> int:
    value = ((value ^ (value >> 15)) * 0x2C1B3C6D) & _MASK
    return value ^ (value >> 12)


def _hash_number(key: object) -> int:
    if key != key:
        raise KeyTypeError(f"{key!r} cannot be a key: it is not equal to itself. Map it to a value of its own first")
    return _mix_number(hash(key))


def _hash_int(key: int) -> int:
    return _mix_number(hash(key))


def _hash_str(key: str) -> int:
    return _mix(crc32(key.encode("utf-8", "surrogatepass"), 1))


def _hash_bytes(key: bytes) -> int:
    return _mix(crc32(key, 2))


def _hash_none(_: None) -> int:
    return _mix(3)


def _hash_sequence(key: Any) -> int:
    seed = 4
    for item in key:
        seed = crc32(stable_hash(item).to_bytes(4, "little"), seed)
    return _mix(seed)


def _hash_datetime(key: datetime.datetime) -> int:
    """Hash the moment as Python's own `hash` does: without `fold`, since moments of one zone that differ in nothing
    else are equal."""
    since = key.replace(tzinfo=None) - datetime.datetime.min
    return _hash_timestamp(since - (key.replace(fold=0).utcoffset() or datetime.timedelta()))


def _hash_moment(key: datetime.datetime) -> int:
    """Hash a subclass of datetime: pandas' Timestamp has nanoseconds, and its NaT is not equal to itself."""
    if key != key:
        raise KeyTypeError(f"{key!r} cannot be a key: it is not equal to itself. Map it to a value of its own first")
    nanos = getattr(key, "nanosecond", 0)
    plain = datetime.datetime(
        key.year, key.month, key.day, key.hour, key.minute, key.second, key.microsecond, key.tzinfo
    )
    if not nanos:
        return _hash_datetime(plain)
    offset = plain.utcoffset()
    utc = plain.replace(tzinfo=None) - (offset or datetime.timedelta())
    return _hash_numpy_time(numpy.datetime64(utc, "ns") + numpy.timedelta64(nanos, "ns"))


def _hash_timestamp(since_year_1: datetime.timedelta) -> int:
    return _mix(crc32((since_year_1 // datetime.timedelta(microseconds=1)).to_bytes(9, "little", signed=True), 6))


def _hash_time(key: datetime.time) -> int:
    offset = key.replace(fold=0).utcoffset()
    micros = ((key.hour * 60 + key.minute) * 60 + key.second) * 1_000_000 + key.microsecond
    if offset is not None:
        micros -= offset // datetime.timedelta(microseconds=1)
    return _mix(crc32(micros.to_bytes(8, "little", signed=True), 5))


def _hash_date(key: datetime.date) -> int:
    return _hash_datetime(datetime.datetime(key.year, key.month, key.day))  # as numpy.datetime64, which equals both


def _hash_row(key: Row) -> int:
    return _hash_sequence(key._canonical())


def _hash_list_key(key: ListKey) -> int:
    return stable_hash(key.form)


def _hash_list(key: list[object]) -> int:
    return stable_hash(hashable(key))


_EXACT: dict[type, Callable[[Any], int]] = {
    bool: _hash_int,
    int: _hash_int,
    float: _hash_number,
    Decimal: _hash_number,
    Fraction: _hash_number,
    str: _hash_str,
    bytes: _hash_bytes,
    type(None): _hash_none,
    tuple: _hash_sequence,
    datetime.datetime: _hash_datetime,
    datetime.date: _hash_date,
    datetime.time: _hash_time,
    Row: _hash_row,
    ListKey: _hash_list_key,
    list: _hash_list,
}

_BY_BASE: tuple[tuple[type, Callable[[Any], int]], ...] = (
    (numbers.Number, _hash_number),
    (str, _hash_str),
    (bytes, _hash_bytes),
    (tuple, _hash_sequence),
    (datetime.datetime, _hash_moment),
    (datetime.date, _hash_date),
    (datetime.time, _hash_time),
)


def _hash_other(key: Any) -> int:
    """Hash subclasses of supported types (they may equal their base), enums, numpy scalars and frozen dataclasses."""
    if isinstance(key, numpy.datetime64 | numpy.timedelta64):
        return _hash_numpy_time(key)
    if type(key).__module__ == "numpy" and hasattr(key, "item") and getattr(key, "ndim", 1) == 0:
        plain = key.item()
        if type(plain) is not type(key) and type(plain) in _EXACT:
            return stable_hash(plain)
    for base, hasher in _BY_BASE:
        if isinstance(key, base):
            return hasher(key)
    if isinstance(key, enum.Enum):
        return _hash_str(f"{type(key).__qualname__}.{key.name}")
    if _is_frozen_dataclass(key):
        return _hash_sequence([getattr(key, f.name) for f in dataclasses.fields(key) if f.compare])
    raise KeyTypeError(
        f"a {type(key).__name__} cannot be a key (found {_short(key)}): it has no stable route. "
        f"Keys may be {_SUPPORTED}"
    )


def _hash_numpy_time(key: Any) -> int:
    """Equal moments hash alike whatever their unit; moments that Python's datetime cannot hold are hashed as text."""
    if isinstance(key, numpy.timedelta64) or numpy.isnat(key):
        raise KeyTypeError(f"{key!r} cannot be a key: map it to an int of a fixed unit first")
    micros = key.astype("datetime64[us]")
    if micros == key and isinstance(plain := micros.item(), datetime.datetime):
        return _hash_datetime(plain)
    return _hash_str(str(key).rstrip("0"))


def _is_frozen_dataclass(key: object) -> bool:
    params = getattr(type(key), "__dataclass_params__", None)
    return params is not None and params.frozen and params.eq


def _short(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
