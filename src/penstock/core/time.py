"""Spans of time, and the ends of the time line."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Self

MIN_TIMESTAMP = -(2**63)
MAX_TIMESTAMP = 2**63 - 1
MIN_WATERMARK = MIN_TIMESTAMP
MAX_WATERMARK = MAX_TIMESTAMP

__all__ = ["MAX_TIMESTAMP", "MAX_WATERMARK", "MIN_TIMESTAMP", "MIN_WATERMARK", "Duration", "Time"]


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    _ms: int

    def to_milliseconds(self) -> int:
        """The span in milliseconds."""
        return self._ms


@dataclass(frozen=True, slots=True, order=True)
class Duration(_Span):
    """A span of time, as watermark strategies and connectors take it.

    >>> Duration.of_seconds(2).to_milliseconds()
    2000
    """

    @classmethod
    def of(cls, delta: datetime.timedelta) -> Self:
        return cls(delta // datetime.timedelta(milliseconds=1))

    @classmethod
    def of_days(cls, days: int) -> Self:
        return cls(days * 86_400_000)

    @classmethod
    def of_hours(cls, hours: int) -> Self:
        return cls(hours * 3_600_000)

    @classmethod
    def of_minutes(cls, minutes: int) -> Self:
        return cls(minutes * 60_000)

    @classmethod
    def of_seconds(cls, seconds: int) -> Self:
        return cls(seconds * 1000)

    @classmethod
    def of_millis(cls, millis: int) -> Self:
        return cls(millis)


@dataclass(frozen=True, slots=True, order=True)
class Time(_Span):
    """A span of time, as windows and state TTL take it.

    >>> Time.minutes(1).to_milliseconds()
    60000
    """

    @classmethod
    def milliseconds(cls, milliseconds: int) -> Self:
        return cls(milliseconds)

    @classmethod
    def seconds(cls, seconds: int) -> Self:
        return cls(seconds * 1000)

    @classmethod
    def minutes(cls, minutes: int) -> Self:
        return cls(minutes * 60_000)

    @classmethod
    def hours(cls, hours: int) -> Self:
        return cls(hours * 3_600_000)

    @classmethod
    def days(cls, days: int) -> Self:
        return cls(days * 86_400_000)
