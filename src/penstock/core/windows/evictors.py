"""Evictors: which records a window function is not shown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, NamedTuple

from penstock.core.metrics import MetricGroup
from penstock.core.time.spans import Span
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, T, W
from penstock.core.windows.window import span_ms

__all__ = ["CountEvictor", "DeltaEvictor", "Evictor", "TimeEvictor", "TimestampedValue"]


class TimestampedValue(NamedTuple, Generic[T]):
    """A record of a window with its timestamp, which may be None."""

    value: T
    timestamp: int | None


class Evictor(Subscriptable, ABC, Generic[IN, W]):
    """Removes records from a window before or after its function sees them; those are gone for good.

    Both methods take the records in the order of arrival and change the list in place.
    """

    class EvictorContext(ABC):
        """The clocks."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """The event time that this subtask has reached, in milliseconds."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Where the evictor registers metrics."""

    @abstractmethod
    def evict_before(
        self, elements: list[TimestampedValue[IN]], size: int, window: W, ctx: Evictor.EvictorContext
    ) -> None:
        """Called before the window's function; removes from `elements` what the function is not to see."""

    @abstractmethod
    def evict_after(
        self, elements: list[TimestampedValue[IN]], size: int, window: W, ctx: Evictor.EvictorContext
    ) -> None:
        """Called after the window's function; removes from `elements` what the window is not to keep."""


class _OnceEvictor(Evictor[IN, object]):
    """Evicts before the function, or after it if told so."""

    def __init__(self, do_evict_after: bool) -> None:
        self._after = do_evict_after

    def evict_before(
        self, elements: list[TimestampedValue[IN]], size: int, window: object, ctx: Evictor.EvictorContext
    ) -> None:
        if not self._after:
            self._evict(elements)

    def evict_after(
        self, elements: list[TimestampedValue[IN]], size: int, window: object, ctx: Evictor.EvictorContext
    ) -> None:
        if self._after:
            self._evict(elements)

    def _evict(self, elements: list[TimestampedValue[IN]]) -> None:
        raise NotImplementedError


class CountEvictor(_OnceEvictor[object]):
    """Keeps the last `max_count` records.

    >>> records = [TimestampedValue(i, i) for i in range(4)]
    >>> CountEvictor.of(2).evict_before(records, 4, None, None)
    >>> [r.value for r in records]
    [2, 3]
    """

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        if not isinstance(max_count, int) or max_count < 0:
            raise ValueError(f"CountEvictor: the count must be a whole number, got {max_count!r}")
        self._most = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor:
        """Keep the last `max_count` records."""
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[object]]) -> None:
        del elements[: max(0, len(elements) - self._most)]


class TimeEvictor(_OnceEvictor[object]):
    """Keeps the records that are less than a span older than the youngest."""

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._span_ms = window_size

    @staticmethod
    def of(window_size: Span, do_evict_after: bool = False) -> TimeEvictor:
        """Keep the records that are at most `window_size` older than the newest."""
        return TimeEvictor(span_ms(window_size, "TimeEvictor: the span"), do_evict_after)

    def _evict(self, elements: list[TimestampedValue[object]]) -> None:
        stamps = [e.timestamp for e in elements if e.timestamp is not None]
        if len(stamps) == len(elements) and stamps:
            cutoff = max(stamps) - self._span_ms
            elements[:] = [e for e in elements if e.timestamp is not None and e.timestamp > cutoff]


class DeltaEvictor(_OnceEvictor[IN]):
    """Keeps the records that differ by less than a threshold from the last one."""

    def __init__(
        self, threshold: float, delta_function: Callable[[IN, IN], float], do_evict_after: bool = False
    ) -> None:
        super().__init__(do_evict_after)
        self._threshold, self._delta = threshold, delta_function

    @staticmethod
    def of(threshold: float, delta_function: Callable[[T, T], float], do_evict_after: bool = False) -> DeltaEvictor[T]:
        """Keep the records whose distance from the newest, by `delta_function`, is below `threshold`."""
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[IN]]) -> None:
        if elements:
            last = elements[-1].value
            elements[:] = [e for e in elements if self._delta(e.value, last) < self._threshold]
