"""Assigns timestamps and emits watermarks at record counts, never by the wall clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from penstock.core.errors import OperatorError, TimestampError
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import TimestampsSpec
from penstock.core.time.spans import MAX_TIMESTAMP, MAX_WATERMARK, MIN_TIMESTAMP, MIN_WATERMARK
from penstock.core.time.watermarks import BoundedOutOfOrderness, IngestionTime, TimestampAssigner
from penstock.runtime.chunk import ACTIVE, IDLE, Mark
from penstock.runtime.context import TaskContext, WatermarkChannel
from penstock.runtime.failures import describe, last_taken, user_failure
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.generators import Generator, make_generator
from penstock.runtime.poison import PoisonBoundary
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.values import Keys, Records, Timestamps
from penstock.runtime.valve import Valve

__all__ = ["TimestampsOperator"]


class _ChannelGenerator:
    """A channel's generator, how many records it has seen since its last periodic call, and when one came last."""

    __slots__ = ("active_ms", "falls_idle", "generator", "since", "timed_out")

    def __init__(self, generator: Generator) -> None:
        # not checkpointed
        self.since = 0
        self.falls_idle = False
        # checkpointed
        self.generator = generator
        self.active_ms: int | None = None
        self.timed_out = False

    def snapshot(self) -> tuple[object, int | None, bool]:
        return (self.generator.snapshot(), self.active_ms, self.timed_out)

    def restore(self, state: tuple[Any, int | None, bool]) -> None:
        saved, self.active_ms, self.timed_out = state
        if saved is not None:
            self.generator.restore(saved)


