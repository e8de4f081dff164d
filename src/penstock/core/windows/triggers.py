"""Triggers: when a window gives its result, and when it forgets what it holds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Generic, Self, overload

from penstock.core.given import described
from penstock.core.metrics import MetricGroup
from penstock.core.state.keyed import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from penstock.core.time.spans import MAX_TIMESTAMP, Span
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, K, R, T, V, W, Win
from penstock.core.windows.window import Window, span_ms

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountOrTimeoutTrigger",
    "CountTrigger",
    "DeltaTrigger",
    "EventTimeTrigger",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "Trigger",
    "TriggerResult",
]


class TriggerResult(Enum):
    """The decision of a trigger: (fire: give the result, purge: forget the records)."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Whether the window's function is called."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Whether the window forgets its records."""
        return self.value[1]


class Trigger(Subscriptable, ABC, Generic[IN, W]):
    """Decides about one window of one key at a time. Keeps nothing in itself: state belongs in the context."""

    class TriggerContext(ABC):
        """Clocks, timers and state of the current key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Where the trigger registers metrics."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """The event time that this subtask has reached, in milliseconds."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Have `on_processing_time` called for this key and window once processing time has reached `time`."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Have `on_event_time` called for this key and window once the watermark has reached `time`."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Remove a timer of this key and window; nothing happens if there is none."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Remove a timer of this key and window; nothing happens if there is none."""

        @overload
        def get_partitioned_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]: ...
        @overload
        def get_partitioned_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]: ...
        @overload
        def get_partitioned_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]: ...
        @overload
        def get_partitioned_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]: ...
        @overload
        def get_partitioned_state(
            self, state_descriptor: AggregatingStateDescriptor[T, V, R]
        ) -> AggregatingState[T, R]: ...
        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """State of this trigger for this key and window."""

    class OnMergeContext(TriggerContext):
        """Also merges the state of the windows that grew together."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge the state of the windows that are being merged into the state of their result."""

    @abstractmethod
    def on_element(self, element: IN, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called for each record after it has entered the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when a timer of processing time fires that this trigger has registered."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when a timer of event time fires that this trigger has registered."""

    def can_merge(self) -> bool:
        """Whether `on_merge` is there, so that the trigger may be used with session windows."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Called when several windows have become `window`; merges the trigger's state and registers timers anew."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Forget state and timers of a window that ends."""


class _Quiet(Trigger[IN, Window]):
    """Does nothing, of its own accord."""

    def on_element(self, element: IN, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None: ...
    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None: ...


class NeverTrigger(_Quiet[object]):
    """Never fires: the default of global windows."""


class EventTimeTrigger(_Quiet[object]):
    """Fires when the watermark passes the end of the window, and for each late record after that."""

    @staticmethod
    def create() -> EventTimeTrigger:
        """The default trigger of windows of event time."""
        return EventTimeTrigger()

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Fire at once if the watermark has passed the window's end, as for a late record within the allowed lateness;
        else wait for it.
        """
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


class ProcessingTimeTrigger(_Quiet[object]):
    """Fires when the clock passes the end of the window."""

    @staticmethod
    def create() -> ProcessingTimeTrigger:
        """The default trigger of windows of processing time."""
        return ProcessingTimeTrigger()

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())


class _Continuous(_Quiet[object]):
    """Fires at every full interval, as long as the window is there."""

    def __init__(self, interval: int) -> None:
        if interval <= 0:
            raise ValueError(f"{type(self).__name__}: the interval must be greater than zero, got {interval} ms")
        self.interval = interval
        self._next = ReducingStateDescriptor[int]("_fire-time", min)

    @classmethod
    def of(cls, interval: Span) -> Self:
        return cls(span_ms(interval, f"{cls.__name__}: the interval"))

    def can_merge(self) -> bool:
        return True

    def _schedule(self, time: int, most: int, state: ReducingState[int], register: Callable[[int], None]) -> None:
        """At the next interval, or at `most` if that comes first."""
        upcoming = min(time + self.interval, most)
        state.add(upcoming)
        register(upcoming)

    def _tick(self, time: int, window: Window, ctx: Trigger.TriggerContext, register: Callable[[int], None]) -> bool:
        state = ctx.get_partitioned_state(self._next)
        if state.get() != time:
            return False
        state.clear()
        self._schedule(time, self._most(time, window), state, register)
        return True

    def _most(self, now: int, window: Window) -> int:
        """When the window ends by this trigger's clock."""
        return window.max_timestamp()

    def _merge(self, ctx: Trigger.OnMergeContext, register: Callable[[int], None]) -> None:
        ctx.merge_partitioned_state(self._next)
        upcoming = ctx.get_partitioned_state(self._next).get()
        if upcoming is not None:
            register(upcoming)

    def _clear(self, ctx: Trigger.TriggerContext, delete: Callable[[int], None]) -> None:
        state = ctx.get_partitioned_state(self._next)
        if (upcoming := state.get()) is not None:
            delete(upcoming)
            state.clear()


class ContinuousEventTimeTrigger(_Continuous):
    """Fires at every full interval of event time, and at the end of the window."""

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        state = ctx.get_partitioned_state(self._next)
        if state.get() is None:
            begun = timestamp - timestamp % self.interval
            self._schedule(begun, self._most(timestamp, window), state, ctx.register_event_time_timer)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            # the next moment stays noted: a session that grows by a late record fires at it, then goes on from there
            return TriggerResult.FIRE
        fires = self._tick(time, window, ctx, ctx.register_event_time_timer)
        return TriggerResult.FIRE if fires else TriggerResult.CONTINUE

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        self._merge(ctx, ctx.register_event_time_timer)
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        self._clear(ctx, ctx.delete_event_time_timer)
        ctx.delete_event_time_timer(window.max_timestamp())


class ContinuousProcessingTimeTrigger(_Continuous):
    """Fires at every full interval of processing time.

    So it does for event-time windows of the past, whose end has nothing to do with the clock.
    """

    def _most(self, now: int, window: Window) -> int:
        return window.max_timestamp() if now < window.max_timestamp() else MAX_TIMESTAMP

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        state = ctx.get_partitioned_state(self._next)
        if state.get() is None:
            now = ctx.get_current_processing_time()
            most = self._most(now - 1, window)
            self._schedule(now - now % self.interval, most, state, ctx.register_processing_time_timer)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        fires = self._tick(time, window, ctx, ctx.register_processing_time_timer)
        return TriggerResult.FIRE if fires else TriggerResult.CONTINUE

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        self._merge(ctx, ctx.register_processing_time_timer)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        self._clear(ctx, ctx.delete_processing_time_timer)


def _add(one: int, other: int) -> int:
    return one + other


class CountTrigger(_Quiet[object]):
    """Fires at every so many records of a window."""

    def __init__(self, window_size: int) -> None:
        if not isinstance(window_size, int) or window_size < 1:
            raise ValueError(
                f"{type(self).__name__}: the count must be a whole number of at least 1, got {window_size!r}"
            )
        self._size = window_size
        self._count = ReducingStateDescriptor("_count", _add)

    @staticmethod
    def of(window_size: int) -> CountTrigger:
        """Fire whenever `window_size` records have come since the last time."""
        return CountTrigger(window_size)

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        count = ctx.get_partitioned_state(self._count)
        count.add(1)
        if (count.get() or 0) < self._size:
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self._count)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._count).clear()


