"""Aligned time windows with an incremental function and their own trigger: the commonest case, without the detours.

Same results and same state as `WindowOperator`, but without calls of a trigger, a merging set and a context: their
answers are known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from penstock.core.functions.base import TimeDomain
from penstock.core.functions.window import ProcessWindowFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import WindowSpec
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.core.windows.assigners import TimeWindows, unstamped
from penstock.core.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger
from penstock.core.windows.window import TimeWindow
from penstock.runtime.codec import IMMUTABLE, detach, encode, loads
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import describe, user_failure
from penstock.runtime.operators.windows.contents import CONTENTS
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.state.page import Timer
from penstock.runtime.values import Accumulator, Entries, Key, Keys, Namespace, Records, Stored, Timestamps

__all__ = ["AlignedWindowOperator", "Live", "Table", "TimeWindowOperator", "is_aligned", "is_plain"]


def is_aligned(spec: WindowSpec) -> bool:
    """Whether a spec is of the kind that this operator serves."""
    return (
        is_plain(spec)
        and isinstance(spec.assigner, TimeWindows)
        and type(spec.assigner).assign_windows is TimeWindows.assign_windows
    )


def is_plain(spec: WindowSpec) -> bool:
    """Whether windows keep one accumulator each and fire by the assigner's own trigger."""
    default = EventTimeTrigger if spec.assigner.is_event_time() else ProcessingTimeTrigger
    return type(spec.trigger) is default and spec.combine is not None and spec.evictor is None


class Live:
    """An accumulator that may be mutable, while a chunk is being processed; encoded when the chunk is done."""

    __slots__ = ("accumulator",)

    def __init__(self, accumulator: Accumulator) -> None:
        self.accumulator = accumulator


class Table:
    """The accumulators of a key, laid out as in `AccumulatorContents`: {namespace: (accumulator,)}."""

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self._live: list[tuple[Entries, Namespace]] = []

    @staticmethod
    def read(stored: Stored) -> Accumulator:
        """The accumulator in a stored form."""
        if type(stored) is tuple:
            return stored[0]
        return stored.accumulator if type(stored) is Live else loads(stored)[0]

    @staticmethod
    def copy(stored: Stored) -> Accumulator:
        """A copy of the accumulator, which the caller may change."""
        return detach(stored.accumulator) if type(stored) is Live else Table.read(stored)

    def write(self, inner: Entries, namespace: Namespace, accumulator: Accumulator) -> None:
        """Keep an accumulator; one that may be mutable stays live until `settle`."""
        if type(accumulator) in IMMUTABLE:
            inner[namespace] = (accumulator,)
            return
        stored = inner.get(namespace)
        if type(stored) is Live:
            stored.accumulator = accumulator
        else:
            inner[namespace] = Live(accumulator)
            self._live.append((inner, namespace))

    def settle(self) -> None:
        """Encode the live accumulators."""
        for inner, namespace in self._live:
            stored = inner.get(namespace)
            if type(stored) is Live:
                inner[namespace] = encode((stored.accumulator,))
        self._live.clear()


