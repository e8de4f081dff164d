"""Sessions with an incremental function and their own trigger, without a merging set and with few timers.

Same results as `WindowOperator`. A session keeps the timer of its first end; when that is due and the session has grown
in the meantime, the timer is set anew. So a record that prolongs a session touches no timer.
"""

from __future__ import annotations

from penstock.core.functions.window import ProcessWindowFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import WindowSpec
from penstock.core.windows.assigners import SessionWindows
from penstock.runtime.codec import IMMUTABLE, encode, loads
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.windows.aligned import TimeWindowOperator, is_plain
from penstock.runtime.values import Accumulator, Entries, Key, Namespace, Stored

__all__ = ["SessionWindowOperator", "are_sessions"]


def are_sessions(spec: WindowSpec) -> bool:
    """Whether a spec is of the kind that this operator serves."""
    return (
        is_plain(spec)
        and isinstance(spec.assigner, SessionWindows)
        and type(spec.assigner).assign_windows is SessionWindows.assign_windows
        and type(spec.assigner).merge_windows is SessionWindows.merge_windows
    )


class SessionWindowOperator(TimeWindowOperator):
    """State of a key: {start: (end, accumulator)}; the namespace of a timer is a session's start."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(self._assigner, SessionWindows)
        assert self._combiner is not None
        self._gap, self._merge_two = self._assigner.gap_of, self._combiner.merge
        self._slot = self._backend.use("_sessions@")

    def slot(self) -> int:
        """A table of the sessions' own."""
        return self._slot

    def _place(self, value: object, stamp: int | None, time_ms: int, outer: Entries, key: object) -> None:
        start, end, clock = time_ms, time_ms + self._gap(value), self._clock_ms()
        sessions = outer.get(key)
        if sessions is None:
            sessions = outer[key] = {}
        touching = [s for s, (e, _) in sessions.items() if s <= end and e >= start]
        if not touching:
            if end - 1 + self._lateness_ms <= clock:
                self._too_late(value, stamp)
                return self._forget_empty(outer, key)
            accumulator, timed = self._first(value), False
        else:
            touching.sort()
            start, end = min(start, touching[0]), max(end, *(sessions[s][0] for s in touching))
            timed = start == touching[0] and sessions[start][0] - 1 > clock
            accumulator = self._more(self._together(sessions, touching), value)
        self._keep(sessions, start, end, accumulator)
        if end - 1 <= clock:
            self._give((start, end), accumulator)
            if not timed:
                self._await(start, self._gone_ms(end - 1))
        elif not timed:
            self._await(start, end - 1)

    def _together(self, sessions: Entries, starts: list[int]) -> object:
        """Remove sessions and merge their accumulators, in the order of time."""
        merged = self._read(sessions.pop(starts[0])[1])
        for start in starts[1:]:
            merged = self._merge_two(merged, self._read(sessions.pop(start)[1]))
        return merged

    def _keep(self, sessions: Entries, start: int, end: int, accumulator: Accumulator) -> None:
        stored = (accumulator,) if type(accumulator) in IMMUTABLE else encode((accumulator,))
        sessions[start] = (end, stored)
        self._backend.page.dirty = True

    @staticmethod
    def _read(stored: Stored) -> object:
        return stored[0] if type(stored) is tuple else loads(stored)[0]

    def _await(self, start: int, time_ms: int) -> None:
        self._backend.register(self._domain, time_ms, start)

    @staticmethod
    def _forget_empty(outer: Entries, key: object) -> None:
        if not outer[key]:
            del outer[key]

    def _window_timer(self, timestamp: int, key: Key, namespace: Namespace) -> None:
        outer = self._backend.page.slots[self._slot]
        sessions = outer.get(key, {})
        if namespace not in sessions:
            return
        end, stored = sessions[namespace]
        last = end - 1
        if last > timestamp:
            self._await(namespace, last)
            return
        if last == timestamp:
            self._give((namespace, end), self._read(stored))
        if self._gone_ms(last) > timestamp:
            self._await(namespace, self._gone_ms(last))
            return
        del sessions[namespace]
        self._forget_empty(outer, key)
        if isinstance(self._function, ProcessWindowFunction):
            self._shown.namespace = (namespace, end)
            self._function.clear(self._shown)
