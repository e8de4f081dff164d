"""Running source functions: a thread for each split, and a bounded buffer between it and the job.

The function's thread fills the buffer and waits when it is full (F13). Whoever plans a batch *seals* what
is there; sealed events are held, and can be had again, until the batch that carries them is durable.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from penstock.core.clock import Clock
from penstock.core.errors import TimestampError
from penstock.core.job import JobPlan, Vertex
from penstock.core.rich import RichFunction
from penstock.core.source import ACTIVE, IDLE, MarkedBatch, Position, SourceClock
from penstock.core.source_function import FunctionSource, SourceContext
from penstock.core.specs import SourceSpec
from penstock.core.time import MAX_TIMESTAMP, MIN_TIMESTAMP, MIN_WATERMARK
from penstock.core.watermark import Watermark
from penstock.runtime.codec import fix
from penstock.runtime.context import LiveRuntimeContext, split_context
from penstock.runtime.failures import NO_RECORD, describe, user_failure
from penstock.runtime.operators.factory import own_spec

__all__ = ["Held", "LiveBuffer", "LiveSplits", "run_to_end"]

_POLL_MS = 50


class SourceCanceledError(BaseException):
    """Not an error: leaves the `run` of a function whose job has stopped, also one that does not look at its flag."""


class _Mark(NamedTuple):
    mark: int


class _Sealed(NamedTuple):
    start: int
    stop: int
    batch: MarkedBatch


class Held(NamedTuple):
    """Events between two positions; `lost` of them are gone, because the run that took them has ended."""

    batches: list[MarkedBatch]
    lost: int


class LiveBuffer(SourceContext):
    """What one running function has emitted. `first`: the number of its first event.

    >>> buffer = LiveBuffer(capacity=10)
    >>> buffer.collect("a"); buffer.emit_watermark(Watermark(5)); buffer.collect_with_timestamp("b", 7)
    >>> buffer.seal(0, limit=2)
    Position(at=2, ended=False)
    >>> buffer.between(0, 2).batches
    [MarkedBatch(values=['a'], timestamps=None, marks=[(1, 5)])]
    """

    def __init__(self, capacity: int, reuse: bool = False, first: int = 0, news: threading.Event | None = None) -> None:
        # configuration
        self._capacity, self._reuse = capacity, reuse
        self._news = news or threading.Event()
        # of the run
        self._changed = threading.Condition(threading.RLock())
        self._events: deque[Any] = deque()
        self._sealed: list[_Sealed] = []
        self._next = first
        self._watermark = MIN_WATERMARK
        self._locked = 0
        self._closed = self._canceled = self._idle = False

    # -- the function's side ----------------------------------------------------------------------

    def collect(self, value: Any) -> None:
        self._put((value if self._reuse else fix(value), None))

    def collect_with_timestamp(self, value: Any, timestamp: int) -> None:
        if type(timestamp) is not int or not MIN_TIMESTAMP <= timestamp < MAX_TIMESTAMP:
            raise TimestampError(
                f"collect_with_timestamp() got the timestamp {describe(timestamp)} ({type(timestamp).__name__}) for "
                f"record {describe(value)}: give milliseconds since the epoch as an int"
            )
        self._put((value if self._reuse else fix(value), timestamp))

    def emit_watermark(self, mark: Watermark) -> None:
        if not isinstance(mark, Watermark):
            raise TypeError(f"emit_watermark() takes a Watermark, got {type(mark).__name__}")
        if mark.timestamp > self._watermark:
            self._watermark = mark.timestamp
            self._put(_Mark(mark.timestamp))

    def mark_as_temporarily_idle(self) -> None:
        if not self._idle:
            self._put(_Mark(IDLE))
            self._idle = True

    def get_checkpoint_lock(self) -> AbstractContextManager[Any]:
        return _CheckpointLock(self)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._news.set()

    def _put(self, event: Any) -> None:
        with self._changed:
            if not self._locked:
                self._await_room()
            if self._canceled or self._closed:
                raise SourceCanceledError
            if self._idle:
                self._idle = False
                self._events.append(_Mark(ACTIVE))
            self._events.append(event)
        self._news.set()

    def _await_room(self) -> None:
        while len(self._events) >= self._capacity and not self._canceled:
            self._changed.wait()

    def lock(self) -> None:
        """Let nothing be sealed from here on, once there is room."""
        self._changed.acquire()
        if not self._locked:
            self._await_room()
        self._locked += 1

    def unlock(self) -> None:
        """Undo one `lock`."""
        self._locked -= 1
        self._changed.release()

    # -- the job's side ---------------------------------------------------------------------------

    def cancel(self) -> None:
        """Whatever the function emits from here on ends it."""
        with self._changed:
            self._canceled = True
            self._changed.notify_all()

    def seal(self, start: int, limit: int) -> Position:
        """How far a batch may read that begins at `start`: at most `limit` events further.

        A batch that is planned again, because it failed, reads what it read before.
        """
        with self._changed:
            if start >= self._next and self._events and limit > 0:
                self._seal([self._events.popleft() for _ in range(min(limit, len(self._events)))])
                self._changed.notify_all()
            return Position(self._next, self._closed and not self._events)

    def _seal(self, events: list[Any]) -> None:
        stop = self._next + len(events)
        self._sealed.append(_Sealed(self._next, stop, _batch(events)))
        self._next = stop

    def between(self, start: int, stop: int) -> Held:
        """The events between two positions, as far as they are held."""
        with self._changed:
            held = [s for s in self._sealed if start <= s.start and s.stop <= stop]
        return Held([s.batch for s in held], stop - start - sum(s.stop - s.start for s in held))

    def release(self, upto: int) -> None:
        """What lies before a position is durable."""
        with self._changed:
            self._sealed = [s for s in self._sealed if s.stop > upto]

    def unreleased(self) -> int:
        """How many events are sealed but not durable."""
        return sum(s.stop - s.start for s in self._sealed)


class _CheckpointLock:
    """Held by the function while it emits what belongs together."""

    def __init__(self, buffer: LiveBuffer) -> None:
        self._buffer = buffer

    def __enter__(self) -> _CheckpointLock:
        self._buffer.lock()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._buffer.unlock()


def _batch(events: list[Any]) -> MarkedBatch:
    values: list[Any] = []
    times: list[Any] = []
    marks: list[tuple[int, int]] = []
    for event in events:
        if event.__class__ is _Mark:
            marks.append((len(values), event.mark))
        else:
            values.append(event[0])
            times.append(event[1])
    return MarkedBatch(values, None if times.count(None) == len(times) else times, marks)


class LiveSplit:
    """One running instance of a source function."""

    def __init__(
        self, plan: JobPlan, vertex: Vertex, split: int, first: int, clock: Clock, news: threading.Event
    ) -> None:
        self.desc = vertex.operators[0]
        spec = own_spec(self.desc)
        assert isinstance(spec, SourceSpec)
        assert isinstance(spec.source, FunctionSource)
        settings = plan.settings
        self.buffer = LiveBuffer(settings.source_buffer_records, settings.object_reuse, first, news)
        self._function = spec.source.function
        task = split_context(plan, vertex, split, clock, lambda row: None)
        self._context = LiveRuntimeContext(task, self.desc, keyed=False)
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name=f"{self.desc.name} ({split + 1})", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._guarded("open()", self._open):
                self._guarded("run()", lambda: self._function.run(self.buffer))
                self._guarded("close()", self._function.close)
        finally:
            self.buffer.close()

    def _open(self) -> None:
        if isinstance(self._function, RichFunction):
            self._function.set_runtime_context(self._context)
        self._function.open(self._context)

    def _guarded(self, doing: str, call: Any) -> bool:
        try:
            call()
            return True
        except SourceCanceledError:
            return True
        except Exception as error:
            self._error = self._error or user_failure(self.desc.name, self.desc.uid, doing, NO_RECORD, error)
            return False

    def advance(self, start: Position, limit: int) -> Position:
        """Seal what is there; raises what the function failed with."""
        end = self.buffer.seal(start.at, limit)
        if self._error is not None:
            raise self._error
        return end

    def cancel(self) -> None:
        """Ask the function to return."""
        if not self._thread.is_alive():
            return
        self.buffer.cancel()
        try:
            self._function.cancel()
        except Exception as error:
            _warn(f"cancel() of source '{self.desc.name}' (uid {self.desc.uid}) raised {type(error).__name__}: {error}")

    def join(self, timeout_ms: int) -> None:
        """Wait for the function to return after `cancel`."""
        self._thread.join(timeout_ms / 1000)
        if self._thread.is_alive():
            _warn(
                f"Source '{self.desc.name}' (uid {self.desc.uid}) has not returned from run() within {timeout_ms} ms "
                "of cancel(): it is left behind. Let run() look at a flag that cancel() sets"
            )


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=3)


class LiveSplits:
    """The running functions of a job's sources, for whoever plans its batches. Started when first asked for."""

    def __init__(self, plan: JobPlan, clock: Clock) -> None:
        self._plan, self._clock = plan, clock
        self._splits: dict[tuple[int, int], LiveSplit] = {}
        self._news = threading.Event()

    def advance(
        self, vertex: Vertex, split: int, start: Position, base: Position, limit: int, now: SourceClock
    ) -> Position:
        """How far a split of any source may be read now; see `Source.advance`."""
        source = vertex.source
        if not isinstance(source, FunctionSource):
            return source.advance(split, vertex.parallelism, start, base, limit, now)
        key = (vertex.vertex_id, split)
        if key not in self._splits:
            self._splits[key] = LiveSplit(self._plan, vertex, split, start.at, self._clock, self._news)
        return self._splits[key].advance(start, limit)

    def held(self, vertex: Vertex, split: int, start: Position, end: Position) -> Held | None:
        """What a function emitted between two positions; None for a source that can be read from a position."""
        if not isinstance(vertex.source, FunctionSource):
            return None
        running = self._splits.get((vertex.vertex_id, split))
        return Held([], end.at - start.at) if running is None else running.buffer.between(start.at, end.at)

    def release(self, vertex_id: int, split: int, upto: Position) -> None:
        """Everything before a position is durable."""
        running = self._splits.get((vertex_id, split))
        if running is not None:
            running.buffer.release(upto.at)

    def unreleased(self) -> list[tuple[str, str, int, int]]:
        """(source, uid, split, events) of what was taken but is not durable."""
        found = [(s.desc.name, s.desc.uid, split, s.buffer.unreleased()) for (_, split), s in self._splits.items()]
        return [entry for entry in found if entry[-1]]

    def wait(self) -> bool:
        """Block for a moment, or until a function has emitted something; False at once if none runs."""
        if not self._splits:
            return False
        self._news.wait(_POLL_MS / 1000)
        self._news.clear()
        return True

    def close(self) -> None:
        """Cancel what runs, and wait for it as long as the settings allow."""
        for running in self._splits.values():
            running.cancel()
        for running in self._splits.values():
            running.join(self._plan.settings.source_cancel_timeout_ms)


def run_to_end(plan: JobPlan, vertex: Vertex, split: int, clock: Clock) -> Iterator[MarkedBatch]:
    """Run a function where its records are wanted, until it returns."""
    live = LiveSplits(plan, clock)
    now = SourceClock(clock.now_ms(), clock.now_ms())
    start = Position(0)
    try:
        while not start.ended:
            end = live.advance(vertex, split, start, start, plan.settings.chunk_records, now)
            held = live.held(vertex, split, start, end)
            assert held is not None
            yield from held.batches
            live.release(vertex.vertex_id, split, end)
            if end == start:
                live.wait()
            start = end
    finally:
        live.close()
