"""Sliding windows that share panes: a record is added once, and windows are merged from panes when they fire.

Only for functions that declare that merging is right in any order (`mergeable = True`); results are the same either
way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import gcd

from penstock.core.functions.window import ProcessWindowFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import WindowSpec
from penstock.core.windows.assigners import TimeWindows
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.windows.aligned import AlignedWindowOperator, Table, is_aligned
from penstock.runtime.state.backend import EVENT
from penstock.runtime.values import Entries

__all__ = ["PaneWindowOperator", "shares_panes"]


def shares_panes(spec: WindowSpec) -> bool:
    """Whether a spec is of sliding event-time windows with a function that may be merged.

    `ProcessWindowFunction.clear` is called when a window is gone; without lateness that is when it has fired.
    """
    return (
        is_aligned(spec)
        and isinstance(spec.assigner, TimeWindows)
        and spec.assigner.is_event_time()
        and spec.assigner.slide_ms < spec.assigner.size_ms
        and getattr(spec.combine, "mergeable", False) is True
        and not (isinstance(spec.function, ProcessWindowFunction) and spec.lateness_ms)
    )


class PaneWindowOperator(AlignedWindowOperator):
    """Keeps accumulators of panes. The timer of a window has the window as namespace; that of a pane's end its start.

    A window's timer is set when its first pane comes; each firing sets the next window's while panes reach into it.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert self._combiner is not None
        self._merge_two = self._combiner.merge
        self._width = gcd(self._size, self._slide)
        self._table = Table(self._backend.use("_panes@"))

    def _place(self, value: object, stamp: int | None, time_ms: int, outer: Entries, key: object) -> None:
        clock = self.current_watermark
        last = self._last_window(time_ms)
        if last + self._size - 1 + self._lateness_ms <= clock:
            self._too_late(value, stamp)
            return
        pane = time_ms - (time_ms - self._offset) % self._width
        inner = outer.get(key)
        if inner is None:
            inner = outer[key] = {}
        stored = inner.get(pane)
        self._table.write(inner, pane, self._first(value) if stored is None else self._more(Table.read(stored), value))
        self._backend.page.dirty = True
        starts = range(last, time_ms - self._size, -self._slide)
        if stored is None:
            self._new_pane(pane, last, starts, clock)
        if clock >= starts[-1] + self._size - 1:
            self._fire_late(starts, clock, inner)

    def _last_window(self, time_ms: int) -> int:
        """Start of the last window that covers a moment."""
        return time_ms - (time_ms - self._offset) % self._slide

    def _new_pane(self, pane: int, last: int, starts: range, clock: int) -> None:
        upcoming = [start for start in starts if start + self._size - 1 > clock]
        if upcoming:
            self._await(min(upcoming))
        if self._lateness_ms:
            self._backend.register(EVENT, self._gone_ms(last + self._size - 1), pane)

    def _await(self, start: int) -> None:
        self._backend.register(EVENT, start + self._size - 1, (start, start + self._size))

    def _fire_late(self, starts: range, clock: int, inner: Entries) -> None:
        """A late record fires at once every window that has ended but is still there."""
        for start in starts:
            end = start + self._size - 1
            if end <= clock < end + self._lateness_ms:
                self._give_panes(start, inner)

    def _give_panes(self, start: int, inner: Entries) -> None:
        # copies: functions may merge in place
        accumulators = [Table.copy(inner[pane]) for pane in self._panes(start, inner)]
        if accumulators:
            window = (start, start + self._size)
            self._give(window, reduce(self._merge_two, accumulators))
            if isinstance(self._function, ProcessWindowFunction):
                self._shown.namespace = window
                self._function.clear(self._shown)

    def _panes(self, start: int, inner: Entries) -> Iterator[int]:
        """Panes of a window, oldest first."""
        if len(inner) * self._width < self._size:
            return iter(sorted(pane for pane in inner if start <= pane < start + self._size))
        return (pane for pane in range(start, start + self._size, self._width) if pane in inner)

    def _window_timer(self, timestamp: int, key: object, namespace: object) -> None:
        outer = self._backend.page.slots[self._table.slot]
        inner = outer.get(key)
        if inner is None:
            return
        if type(namespace) is tuple:
            start = namespace[0]
            self._give_panes(start, inner)
            if any(start + self._slide <= pane < start + self._slide + self._size for pane in inner):
                self._await(start + self._slide)
            done = [] if self._lateness_ms else [pane for pane in inner if self._last_window(pane) <= start]
        else:
            done = [namespace] if namespace in inner else []
        for pane in done:
            del inner[pane]
        if not inner:
            del outer[key]
