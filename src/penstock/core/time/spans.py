"""Spans of time, moments, and the ends of the time line."""

from __future__ import annotations

import datetime
import re
from functools import total_ordering

from penstock.core.errors import ConfigurationError

MIN_TIMESTAMP = -(2**63)
MAX_TIMESTAMP = 2**63 - 1
MIN_WATERMARK = MIN_TIMESTAMP
MAX_WATERMARK = MAX_TIMESTAMP

__all__ = [
    "MAX_TIMESTAMP",
    "MAX_WATERMARK",
    "MIN_TIMESTAMP",
    "MIN_WATERMARK",
    "Duration",
    "Instant",
    "Span",
    "Time",
    "duration_of",
    "is_span",
    "parse_duration_ms",
    "whole_ms",
]

_NANOS = 1_000_000


@total_ordering
class _Span:
    __slots__ = ("_nanos",)

    def __init__(self, nanos: int) -> None:
        self._nanos = nanos

    def to_milliseconds(self) -> int:
        """The span in whole milliseconds."""
        return self._nanos // _NANOS

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._nanos == other._nanos

    def __lt__(self, other: object) -> bool:
        return self._nanos < other._nanos if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __str__(self) -> str:
        return f"{self.to_milliseconds()} ms"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Duration(_Span):
    """A span of time, as watermark strategies and connectors take it.

    >>> Duration.of_seconds(2).to_milliseconds()
    2000
    """

    __slots__ = ()

    @staticmethod
    def of(delta: datetime.timedelta) -> Duration:
        """A `datetime.timedelta` as a Duration."""
        return Duration(delta // datetime.timedelta(microseconds=1) * 1000)

    @staticmethod
    def of_days(days: int) -> Duration:
        """So many days of 24 hours."""
        return Duration.of_hours(days * 24)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """So many hours."""
        return Duration.of_minutes(hours * 60)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """So many minutes."""
        return Duration.of_seconds(minutes * 60)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """So many seconds."""
        return Duration.of_millis(seconds * 1000)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """So many milliseconds."""
        return Duration(millis * _NANOS)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """So many nanoseconds."""
        return Duration(nanos)


class Time(_Span):
    """A span of time, as windows and state TTL take it.

    >>> Time.minutes(1).to_milliseconds()
    60000
    """

    __slots__ = ()

    def __init__(self, milliseconds: int) -> None:
        super().__init__(milliseconds * _NANOS)

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """So many milliseconds."""
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        """So many seconds."""
        return Time(seconds * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """So many minutes."""
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """So many hours."""
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """So many days of 24 hours."""
        return Time(days * 86_400_000)


Span = Time | Duration | datetime.timedelta
"""A span of time in any of the forms that programs give it in."""


def is_span(given: object) -> bool:
    """Whether something is a span of time."""
    return isinstance(given, Time | Duration | datetime.timedelta)


def duration_of(given: Span) -> Duration:
    """A span in any form as a Duration; anything else is refused by its type.

    >>> duration_of(datetime.timedelta(seconds=2)), duration_of(Time.seconds(2))
    (Duration(2000 ms), Duration(2000 ms))
    """
    if isinstance(given, datetime.timedelta):
        return Duration.of(given)
    if isinstance(given, Time | Duration):
        return Duration(given._nanos)
    raise TypeError(f"a Time, a Duration or a timedelta is needed, got {type(given).__name__}: {given!r:.100}")


def whole_ms(given: int | Span) -> int:
    """Milliseconds that may be given as a number or as a span.

    >>> whole_ms(5), whole_ms(datetime.timedelta(seconds=1))
    (5, 1000)
    """
    return duration_of(given).to_milliseconds() if isinstance(given, Time | Duration | datetime.timedelta) else given


class Instant:
    """A moment: seconds since the epoch, and nanoseconds into that second.

    >>> Instant.of_epoch_milli(-1)
    Instant<-1, 999000000>
    >>> Instant(-1, 999_000_000).to_epoch_milli()
    -1
    """

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Milliseconds since the epoch; what is finer is cut off."""
        return self.seconds * 1000 + self.nanos // _NANOS

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """The moment so many milliseconds after the start of 1970, UTC."""
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * _NANOS)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and (self.seconds, self.nanos) == (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


_UNITS_NS = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000 * _NANOS),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000 * _NANOS),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000 * _NANOS),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1000 * _NANOS),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), _NANOS),
    **dict.fromkeys(("µs", "us", "micro", "micros", "microsecond", "microseconds"), 1000),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1),
}
_DURATION = re.compile(r"\s*(\d+)\s*([a-zµ]*)\s*", re.IGNORECASE)


def parse_duration_ms(text: str, setting: str = "a duration") -> int:
    """A span as settings spell it: a whole number and a unit; milliseconds if there is none.

    >>> parse_duration_ms("10 s"), parse_duration_ms("1min"), parse_duration_ms("250")
    (10000, 60000, 250)
    """
    found = _DURATION.fullmatch(text)
    unit = _UNITS_NS.get(found.group(2).lower()) if found else None
    if found is None or unit is None:
        raise ConfigurationError(f"{setting} must be a duration like '10 s', '1 min' or '500 ms', got {text!r}")
    return int(found.group(1)) * unit // _NANOS
