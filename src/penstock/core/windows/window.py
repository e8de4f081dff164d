"""Windows and how records are assigned to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Generic

from penstock.core.functions.base import RuntimeContext
from penstock.core.time.spans import MAX_TIMESTAMP, Span, duration_of, is_span
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, W, W_co
from penstock.pickled import stable

if TYPE_CHECKING:
    from penstock.core.windows.triggers import Trigger

__all__ = ["CountWindow", "GlobalWindow", "MergingWindowAssigner", "TimeWindow", "Window", "WindowAssigner", "span_ms"]


class Window(ABC):
    """A finite group of records. Hashable, comparable by value and picklable."""

    @abstractmethod
    def max_timestamp(self) -> int:
        """The largest timestamp that still belongs to it."""


class TimeWindow(Window):
    """From `start`, included, to `end`, excluded.

    >>> TimeWindow(0, 10).max_timestamp(), TimeWindow(0, 10).cover(TimeWindow(10, 15))
    (9, TimeWindow(start=0, end=15))
    """

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end

    def max_timestamp(self) -> int:
        """The last millisecond that belongs to the window: its end - 1."""
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether they overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        """The smallest window that holds both."""
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        """Windows are aligned to the epoch plus an offset; also before it.

        >>> TimeWindow.get_window_start_with_offset(-1, 0, 10)
        -10
        """
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]) -> None:
        """Tell `callback` which windows overlap or touch and what they become."""
        groups: list[tuple[TimeWindow, list[TimeWindow]]] = []
        for window in sorted(windows):
            if groups and groups[-1][0].intersects(window):
                cover, members = groups[-1]
                groups[-1] = (cover.cover(window), [*members, window])
            else:
                groups.append((window, [window]))
        for cover, members in groups:
            if len(members) > 1:
                callback.merge(members, cover)

    def __lt__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) <= (other.start, other.end)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeWindow) and (self.start, self.end) == (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __reduce__(self) -> tuple[object, tuple[int, int]]:
        return (_time_window, (self.start, self.end))

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


class CountWindow(Window):
    """A window that has no place in time, only a number."""

    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    def max_timestamp(self) -> int:
        """The end of time: a count window does not end by a clock."""
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountWindow) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return (_count_window, (self.id,))

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window of everything."""

    __slots__ = ()

    @staticmethod
    def get() -> GlobalWindow:
        """The one global window."""
        return GlobalWindow()

    def max_timestamp(self) -> int:
        """The end of time: the window never ends by a clock."""
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalWindow)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


@stable("time_window")
def _time_window(start: int, end: int) -> TimeWindow:
    window = _new(TimeWindow)
    window.start, window.end = start, end
    return window


@stable("count_window")
def _count_window(id: int) -> CountWindow:
    return CountWindow(id)


_new = object.__new__


class WindowAssigner(Subscriptable, ABC, Generic[IN, W_co]):
    """Says to which windows a record belongs; picklable. `is_event_time` decides which clock its windows follow."""

    class WindowAssignerContext(ABC):
        """Given to an assigner with each record."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """Where the assigner runs."""

    @abstractmethod
    def assign_windows(
        self, element: IN, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W_co]:
        """Called for each record; returns the windows it belongs to, which may be none."""

    @abstractmethod
    def get_default_trigger(self, env: object) -> Trigger[Any, Any]:
        """The trigger of windows for which the program gives none."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Whether windows end by event time. Late records exist only then."""

    def get_window_serializer(self) -> None:
        """Windows are pickled; nothing to give."""
        return None


class MergingWindowAssigner(WindowAssigner[IN, W_co]):
    """An assigner whose windows grow together."""

    class MergeCallback(Subscriptable, ABC, Generic[W]):
        """Told which windows become which."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W], merge_result: W) -> None:
            """Called by `merge_windows` for each set of windows that become one."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[Any], callback: MergingWindowAssigner.MergeCallback[Any]) -> None:
        """Called with all windows of a key when one is added; reports the sets that become one to `callback`."""


def span_ms(given: Span, what: str, positive: bool = True) -> int:
    """Milliseconds of a span that users give; refused by name if it makes no sense."""
    if not is_span(given):
        raise TypeError(f"{what} must be a Time, a Duration or a timedelta, got {type(given).__name__}")
    span = duration_of(given).to_milliseconds()
    if positive and span <= 0:
        raise ValueError(f"{what} must be greater than zero, got {span} ms")
    return span
