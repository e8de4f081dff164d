"""The buffer between a running source function and the job.

The function's thread fills it and waits when it is full. The planner of a batch *seals* the
events that are there; sealed events are kept, and can be read again, until the batch that carries them is durable.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from penstock.core.contracts.source import ACTIVE, IDLE, MarkedBatch, Position
from penstock.core.errors import TimestampError
from penstock.core.functions.source import SourceContext
from penstock.core.time.spans import MAX_TIMESTAMP, MIN_TIMESTAMP, MIN_WATERMARK
from penstock.core.time.watermarks import Watermark
from penstock.runtime.codec import detach
from penstock.runtime.failures import describe
from penstock.runtime.values import Records

__all__ = ["HeldEvents", "SourceCanceledError", "SourceFunctionBuffer"]


class SourceCanceledError(BaseException):
    """Not an error: ends the `run` of a function whose job has stopped, even if it does not look at its flag."""


class _Mark(NamedTuple):
    mark: int


class _Sealed(NamedTuple):
    start: int
    stop: int
    batch: MarkedBatch


class HeldEvents(NamedTuple):
    """Events between two positions; `lost` of them are gone, because the run that took them has ended."""

    batches: list[MarkedBatch]
    lost: int


class SourceFunctionBuffer(SourceContext):
    """The events that one running function has emitted. `first`: the number of its first event.

    >>> buffer = SourceFunctionBuffer(capacity=10)
    >>> buffer.collect("a"); buffer.emit_watermark(Watermark(5)); buffer.collect_with_timestamp("b", 7)
    >>> buffer.seal(0, limit=2)
    Position(at=2, ended=False)
    >>> buffer.between(0, 2).batches
    [MarkedBatch(values=['a'], timestamps=None, marks=[(1, 5)])]
    """

    def __init__(self, capacity: int, reuse: bool = False, first: int = 0, news: threading.Event | None = None) -> None:
        # configuration
        self._capacity, self._reuse = capacity, reuse
        self._room = capacity
        self._news = news or threading.Event()
        # of the run
        self._changed = threading.Condition(threading.RLock())
        self._events: deque[object] = deque()
        self._sealed: list[_Sealed] = []
        self._next = first
        self._watermark = MIN_WATERMARK
        self._locked = 0
        self._replay: tuple[int, Callable[[int], bool]] | None = None
        self._closed = self._canceled = self._idle = False

    # -- the function's side ----------------------------------------------------------------------

    def collect(self, value: object) -> None:
        """Take a record without a timestamp; waits while the buffer is full."""
        self._put((value if self._reuse else detach(value), None))

    def collect_with_timestamp(self, value: object, timestamp: int) -> None:
        """Take a record with its timestamp; waits while the buffer is full."""
        if type(timestamp) is not int or not MIN_TIMESTAMP <= timestamp < MAX_TIMESTAMP:
            raise TimestampError(
                f"collect_with_timestamp() got the timestamp {describe(timestamp)} ({type(timestamp).__name__}) for "
                f"record {describe(value)}: give milliseconds since the epoch as an int"
            )
        self._put((value if self._reuse else detach(value), timestamp))

    def emit_watermark(self, mark: Watermark) -> None:
        """Take a watermark; one that is not higher than the last is dropped."""
        if not isinstance(mark, Watermark):
            raise TypeError(f"emit_watermark() takes a Watermark, got {type(mark).__name__}")
        if mark.timestamp > self._watermark:
            self._watermark = mark.timestamp
            self._put(_Mark(mark.timestamp))

    def mark_as_temporarily_idle(self) -> None:
        """The function has nothing to emit for now; its next event makes it active again."""
        if not self._idle:
            self._put(_Mark(IDLE))
            self._idle = True

    def get_checkpoint_lock(self) -> AbstractContextManager[object]:
        """The lock that the function holds while it emits records and changes its state together."""
        return _CheckpointLock(self)

    def close(self) -> None:
        """The function has returned: called by its thread, once."""
        with self._changed:
            self.compare()
            self._closed = True
            self._changed.notify_all()
        self._news.set()

    def _put(self, event: object) -> None:
        with self._changed:
            if not self._locked:
                self.compare()
                self._await_room()
            if self._canceled or self._closed:
                raise SourceCanceledError
            if self._idle:
                self._idle = False
                self._events.append(_Mark(ACTIVE))
            self._events.append(event)
        self._news.set()

    def _await_room(self) -> None:
        while len(self._events) >= self._room and not self._canceled and self._replay is None:
            self._changed.wait()

    def lock(self) -> None:
        """Wait for room, then let nothing be sealed until `unlock`."""
        self._changed.acquire()
        if not self._locked:
            self.compare()
            self._await_room()
        self._locked += 1

    def unlock(self) -> None:
        """Undo one `lock`."""
        self._locked -= 1
        self._changed.release()

    # -- the job's side ---------------------------------------------------------------------------

    def cancel(self) -> None:
        """End the function when it emits the next time."""
        with self._changed:
            self._canceled = True
            self._changed.notify_all()

    def seal(self, start: int, limit: int) -> Position:
        """Seal at most `limit` events for a batch that begins at `start`; returns where the batch ends.

        A batch that is planned again because it failed reads the same events as before.
        """
        with self._changed:
            if start >= self._next and self._events and limit > 0:
                self._seal([self._events.popleft() for _ in range(min(limit, len(self._events)))])
                self._changed.notify_all()
            return Position(self._next, self._closed and not self._events)

    def _seal(self, events: Records) -> None:
        stop = self._next + len(events)
        self._sealed.append(_Sealed(self._next, stop, _batch(events)))
        self._next = stop

    def narrow(self, limit: int) -> None:
        """Set how many events the buffer takes from here on; never more than the settings allow."""
        self._room = max(1, min(limit, self._capacity))

    def still(self) -> AbstractContextManager[object]:
        """A lock: while it is held, the function emits nothing and does not hold its own lock."""
        return self._changed

    def replay(self, stop: int, reached: Callable[[int], bool]) -> None:
        """Begin with a batch that was planned before: it is complete, and ends at `stop`, when `reached` returns true.

        `reached` is called with the number of events so far, before the function emits anything and when it returns.
        """
        self._replay = (stop, reached)

    def replayed(self, patience_s: float) -> bool:
        """Wait for the batch planned before; returns False if it is not complete in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._replay is None or self._closed, patience_s)
            return self._replay is None

    def compare(self) -> None:
        """Check whether the batch planned before is complete; the function must not be emitting."""
        with self._changed:
            if self._replay is not None and self._replay[1](len(self._events)):
                events, self._events = list(self._events), deque()
                self._sealed.append(_Sealed(self._next, self._replay[0], _batch(events)))
                self._next, self._replay = self._replay[0], None
                self._changed.notify_all()

    def between(self, start: int, stop: int) -> HeldEvents:
        """The events between two positions, as far as they are held."""
        with self._changed:
            held = [s for s in self._sealed if start <= s.start and s.stop <= stop]
        return HeldEvents([s.batch for s in held], stop - start - sum(s.stop - s.start for s in held))

    def release(self, upto: int) -> None:
        """Forget the sealed events before a position: they are durable."""
        with self._changed:
            self._sealed = [s for s in self._sealed if s.stop > upto]

    def waiting(self) -> int:
        """How many events are not in a batch yet."""
        return len(self._events)

    def unreleased(self) -> int:
        """How many events are sealed but not durable."""
        return sum(s.stop - s.start for s in self._sealed)


class _CheckpointLock:
    """The lock that a function holds while it emits records and changes its state together."""

    def __init__(self, buffer: SourceFunctionBuffer) -> None:
        self._buffer = buffer

    def __enter__(self) -> _CheckpointLock:
        self._buffer.lock()
        return self

    def __exit__(self, *exc: object) -> None:
        self._buffer.unlock()


def _batch(events: Records) -> MarkedBatch:
    values: Records = []
    times: list[int | None] = []
    marks: list[tuple[int, int]] = []
    for event in events:
        if type(event) is _Mark:
            marks.append((len(values), event.mark))
        else:
            values.append(event[0])
            times.append(event[1])
    return MarkedBatch(values, None if times.count(None) == len(times) else times, marks)