class CountOrTimeoutTrigger(_Quiet[object]):
    """Fires and purges at so many records, or when so much processing time has passed since the first of them."""

    def __init__(self, count: int, timeout_ms: int) -> None:
        if not isinstance(count, int) or count < 1 or timeout_ms < 1:
            raise ValueError(
                f"CountOrTimeoutTrigger: count and time-out must be at least 1, got {count!r}, {timeout_ms}"
            )
        self._size, self._timeout_ms = count, timeout_ms
        self._count = ReducingStateDescriptor("_count", _add)
        self._deadline = ReducingStateDescriptor[int]("_deadline", min)

    @staticmethod
    def of(count: int, timeout: Span) -> CountOrTimeoutTrigger:
        """Fire when `count` records have come, or `timeout` after the first of them, whichever is first."""
        return CountOrTimeoutTrigger(count, span_ms(timeout, "CountOrTimeoutTrigger: the time-out"))

    def on_element(self, element: object, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        count, deadline = ctx.get_partitioned_state(self._count), ctx.get_partitioned_state(self._deadline)
        count.add(1)
        if (count.get() or 0) >= self._size:
            self.clear(window, ctx)
            return TriggerResult.FIRE_AND_PURGE
        if deadline.get() is None:
            due = ctx.get_current_processing_time() + self._timeout_ms
            deadline.add(due)
            ctx.register_processing_time_timer(due)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        if ctx.get_partitioned_state(self._deadline).get() != time:
            return TriggerResult.CONTINUE
        self.clear(window, ctx)
        return TriggerResult.FIRE_AND_PURGE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self._count)
        ctx.merge_partitioned_state(self._deadline)
        deadline = ctx.get_partitioned_state(self._deadline).get()
        if deadline is not None:
            ctx.register_processing_time_timer(deadline)

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._count).clear()
        deadline = ctx.get_partitioned_state(self._deadline)
        if (due := deadline.get()) is not None:
            ctx.delete_processing_time_timer(due)
            deadline.clear()


class PurgingTrigger(Trigger[IN, W]):
    """Another trigger, with the window's records forgotten whenever it fires."""

    def __init__(self, nested_trigger: Trigger[IN, W]) -> None:
        if not isinstance(nested_trigger, Trigger):
            raise TypeError(f"PurgingTrigger.of() takes a Trigger, got {described(nested_trigger)}")
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[T, Win]) -> PurgingTrigger[T, Win]:
        """As the trigger inside, but the window forgets its records whenever it fires."""
        return PurgingTrigger(nested_trigger)

    def on_element(self, element: IN, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return _purged(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return _purged(self.nested_trigger.on_processing_time(time, window, ctx))

    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return _purged(self.nested_trigger.on_event_time(time, window, ctx))

    def can_merge(self) -> bool:
        return self.nested_trigger.can_merge()

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        self.nested_trigger.clear(window, ctx)


def _purged(result: TriggerResult) -> TriggerResult:
    return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result


class DeltaTrigger(_Quiet[IN]):
    """Fires when a record differs by more than a threshold from the one that fired last."""

    def __init__(self, threshold: float, delta_function: Callable[[IN, IN], float]) -> None:
        if not callable(delta_function):
            raise TypeError(f"DeltaTrigger.of() takes a function (old, new) -> number, got {delta_function!r}")
        self._threshold, self._delta = threshold, delta_function
        self._last = ValueStateDescriptor[tuple[IN]]("_last-element")

    @staticmethod
    def of(threshold: float, delta_function: Callable[[T, T], float]) -> DeltaTrigger[T]:
        """Fire when a record's distance from the one of the last firing, by `delta_function`, exceeds `threshold`."""
        return DeltaTrigger(threshold, delta_function)

    def on_element(self, element: IN, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        last = ctx.get_partitioned_state(self._last)
        known = last.value()
        if known is None:
            last.update((element,))
            return TriggerResult.CONTINUE
        if self._delta(known[0], element) <= self._threshold:
            return TriggerResult.CONTINUE
        last.update((element,))
        return TriggerResult.FIRE

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._last).clear()
