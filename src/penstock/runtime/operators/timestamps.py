"""Assigns timestamps and emits watermarks at record counts, never by the wall clock (T1, T3, T6, T7, T9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from penstock.core.errors import OperatorError, TimestampError
from penstock.core.job import ChainedOperator
from penstock.core.specs import TimestampsSpec
from penstock.core.time import MAX_TIMESTAMP, MAX_WATERMARK, MIN_TIMESTAMP, MIN_WATERMARK
from penstock.core.watermark import BoundedOutOfOrderness, IngestionTime, TimestampAssigner
from penstock.runtime.chunk import ACTIVE, IDLE, Mark
from penstock.runtime.context import Lane, TaskContext
from penstock.runtime.failures import describe, last_taken, user_failure
from penstock.runtime.operators.base import Operator, Timestamps
from penstock.runtime.operators.generators import Generator, make_generator
from penstock.runtime.poison import PoisonBoundary
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.valve import Valve

__all__ = ["TimestampsOperator"]


class _Watch:
    """A lane's generator, how many records it has seen since its last periodic call, and when one came last."""

    __slots__ = ("active_ms", "dozing", "generator", "since", "timed_out")

    def __init__(self, generator: Generator) -> None:
        # not checkpointed
        self.since = 0
        self.dozing = False
        # checkpointed
        self.generator = generator
        self.active_ms: int | None = None
        self.timed_out = False

    def snapshot(self) -> tuple[Any, int | None, bool]:
        return (self.generator.snapshot(), self.active_ms, self.timed_out)

    def restore(self, state: tuple[Any, int | None, bool]) -> None:
        saved, self.active_ms, self.timed_out = state
        if saved is not None:
            self.generator.restore(saved)


