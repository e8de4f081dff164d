"""The assigners that come with the library."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Generic, Self

from penstock.core.errors import TimestampError
from penstock.core.given import a_class_of, described
from penstock.core.state.keyed import ValueStateDescriptor
from penstock.core.time.spans import Span
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN
from penstock.core.windows.triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)
from penstock.core.windows.window import (
    CountWindow,
    GlobalWindow,
    MergingWindowAssigner,
    TimeWindow,
    Window,
    WindowAssigner,
    span_ms,
)

__all__ = [
    "CountSlidingWindowAssigner",
    "CountTumblingWindowAssigner",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "GlobalWindows",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
    "SessionWindows",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "unstamped",
]

_Context = WindowAssigner.WindowAssignerContext


def unstamped() -> TimestampError:
    """The refusal of a record that has no place in event time."""
    return TimestampError(
        "a record without a timestamp came to an event-time window: call assign_timestamps_and_watermarks first"
    )


class _OfTime(WindowAssigner[IN, TimeWindow]):
    """Which clock the windows follow: the one place where event and processing time differ."""

    event_time = True

    def is_event_time(self) -> bool:
        return self.event_time

    def get_default_trigger(self, env: object) -> Trigger[object, Window]:
        return EventTimeTrigger() if self.event_time else ProcessingTimeTrigger()

    def _time(self, timestamp: int | None, context: _Context) -> int:
        if not self.event_time:
            return context.get_current_processing_time()
        if timestamp is None:
            raise unstamped()
        return timestamp


class TimeWindows(_OfTime[object]):
    """Aligned windows of a size, one beginning every `slide`: tumbling if the two are equal."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        if size <= 0 or slide <= 0:
            raise ValueError(f"{type(self).__name__}: size and slide must be greater than zero, got {size} and {slide}")
        if abs(offset) >= slide:
            raise ValueError(f"{type(self).__name__}: the offset {offset} must be smaller than {slide} either way")
        self.size_ms, self.slide_ms, self.offset_ms = size, slide, offset

    def assign_windows(self, element: object, timestamp: int, context: _Context) -> Collection[TimeWindow]:
        time_ms = self._time(timestamp, context)
        last = TimeWindow.get_window_start_with_offset(time_ms, self.offset_ms, self.slide_ms)
        starts = range(last, time_ms - self.size_ms, -self.slide_ms)
        return [TimeWindow(start, start + self.size_ms) for start in starts]

    def __repr__(self) -> str:
        slide = f", {self.slide_ms}" if self.slide_ms != self.size_ms else ""
        return f"{type(self).__name__}({self.size_ms}{slide}, {self.offset_ms})"


class _Tumbling(TimeWindows):
    def __init__(self, size: int, offset: int) -> None:
        super().__init__(size, size, offset)

    @classmethod
    def of(cls, size: Span, offset: Span | None = None) -> Self:
        return cls(span_ms(size, f"{cls.__name__}: the size"), _offset(offset, cls))


class _Sliding(TimeWindows):
    @classmethod
    def of(cls, size: Span, slide: Span, offset: Span | None = None) -> Self:
        name = cls.__name__
        return cls(span_ms(size, f"{name}: the size"), span_ms(slide, f"{name}: the slide"), _offset(offset, cls))


def _offset(offset: Span | None, cls: type) -> int:
    return 0 if offset is None else span_ms(offset, f"{cls.__name__}: the offset", positive=False)


class TumblingEventTimeWindows(_Tumbling):
    """Windows side by side, by event time.

    >>> from penstock.common import Time
    >>> TumblingEventTimeWindows.of(Time.seconds(5)).assign_windows("r", 12_000, None)
    [TimeWindow(start=10000, end=15000)]
    """


class TumblingProcessingTimeWindows(_Tumbling):
    """Windows side by side, by processing time."""

    event_time = False


class SlidingEventTimeWindows(_Sliding):
    """Overlapping windows, by event time; a record belongs to every one that covers it.

    >>> from penstock.common import Time
    >>> SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)).assign_windows("r", 12_000, None)
    [TimeWindow(start=10000, end=20000), TimeWindow(start=5000, end=15000)]
    """


class SlidingProcessingTimeWindows(_Sliding):
    """Overlapping windows, by processing time."""

    event_time = False


class SessionWindowTimeGapExtractor(Subscriptable, ABC, Generic[IN]):
    """Says after what pause a record's session ends."""

    @abstractmethod
    def extract(self, element: IN) -> int:
        """The gap after this record, in milliseconds; must be positive."""


class SessionWindows(_OfTime[IN], MergingWindowAssigner[IN, TimeWindow]):
    """A window from each record to a gap after it; windows that overlap or touch merge."""

    def gap_of(self, element: IN) -> int:
        """After what pause the record's session ends, in milliseconds."""
        raise NotImplementedError

    def assign_windows(self, element: IN, timestamp: int, context: _Context) -> Collection[TimeWindow]:
        time_ms = self._time(timestamp, context)
        return [TimeWindow(time_ms, time_ms + self.gap_of(element))]

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        TimeWindow.merge_windows(windows, callback)


