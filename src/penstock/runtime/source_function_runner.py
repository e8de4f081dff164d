"""The source function runner: a thread for each split, and a bounded buffer between it and the job."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

from penstock.core.contracts.source import Lag, MarkedBatch, Position, SourceClock
from penstock.core.errors import SourceError, UserFunctionError
from penstock.core.functions.checkpointed import CheckpointedFunction
from penstock.core.functions.rich import RichFunction
from penstock.core.functions.source import FunctionSource
from penstock.core.program.job import ChainedOperator, JobPlan, Vertex
from penstock.core.program.specs import SourceSpec
from penstock.core.time.clock import Clock
from penstock.runtime.codec import dumps, loads
from penstock.runtime.context import LiveRuntimeContext, split_context
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.operators.factory import own_spec
from penstock.runtime.source_function_buffer import HeldEvents, SourceCanceledError, SourceFunctionBuffer
from penstock.runtime.source_state import SourceState, events_at, kept_name, renewed

__all__ = ["EventKeeper", "SourceFunctionRunners", "run_to_end"]

_POLL_MS = 50
_ALL = 1 << 40
_REPLAY_EVENTS = 10_000
_REPLAY_S = 60.0


class EventKeeper(Protocol):
    """Keeps the events that functions with state emitted in a planned batch, until the batch is durable.

    A function may emit in any order, so it cannot be run again for a batch that Spark has already logged.
    """

    def keep(self, place: str, events: bytes) -> str:
        """Keep events; returns the name under which they are found again, also after a crash."""

    def kept(self, name: str) -> bytes:
        """Events that were kept; raises, naming the file, if it is gone or damaged."""

    def forget(self, name: str) -> None:
        """Forget events: their batch is durable."""


class SourceFunctionRunner:
    """One running instance of a source function."""

    def __init__(
        self,
        plan: JobPlan,
        vertex: Vertex,
        split: int,
        start: Position,
        clock: Clock,
        news: threading.Event,
        planned: Position | None = None,
        keeper: EventKeeper | None = None,
    ) -> None:
        self.desc = vertex.operators[0]
        spec = own_spec(self.desc)
        assert isinstance(spec, SourceSpec)
        assert isinstance(spec.source, FunctionSource)
        settings = plan.settings
        self.buffer = SourceFunctionBuffer(
            settings.source_buffer_records, settings.object_reuse, events_at(start), news
        )
        self._function = spec.source.function
        self._split, self._keeper = split, keeper
        task = split_context(plan, vertex, split, clock, lambda row: None)
        self._context = LiveRuntimeContext(task, self.desc, keyed=False)
        self._error: Exception | None = None
        self._state = (
            SourceState(self._function, self.desc, (split, vertex.split_count), start, self._context, clock)
            if isinstance(self._function, CheckpointedFunction)
            else None
        )
        self._ready = threading.Event()
        if planned is not None:
            self._replay(start, planned)
        self._thread = threading.Thread(target=self._run, name=f"{self.desc.name} ({split + 1})", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            opened = self._guarded("open()", self._open)
            self._ready.set()
            if opened:
                self.buffer.compare()
                self._guarded("run()", lambda: self._function.run(self.buffer))
                self._guarded("close()", self._function.close)
        finally:
            self.buffer.close()

    def _open(self) -> None:
        if isinstance(self._function, RichFunction):
            self._function.set_runtime_context(self._context)
        if self._state is not None:
            self._state.initialize()
        self._function.open(self._context)

    def _guarded(self, doing: str, call: Any) -> bool:
        try:
            call()
            return True
        except SourceCanceledError:
            return True
        except UserFunctionError as error:  # initialize_state() failed; the error names it already
            self._error = self._error or error
            return False
        except Exception as error:
            self._error = self._error or user_failure(self.desc.name, self.desc.uid, doing, NO_RECORD, error)
            return False

    @property
    def replayable(self) -> bool:
        """Whether the function keeps state, so that it can be run again from a checkpoint."""
        return self._state is not None

    def advance(self, start: Position, limit: int) -> Position:
        """Seal the events that are there; raises the error of the function if it has failed."""
        end = self.buffer.seal(start.at, limit) if self._state is None else self._sealed(self._state, start, limit)
        if self._error is not None:
            raise self._error
        return end

    def _sealed(self, state: SourceState, start: Position, limit: int) -> Position:
        """Seal all events, since the state belongs to all of them; the buffer is kept as small as the limit."""
        self._ready.wait()
        self.buffer.narrow(limit)
        with self.buffer.still():
            if self._error is not None:
                raise self._error  # the state of a failed function must not get into a checkpoint
            end = self.buffer.seal(events_at(start), _ALL)
            if end.at == events_at(start):
                return Position(start.at, end.ended)
            return state.position(end, lambda: self._keep(events_at(start), end.at))

    def _keep(self, first: int, stop: int) -> str | None:
        if self._keeper is None:
            return None
        return self._keeper.keep(f"{self.desc.uid}/{self._split}", dumps(self.buffer.between(first, stop).batches))

    def _replay(self, start: Position, end: Position) -> None:
        """Begin with a batch that was planned before: it is complete when the function has the state that it ended
        with."""
        state, most = self._state, _REPLAY_EVENTS + 4 * (events_at(end) - events_at(start))
        assert state is not None
        planned = end.at["state"]
        also = renewed(planned)

        def reached(events: int) -> bool:
            if events > most:
                self._error = _lost_track(self.desc, events)
                raise SourceCanceledError
            if self._error is not None:
                return False
            now = state.now()
            return now.keys() == planned.keys() and all(now[k] in (planned[k], also[k]) for k in now)

        self.buffer.replay(events_at(end), reached)

    def await_replay(self) -> None:
        """Wait for the batch that was planned before; raises if the function does not come to its end."""
        done = self.buffer.replayed(_REPLAY_S)
        if self._error is not None:
            raise self._error
        if not done:
            raise _lost_track(self.desc, self.buffer.waiting())

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


def _lost_track(desc: ChainedOperator, events: int) -> SourceError:
    return SourceError(
        f"Source '{desc.name}' (uid {desc.uid}) was run again from its last checkpoint, but after {events} event(s) "
        "its state is not what it was at the end of the batch that failed: let its list state say where it reads and "
        "nothing else, and emit a record and change the state under ctx.get_checkpoint_lock()"
    )


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=3)


class SourceFunctionRunners:
    """The running functions of a job's sources, for the planner of batches. A function is started at its first batch.

    Without a `keeper` a function with state is run again for a batch that was planned before.
    """

    def __init__(self, plan: JobPlan, clock: Clock, keeper: EventKeeper | None = None) -> None:
        self._plan, self._clock, self._keeper = plan, clock, keeper
        self._kept: dict[tuple[int, int], dict[str, int]] = {}
        self._splits: dict[tuple[int, int], SourceFunctionRunner] = {}
        self._news = threading.Event()

    def advance(
        self, vertex: Vertex, split: int, start: Position, base: Position, limit: int, now: SourceClock
    ) -> Position:
        """How far a split of any source may be read now; see `Source.advance`."""
        source = vertex.source
        if not isinstance(source, FunctionSource):
            return source.advance(split, vertex.split_count, start, base, limit, now)
        key = (vertex.vertex_id, split)
        if key not in self._splits:
            self._start(vertex, split, start)
        end = self._splits[key].advance(start, limit)
        if events_at(end) > events_at(start):
            self._note_kept(key, end)
        return end

    def _note_kept(self, key: tuple[int, int], end: Position) -> None:
        name = kept_name(end)
        if name is not None:
            self._kept.setdefault(key, {})[name] = events_at(end)

    def _start(
        self, vertex: Vertex, split: int, start: Position, planned: Position | None = None
    ) -> SourceFunctionRunner:
        running = SourceFunctionRunner(self._plan, vertex, split, start, self._clock, self._news, planned, self._keeper)
        self._splits[vertex.vertex_id, split] = running
        return running

    def lag(self, vertex: Vertex, split: int, at: Position, base: Position, now: SourceClock) -> Lag:
        """How far a position of any source is behind; a function's events wait in its buffer."""
        if not isinstance(vertex.source, FunctionSource):
            return vertex.source.lag(split, vertex.split_count, at, base, now)
        running = self._splits.get((vertex.vertex_id, split))
        return Lag() if running is None else Lag(running.buffer.waiting())

    def held(self, vertex: Vertex, split: int, start: Position, end: Position) -> HeldEvents | None:
        """The events of a function between two positions; None for a source that can be read from a position."""
        if not isinstance(vertex.source, FunctionSource):
            return None
        running = self._splits.get((vertex.vertex_id, split))
        first, stop = events_at(start), events_at(end)
        if running is None and vertex.source.replayable:
            if first == stop:
                return HeldEvents([], 0)
            name = kept_name(end)
            if name is not None and self._keeper is not None:
                self._note_kept((vertex.vertex_id, split), end)
                return HeldEvents(loads(self._keeper.kept(name)), 0)
            running = self._start(vertex, split, start, end)
            running.await_replay()
        return HeldEvents([], stop - first) if running is None else running.buffer.between(first, stop)

    def release(self, vertex_id: int, split: int, upto: Position) -> None:
        """Forget events before a position: they are durable."""
        running = self._splits.get((vertex_id, split))
        if running is not None:
            running.buffer.release(events_at(upto))
        names = self._kept.get((vertex_id, split), {})
        for name in [name for name, stop in names.items() if stop <= events_at(upto)]:
            assert self._keeper is not None
            self._keeper.forget(name)
            del names[name]

    def unreleased(self) -> list[tuple[str, str, int, int]]:
        """(source, uid, split, events) for events that are in a batch, are not durable, and will not come again."""
        gone = [(split, s) for (_, split), s in self._splits.items() if not s.replayable and s.buffer.unreleased()]
        return [(s.desc.name, s.desc.uid, split, s.buffer.unreleased()) for split, s in gone]

    def wait(self) -> bool:
        """Block for a moment, or until a function has emitted something; False at once if none runs."""
        if not self._splits:
            return False
        self._news.wait(_POLL_MS / 1000)
        self._news.clear()
        return True

    def close(self) -> None:
        """Cancel all functions, and wait for them as long as the settings allow."""
        for running in self._splits.values():
            running.cancel()
        for running in self._splits.values():
            running.join(self._plan.settings.source_cancel_timeout_ms)


def run_to_end(plan: JobPlan, vertex: Vertex, split: int, clock: Clock) -> Iterator[MarkedBatch]:
    """Run a function in this process until it returns, and yield its events in batches."""
    live = SourceFunctionRunners(plan, clock)
    now = SourceClock(clock.now_ms(), clock.now_ms())
    start = vertex.source.initial(split, vertex.split_count)
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
