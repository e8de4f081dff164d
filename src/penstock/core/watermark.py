"""Watermark strategies: where a record's timestamp comes from and how far time has come (T3, T7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.core.time import Duration

__all__ = ["BoundedOutOfOrderness", "NoWatermarks", "TimestampAssigner", "Watermark", "WatermarkStrategy"]


@dataclass(frozen=True, slots=True, order=True)
class Watermark:
    """No more records with a timestamp ≤ this one are expected."""

    timestamp: int


class TimestampAssigner(ABC):
    """Reads a record's event time, in milliseconds since the epoch."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int | None) -> int: ...


@dataclass(frozen=True, slots=True)
class BoundedOutOfOrderness:
    """Watermark = largest timestamp seen − delay − 1. Parts of a stream combine by maximum."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class NoWatermarks:
    """Time does not advance until the input ends."""


@dataclass(frozen=True, slots=True)
class WatermarkStrategy:
    """How a stream tells event time.

    >>> WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).generator
    BoundedOutOfOrderness(delay_ms=5000)
    """

    generator: BoundedOutOfOrderness | NoWatermarks
    assigner: TimestampAssigner | Callable[[Any, int | None], int] | None = None

    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner | Callable[[Any, int | None], int]
    ) -> WatermarkStrategy:
        """Take timestamps from records; without one, the source's own are used."""
        if not isinstance(timestamp_assigner, TimestampAssigner) and not callable(timestamp_assigner):
            raise TypeError(
                "with_timestamp_assigner takes a TimestampAssigner or a function (value, record_timestamp) -> int, "
                f"got {type(timestamp_assigner).__name__}"
            )
        return replace(self, assigner=timestamp_assigner)

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        return WatermarkStrategy(BoundedOutOfOrderness(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        delay_ms = max_out_of_orderness.to_milliseconds()
        if delay_ms < 0:
            raise ValueError(f"The out-of-orderness must not be negative, got {delay_ms} ms")
        return WatermarkStrategy(BoundedOutOfOrderness(delay_ms))

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        return WatermarkStrategy(NoWatermarks())