class TimestampsOperator(Operator):
    """Has one generator for each watermark channel; their watermarks are combined by minimum, as those of a subtask.

    Beside a source there is one channel, and the operator starts anew with each batch: only generators whose batches
    combine by maximum may run there. Watermarks and idleness that come in are replaced by the operator's own; only the
    end of the input passes.
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
        self._channels = task.watermark_channels if desc.uid == task.head_uid else (None,)
        # checkpointed
        self._valve: Valve[WatermarkChannel] = Valve(self._channels)
        self._generators: dict[WatermarkChannel, _ChannelGenerator] = {}
        self._saved: dict[WatermarkChannel, Any] = {}

    # -- state ------------------------------------------------------------------------------------

    def restore(self, state: Any) -> None:
        """Take over the watermarks; the generators' own state waits for `open`."""
        valve, self._saved = state
        self._valve.restore(valve)

    def open(self) -> None:
        """Make a generator for each watermark channel, with the state that it had."""
        for channel in self._channels:
            made = make_generator(self._strategy.generator, self.task, channel, self.desc.name, self.desc.uid)
            state = self._generators[channel] = _ChannelGenerator(made)
            if channel in self._saved:
                state.restore(self._saved[channel])
        self._saved = {}

    @property
    def sent_watermark(self) -> int:
        """The combined clock."""
        return self._valve.clock

    def snapshot(self) -> object:
        """The watermarks and the state of all generators; None if nothing has come yet."""
        generators = {channel: state.snapshot() for channel, state in self._generators.items()}
        blank = self._valve.clock == MIN_WATERMARK and all(w == (None, None, False) for w in generators.values())
        return None if blank else (self._valve.snapshot(), generators)

    # -- records ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Count records for periodic watermarks anew; the time-out of channels starts with the first batch."""
        for state in self._generators.values():
            state.since = 0
            if state.active_ms is None and self._idle_ms is not None:
                state.active_ms = self.task.batch.processing_time_ms

    def resume(self) -> None:
        """Send the watermark that follows from the restored ones."""
        for move in self._valve.settle():
            self._forward(move)

    def sleeps(self, input_sleeps: bool) -> bool:
        """Whether all channels are idle; the input's idleness does not count."""
        return self._valve.asleep

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Give records their timestamps and pass them on, with watermarks exactly where they belong."""
        stamped: Timestamps
        try:
            stamped = self._assign(values, timestamps)
        except OperatorError:
            if self.poison is None:
                raise
            values, stamped = self._sift(self.poison, values, timestamps)
        channel = self.task.watermark_channel if len(self._channels) > 1 else self._channels[0]
        position = 0
        for place, move in self._moves(channel, values, stamped):
            if place > position:
                self._emit(values, stamped, position, place)
                position = place
            self._forward(move)
        self._emit(values, stamped, position, len(values))

    def _emit(self, values: Records, stamped: Timestamps, start: int, stop: int) -> None:
        if start == 0 and stop == len(values):
            self.out.emit(values, stamped)
        elif stop > start:
            self.out.emit(values[start:stop], stamped[start:stop] if stamped is not None else None)

    def _moves(self, channel: WatermarkChannel, values: Records, stamped: Timestamps) -> list[Mark]:
        """The moves of the combined clock that these records cause, each with its place among them."""
        take = self._moves_after
        return [(place, move) for place, mark in self._marks(channel, values, stamped) for move in take(channel, mark)]

    def _marks(self, channel: WatermarkChannel, values: Records, stamped: Timestamps) -> Iterator[Mark]:
        """The marks of one channel: ACTIVE before its first record if it was idle, then what its generator emits."""
        state, generator = self._generators[channel], self._generators[channel].generator
        if self._idle_ms is not None:
            state.active_ms = self.task.batch.processing_time_ms
            if state.timed_out:
                state.timed_out = False
                yield 0, ACTIVE
        start = 0
        while start < len(values):
            stop = min(len(values), start + self._step - state.since) if self._periodic else len(values)
            yield from generator.see(values, stamped, start, stop)
            state.since += stop - start
            if self._periodic and state.since >= self._step:
                state.since = 0
                yield from ((stop, mark) for mark in generator.periodic())
            start = stop

    # -- time -------------------------------------------------------------------------------------

    def end(self) -> None:
        """Emit periodic watermarks, and idleness of channels that had no record for their time-out."""
        now_ms = self.task.batch.processing_time_ms
        for channel, state in self._generators.items():
            state.since = 0
            if self._idle_due_ms(channel, state) <= now_ms:
                state.timed_out = state.falls_idle = True
            elif self._periodic and not state.timed_out and not self._valve.has_ended(channel):
                self._take(channel, state.generator.periodic())
        self._fall_idle()

    def _fall_idle(self) -> None:
        for channel, state in self._generators.items():
            if state.falls_idle:
                state.falls_idle = False
                for move in self._valve.take(channel, IDLE):
                    self._forward(move)

    def _idle_due_ms(self, channel: WatermarkChannel, state: _ChannelGenerator) -> int:
        """When a channel that stays silent becomes idle; NO_TIMER if it is idle already, or has ended."""
        if self._idle_ms is None or state.active_ms is None or state.falls_idle:
            return NO_TIMER
        silent = self._valve.is_idle(channel) or self._valve.has_ended(channel)
        return NO_TIMER if silent else state.active_ms + self._idle_ms

    def next_processing_ms(self) -> int:
        """When the next channel may become idle."""
        return min((self._idle_due_ms(channel, state) for channel, state in self._generators.items()), default=NO_TIMER)

    def watermark_channel_ended(self, channel: WatermarkChannel) -> None:
        """Emit a last periodic watermark and the end of the channel."""
        if not self._valve.has_ended(channel):
            state = self._generators[channel]
            if self._periodic and not state.timed_out:
                self._take(channel, state.generator.periodic())
            self._take(channel, (MAX_WATERMARK,))

    def watermark(self, timestamp: int) -> None:
        """Drop watermarks that come in, since this operator makes its own; only the end of the input passes."""
        if timestamp != MAX_WATERMARK:
            return
        if self._valve.closed_without_input():
            self._forward(MAX_WATERMARK)
        for channel in self._channels:
            self.watermark_channel_ended(channel)

    def status(self, idle: bool) -> None:
        """Drop idleness that comes in, since this operator decides on its own."""

    def _take(self, channel: WatermarkChannel, marks: Iterable[int]) -> None:
        for mark in marks:
            for move in self._moves_after(channel, mark):
                self._forward(move)

    def _moves_after(self, channel: WatermarkChannel, mark: int) -> tuple[int, ...]:
        """The moves of the combined clock after a mark; a channel becomes idle only at the end of the batch."""
        state = self._generators[channel]
        state.falls_idle = mark == IDLE
        return () if state.falls_idle else self._valve.take(channel, mark)

    def _forward(self, move: int) -> None:
        if move > MAX_WATERMARK:
            self.forward_status(move == IDLE)
        else:
            self.current_watermark = move
            self.forward_watermark(move)

    # -- timestamps -------------------------------------------------------------------------------

    def _assign(self, values: Records, timestamps: Timestamps) -> Timestamps:
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

    def _extracted(self, extract: Callable[[Any, Any], object], values: Records, timestamps: Timestamps) -> Records:
        rest = iter(values)
        old = timestamps if timestamps is not None else [None] * len(values)
        try:
            return list(map(extract, rest, old))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self.desc.name, self.desc.uid, "The timestamp assigner", record, error) from error

    def _sift(self, poison: PoisonBoundary, values: Records, timestamps: Timestamps) -> tuple[Records, Records]:
        """The records that can be given a timestamp, with their timestamps; the others are put aside."""
        kept: Records = []
        stamps: list[int | None] = []

        def assign(value: object, old: int | None) -> None:
            stamps.append(self._checked(self._extract(value, old) if self._extract else old, value))
            kept.append(value)

        poison.one_by_one(values, timestamps, assign)
        return kept, stamps

    def _checked(self, timestamp: int | None, value: object) -> int | None:
        """A checked timestamp; a record without one keeps none if the strategy has no assigner."""
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

    def _refused(self, value: object, found: str, hint: str) -> TimestampError:
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