class TimeWindowOperator(WindowOperator):
    """Time windows whose contents are one accumulator each, with their own trigger."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert self._combiner is not None
        self._first, self._more = self._combiner.first, self._combiner.add
        self._finish = self._combiner.finish

    def slot(self) -> int:
        """The slot of the table that keeps accumulators."""
        raise NotImplementedError

    def _place(self, value: object, stamp: int | None, time_ms: int, outer: Entries, key: object) -> None:
        """Add a record of the current key to its windows; `outer` is the page's table."""
        raise NotImplementedError

    def _settle(self) -> None:
        """Called when a chunk is done."""

    def _window_timer(self, timestamp: int, key: object, namespace: object) -> None:
        """Called when a timer of the current key is due."""
        raise NotImplementedError

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Take records of many keys into their windows."""
        assert keys is not None, "a window operator got records without keys"
        backend, pages = self._backend, self._backend.pages(keys)
        stamps = repeat(None) if timestamps is None else timestamps
        times: Any = stamps if self._event_time else repeat(self.task.clock.now_ms())
        slot, value = self.slot(), None
        place: Callable[..., None] = self._place
        try:
            for value, stamp, time_ms, key, page in zip(values, stamps, times, keys, pages, strict=False):
                if time_ms is None:
                    raise unstamped()
                backend.key, backend.page = key, page
                place(value, stamp, time_ms, page.slots[slot], key)
        except Exception as error:
            raise user_failure(self.desc.name, self.desc.uid, "A window function", value, error) from error
        self._settle()
        self.flush()

    def _clock_ms(self) -> int:
        """The clock by which windows are late: in processing time nothing is late."""
        return self.current_watermark if self._event_time else -(2**63)

    def _give(self, namespace: Namespace, accumulator: Accumulator) -> None:
        self.fired += 1
        result = self._finish(accumulator)
        if self._function is None:
            self.take((result,), namespace[1] - 1)
            return
        window = TimeWindow(*namespace)
        made = self._call(window, (result,))
        if made is not None:
            self.take(self._iterable(made, window), namespace[1] - 1)

    def _gone_ms(self, last: int) -> int:
        """When a window that ends with the millisecond `last` is removed: at the latest with the last watermark."""
        return min(last + self._lateness_ms, MAX_TIMESTAMP)

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        timestamp = 0
        try:
            for timestamp, key, namespace in due:
                self._window_timer(timestamp, key, namespace)
        except Exception as error:
            what = f"timer {timestamp} of key {describe(self._backend.key)}"
            raise user_failure(self.desc.name, self.desc.uid, "A window function", what, error) from error


class AlignedWindowOperator(TimeWindowOperator):
    """Tumbling and sliding windows."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(self._assigner, TimeWindows)
        self._size, self._slide = self._assigner.size_ms, self._assigner.slide_ms
        self._offset = self._assigner.offset_ms
        self._table = Table(self._backend.use(CONTENTS))

    def slot(self) -> int:
        """The table that `AccumulatorContents` uses too."""
        return self._table.slot

    def _settle(self) -> None:
        self._table.settle()

    def _place(self, value: object, stamp: int | None, time_ms: int, outer: Entries, key: object) -> None:
        size, lateness, clock = self._size, self._lateness_ms, self._clock_ms()
        last = time_ms - (time_ms - self._offset) % self._slide
        skipped = last > time_ms - size or time_ms + lateness <= clock
        shared = self._slide < size and detach(value) is not value
        for start in range(last, time_ms - size, -self._slide):
            end = start + size - 1
            if end + lateness <= clock:
                break
            skipped = False
            # a function may keep the record, or change it: no two windows are given the same object (S7)
            own = detach(value) if shared else value
            self._into_window(own, (start, start + size), end, clock, outer, key)
        if skipped:
            self._too_late(value, stamp)

    def _into_window(self, value: object, namespace: object, end: int, clock: int, outer: Entries, key: object) -> None:
        inner = outer.get(key)
        if inner is None:
            inner = outer[key] = {}
        stored = inner.get(namespace)
        if stored is None:
            accumulator = self._first(value)
            self._register(namespace, end, clock)
        else:
            accumulator = self._more(Table.read(stored), value)
        self._table.write(inner, namespace, accumulator)
        self._backend.page.dirty = True
        if end <= clock:
            self._give(namespace, Table.copy(inner[namespace]))

    def _register(self, namespace: object, end: int, clock: int) -> None:
        backend, domain = self._backend, self._domain
        if end > clock:
            backend.register(domain, end, namespace)
        if self._lateness_ms:
            backend.register(domain, self._gone_ms(end), namespace)

    def _window_timer(self, timestamp: int, key: Key, namespace: Namespace) -> None:
        outer = self._backend.page.slots[self._table.slot]
        inner = outer.get(key, {})
        stored = inner.get(namespace)
        if stored is None:
            return
        if timestamp == namespace[1] - 1:
            self._give(namespace, Table.read(stored))
        if timestamp == self._gone_ms(namespace[1] - 1):
            del inner[namespace]
            if not inner:
                del outer[key]
            if isinstance(self._function, ProcessWindowFunction):
                self._shown.namespace = namespace
                self._function.clear(self._shown)