class TimestampsOperator(Operator):
    """One generator for each lane, combined by minimum like the channels of a subtask.

    Beside a source it has one lane and starts anew each batch: batches of the generators that may stand there combine
    by maximum. Watermarks and idleness from before are replaced by its own; only the end of the input passes.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, TimestampsSpec)
        # configuration
        self._strategy = desc.spec.strategy
        self._idle_ms = self._strategy.idle_timeout_ms
        self._extract = _extractor(self._strategy.assigner)
        self._needs_stamps = isinstance(self._strategy.generator, BoundedOutOfOrderness)
        settings = task.settings
        self._step = 1 if settings.per_record_watermarks else settings.watermark_records
        self._periodic = settings.periodic_watermarks or settings.per_record_watermarks
        self._lanes = task.lanes if desc.uid == task.head_uid else (None,)
        # checkpointed
        self._valve: Valve[Lane] = Valve(self._lanes)
        self._watches: dict[Lane, _Watch] = {}
        self._saved: dict[Lane, Any] = {}

    # -- state ------------------------------------------------------------------------------------

    def restore(self, state: Any) -> None:
        valve, self._saved = state
        self._valve.restore(valve)

    def open(self) -> None:
        for lane in self._lanes:
            made = make_generator(self._strategy.generator, self.task, lane, self.desc.name, self.desc.uid)
            watch = self._watches[lane] = _Watch(made)
            if lane in self._saved:
                watch.restore(self._saved[lane])
        self._saved = {}

    @property
    def sent_watermark(self) -> int:
        return self._valve.clock

    def snapshot(self) -> Any:
        watches = {lane: watch.snapshot() for lane, watch in self._watches.items()}
        blank = self._valve.clock == MIN_WATERMARK and all(w == (None, None, False) for w in watches.values())
        return None if blank else (self._valve.snapshot(), watches)

    # -- records ----------------------------------------------------------------------------------

    def begin(self) -> None:
        for watch in self._watches.values():
            watch.since = 0
            if watch.active_ms is None and self._idle_ms is not None:
                watch.active_ms = self.task.batch.processing_time_ms

    def resume(self) -> None:
        for move in self._valve.settle():
            self._forward(move)

    def sleeps(self, input_sleeps: bool) -> bool:
        return self._valve.asleep

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        stamped: Timestamps
        try:
            stamped = self._assign(values, timestamps)
        except OperatorError:
            if self.poison is None:
                raise
            values, stamped = self._sift(self.poison, values, timestamps)
        lane = self.task.lane if len(self._lanes) > 1 else self._lanes[0]
        position = 0
        for place, move in self._moves(lane, values, stamped):
            if place > position:
                self._emit(values, stamped, position, place)
                position = place
            self._forward(move)
        self._emit(values, stamped, position, len(values))

    def _emit(self, values: list[Any], stamped: Timestamps, start: int, stop: int) -> None:
        if start == 0 and stop == len(values):
            self.out.emit(values, stamped)
        elif stop > start:
            self.out.emit(values[start:stop], stamped[start:stop] if stamped is not None else None)

    def _moves(self, lane: Lane, values: list[Any], stamped: Timestamps) -> list[Mark]:
        """What these records make of the combined clock, each move with its place among them."""
        take = self._heed
        return [(place, move) for place, mark in self._marks(lane, values, stamped) for move in take(lane, mark)]

    def _marks(self, lane: Lane, values: list[Any], stamped: Timestamps) -> Iterator[Mark]:
        """The marks of one lane: it wakes with the first record, its generator speaks in between and periodically."""
        watch, generator = self._watches[lane], self._watches[lane].generator
        if self._idle_ms is not None:
            watch.active_ms = self.task.batch.processing_time_ms
            if watch.timed_out:
                watch.timed_out = False
                yield 0, ACTIVE
        start = 0
        while start < len(values):
            stop = min(len(values), start + self._step - watch.since) if self._periodic else len(values)
            yield from generator.see(values, stamped, start, stop)
            watch.since += stop - start
            if self._periodic and watch.since >= self._step:
                watch.since = 0
                yield from ((stop, mark) for mark in generator.periodic())
            start = stop

    # -- time -------------------------------------------------------------------------------------

    def end(self) -> None:
        now_ms = self.task.batch.processing_time_ms
        for lane, watch in self._watches.items():
            watch.since = 0
            if self._idle_due_ms(lane, watch) <= now_ms:
                watch.timed_out = watch.dozing = True
            elif self._periodic and not watch.timed_out and not self._valve.has_ended(lane):
                self._take(lane, watch.generator.periodic())
        self._fall_asleep()

    def _fall_asleep(self) -> None:
        for lane, watch in self._watches.items():
            if watch.dozing:
                watch.dozing = False
                for move in self._valve.take(lane, IDLE):
                    self._forward(move)

    def _idle_due_ms(self, lane: Lane, watch: _Watch) -> int:
        """When a lane that stays silent becomes idle; NO_TIMER if it is idle already, or has ended."""
        if self._idle_ms is None or watch.active_ms is None or watch.dozing:
            return NO_TIMER
        silent = self._valve.is_idle(lane) or self._valve.has_ended(lane)
        return NO_TIMER if silent else watch.active_ms + self._idle_ms

    def next_processing_ms(self) -> int:
        return min((self._idle_due_ms(lane, watch) for lane, watch in self._watches.items()), default=NO_TIMER)

    def lane_ended(self, lane: Lane) -> None:
        if not self._valve.has_ended(lane):
            watch = self._watches[lane]
            if self._periodic and not watch.timed_out:
                self._take(lane, watch.generator.periodic())
            self._take(lane, (MAX_WATERMARK,))

    def watermark(self, timestamp: int) -> None:
        """Watermarks from before are replaced by ours (T8); only the end of the input passes."""
        if timestamp != MAX_WATERMARK:
            return
        if self._valve.closed_unheard():
            self._forward(MAX_WATERMARK)
        for lane in self._lanes:
            self.lane_ended(lane)

    def status(self, idle: bool) -> None:
        """Idleness from before is replaced by ours."""

    def _take(self, lane: Lane, marks: Iterable[int]) -> None:
        for mark in marks:
            for move in self._heed(lane, mark):
                self._forward(move)

    def _heed(self, lane: Lane, mark: int) -> tuple[int, ...]:
        """What goes out because of a mark. A lane falls asleep when the batch ends, if it has not woken by then."""
        watch = self._watches[lane]
        watch.dozing = mark == IDLE
        return () if watch.dozing else self._valve.take(lane, mark)

    def _forward(self, move: int) -> None:
        if move > MAX_WATERMARK:
            self.forward_status(move == IDLE)
        else:
            self.current_watermark = move
            self.forward_watermark(move)

    # -- timestamps -------------------------------------------------------------------------------

    def _assign(self, values: list[Any], timestamps: Timestamps) -> Timestamps:
        if isinstance(self._strategy.assigner, IngestionTime):
            return [self.task.batch.processing_time_ms] * len(values)
        if self._extract is not None:
            stamped = self._extracted(self._extract, values, timestamps)
        elif self._needs_stamps and timestamps is not None:
            stamped = list(timestamps)
        else:
            return timestamps
        if set(map(type, stamped)) != {int} or min(stamped) < MIN_TIMESTAMP or max(stamped) >= MAX_TIMESTAMP:
            stamped = [self._checked(t, v) for t, v in zip(stamped, values, strict=True)]
        return stamped

    def _extracted(self, extract: Callable[[Any, Any], Any], values: list[Any], timestamps: Timestamps) -> list[Any]:
        rest = iter(values)
        old = timestamps if timestamps is not None else [None] * len(values)
        try:
            return list(map(extract, rest, old))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self.desc.name, self.desc.uid, "The timestamp assigner", record, error) from error

    def _sift(self, poison: PoisonBoundary, values: list[Any], timestamps: Timestamps) -> tuple[list[Any], list[Any]]:
        """The records that can be given a timestamp, with their timestamps; the others are put aside."""
        kept: list[Any] = []
        stamps: list[int | None] = []

        def assign(value: Any, old: int | None) -> None:
            stamps.append(self._checked(self._extract(value, old) if self._extract else old, value))
            kept.append(value)

        poison.one_by_one(values, timestamps, assign)
        return kept, stamps

    def _checked(self, timestamp: Any, value: Any) -> int | None:
        """A timestamp as it must be; a record that had none keeps none where the strategy has no assigner."""
        if timestamp is None and self._extract is None:
            return None
        index = getattr(timestamp, "__index__", None)
        if index is None or isinstance(timestamp, bool):
            found = f"{describe(timestamp)} ({type(timestamp).__name__})"
            raise self._refused(value, found, "return milliseconds since the epoch as an int")
        whole = int(index())
        if not MIN_TIMESTAMP <= whole < MAX_TIMESTAMP:
            raise self._refused(value, str(whole), "it must fit in 64 bits; is it in milliseconds?")
        return whole

    def _refused(self, value: Any, found: str, hint: str) -> TimestampError:
        return TimestampError(
            f"Operator '{self.desc.name}' (uid {self.desc.uid}) got the timestamp {found} for record "
            f"{describe(value)}: {hint}",
            self.desc.name,
            self.desc.uid,
        )


def _extractor(assigner: Any) -> Callable[[Any, Any], Any] | None:
    """The function that reads a record's timestamp; None if records keep theirs."""
    if isinstance(assigner, TimestampAssigner):
        return assigner.extract_timestamp
    return None if isinstance(assigner, IngestionTime) else assigner