class _Fixed(SessionWindows[object]):
    def __init__(self, session_gap: int) -> None:
        if session_gap <= 0:
            raise ValueError(f"{type(self).__name__}: the gap must be greater than zero, got {session_gap} ms")
        self._session_gap = session_gap

    def gap_of(self, element: object) -> int:
        return self._session_gap

    @classmethod
    def with_gap(cls, size: Span) -> Self:
        return cls(span_ms(size, f"{cls.__name__}: the gap"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _Dynamic(SessionWindows[IN]):
    def __init__(
        self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor[IN] | Callable[[IN], int]
    ) -> None:
        extractor = session_window_time_gap_extractor
        is_class = a_class_of(extractor, SessionWindowTimeGapExtractor)
        if is_class or not (isinstance(extractor, SessionWindowTimeGapExtractor) or callable(extractor)):
            found = described(extractor) if is_class else repr(extractor)
            raise TypeError(f"{type(self).__name__} takes a SessionWindowTimeGapExtractor, got {found}")
        self._extract = extractor.extract if isinstance(extractor, SessionWindowTimeGapExtractor) else extractor

    def gap_of(self, element: IN) -> int:
        gap_ms = self._extract(element)
        if gap_ms <= 0:
            raise ValueError(f"{type(self).__name__}: the gap must be greater than zero, got {gap_ms} ms")
        return gap_ms

    @classmethod
    def with_dynamic_gap(cls, extractor: SessionWindowTimeGapExtractor[IN] | Callable[[IN], int]) -> Self:
        return cls(extractor)


class DynamicEventTimeSessionWindows(_Dynamic[IN]):
    """Sessions by event time, each record with a gap of its own."""


class DynamicProcessingTimeSessionWindows(_Dynamic[IN]):
    """Sessions by processing time, each record with a gap of its own."""

    event_time = False


class EventTimeSessionWindows(_Fixed):
    """Sessions by event time: a pause longer than the gap ends one.

    >>> from penstock.common import Time
    >>> EventTimeSessionWindows.with_gap(Time.seconds(5)).assign_windows("r", 1_000, None)
    [TimeWindow(start=1000, end=6000)]
    """

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor[IN] | Callable[[IN], int],
    ) -> DynamicEventTimeSessionWindows[IN]:
        """Sessions whose gap each record says itself."""
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_Fixed):
    """Sessions by processing time."""

    event_time = False

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor[IN] | Callable[[IN], int],
    ) -> DynamicProcessingTimeSessionWindows[IN]:
        """Sessions whose gap each record says itself."""
        return DynamicProcessingTimeSessionWindows(extractor)


class GlobalWindows(WindowAssigner[object, GlobalWindow]):
    """Everything in one window; fires only if a trigger says so."""

    def assign_windows(self, element: object, timestamp: int, context: _Context) -> Collection[GlobalWindow]:
        return [GlobalWindow()]

    @staticmethod
    def create() -> GlobalWindows:
        """One window for all records of a key. It fires only by a trigger that you give."""
        return GlobalWindows()

    def get_default_trigger(self, env: object) -> Trigger[object, Window]:
        return NeverTrigger()

    def is_event_time(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


class _Counting(WindowAssigner[object, CountWindow]):
    """Numbers the records of a key; windows are runs of them."""

    _descriptor = ValueStateDescriptor[int]("_count-assigner")

    def _next(self, context: _Context) -> int:
        state = context.get_runtime_context().get_state(self._descriptor)
        number = state.value() or 0
        state.update(number + 1)
        return number

    def is_event_time(self) -> bool:
        return False


def _at_least_one(name: str, **given: int) -> None:
    for what, value in given.items():
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: the {what} must be a whole number of at least 1, got {value!r}")


class CountTumblingWindowAssigner(_Counting):
    """Windows of `window_size` records of a key."""

    def __init__(self, window_size: int) -> None:
        _at_least_one("count_window()", size=window_size)
        self.window_size = window_size

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner:
        """Windows of `window_size` records each."""
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(self, element: object, timestamp: int, context: _Context) -> Collection[CountWindow]:
        return [CountWindow(self._next(context) // self.window_size)]

    def get_default_trigger(self, env: object) -> Trigger[object, Window]:
        return PurgingTrigger.of(CountTrigger.of(self.window_size))

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self.window_size})"


class CountSlidingWindowAssigner(_Counting):
    """Windows of `window_size` records of a key, one beginning every `window_slide` records."""

    def __init__(self, window_size: int, window_slide: int) -> None:
        _at_least_one("count_window()", size=window_size, slide=window_slide)
        self.window_size, self.window_slide = window_size, window_slide

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner:
        """Windows of `window_size` records, one begun every `window_slide` records."""
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(self, element: object, timestamp: int, context: _Context) -> Collection[CountWindow]:
        number = self._next(context)
        last = number // self.window_slide
        first = max(0, (number - self.window_size) // self.window_slide + 1)
        return [CountWindow(i) for i in range(first, last + 1) if number < i * self.window_slide + self.window_size]

    def get_default_trigger(self, env: object) -> Trigger[object, Window]:
        return PurgingTrigger.of(CountTrigger.of(self.window_size))

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self.window_size}, {self.window_slide})"
