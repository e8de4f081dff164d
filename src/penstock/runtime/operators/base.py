"""The operator contract: whole lists in, whole lists out, watermarks in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from penstock.core.job import ChainedOperator
from penstock.runtime.codec import detach
from penstock.runtime.context import TaskContext, WatermarkChannel
from penstock.runtime.poison import boundary_of
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.values import Keys, Records, Timestamps

__all__ = ["Discard", "Entry", "Fan", "Operator", "Output"]

Entry = Callable[[Records, Timestamps, Keys], None]
"""Takes records with their timestamps and keys."""


class Output(Protocol):
    """Where an operator's records and watermarks go."""

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Take records, in order."""

    def watermark(self, timestamp: int) -> None:
        """Take a watermark; everything emitted before belongs before it."""

    def status(self, idle: bool) -> None:
        """From here on the stream is idle, or active again (T6)."""


class Discard:
    """Nobody listens."""

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Drop."""

    def watermark(self, timestamp: int) -> None:
        """Drop."""

    def status(self, idle: bool) -> None:
        """Drop."""


class Fan:
    """Several consumers of one output; each gets records that it alone may change (S7)."""

    def __init__(self, outputs: Sequence[Output], copies: bool) -> None:
        self._outputs = tuple(outputs)
        self._copies = copies

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Give records to all outputs; all but the last get copies."""
        for output in self._outputs[:-1]:
            output.emit(list(map(detach, values)) if self._copies else values, timestamps)
        self._outputs[-1].emit(values, timestamps)

    def watermark(self, timestamp: int) -> None:
        """Pass a watermark to all outputs."""
        for output in self._outputs:
            output.watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Pass idleness to all outputs."""
        for output in self._outputs:
            output.status(idle)


class Operator:
    """Base of live operators. Everything is defaulted; a subclass overrides what it is about.

    Order of calls: `restore?`, `open`, then per batch `begin`, any of `process`/`watermark`/`status`/
    `processing_time`, `end`, `snapshot`; `close` once at the end of its life.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        self.desc = desc
        self.task = task
        self.out: Output = Discard()
        self.sides: dict[str, Output] = {}
        self.current_watermark: int = -(2**63)
        self.poison = boundary_of(self, desc.poison or task.settings.poison)

    def put_aside(self, record: object, timestamp: int | None, error: Exception) -> None:
        """Leave out a record on which user code raised; raises the error again if the operator is not guarded."""
        if self.poison is None:
            raise error
        self.poison.put_aside(record, timestamp, error)

    def restore(self, state: object) -> None:
        """Take over what `snapshot` gave."""

    def open(self) -> None:
        """Get ready."""

    def begin(self) -> None:
        """A batch starts."""

    def resume(self) -> None:
        """The first batch after a start from a savepoint: what subtasks know of time may have been dealt out anew."""

    def sleeps(self, input_sleeps: bool) -> bool:
        """Whether the stream behind it is idle; `input_sleeps`: whether the one before it is."""
        return input_sleeps

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Take records in order."""
        raise NotImplementedError

    def entry(self, index: int) -> Entry:
        """Where the records of an input go; operators of several inputs override it."""
        return self.process

    def watermark(self, timestamp: int) -> None:
        """The clock moved: fire what is due, then pass it on (T5)."""
        self.current_watermark = timestamp
        self.forward_watermark(timestamp)

    @property
    def sent_watermark(self) -> int:
        """The last watermark passed on; what those behind it stand at after a restart."""
        return self.current_watermark

    def forward_watermark(self, timestamp: int) -> None:
        """Pass a watermark to the main output and to all side outputs."""
        self.out.watermark(timestamp)
        for side in self.sides.values():
            side.watermark(timestamp)

    def status(self, idle: bool) -> None:
        """The input became idle, or active again: pass it on (T6)."""
        self.forward_status(idle)

    def forward_status(self, idle: bool) -> None:
        """Pass idleness to the main output and to all side outputs."""
        self.out.status(idle)
        for side in self.sides.values():
            side.status(idle)

    def watermark_channel_ended(self, channel: WatermarkChannel) -> None:
        """Called on the head of a chain when all input channels of a watermark channel have ended."""

    def next_processing_ms(self) -> int:
        """When the operator wants to be called even if nothing comes (processing time); NO_TIMER if never."""
        return NO_TIMER

    def processing_time(self, now_ms: int) -> None:
        """Fire processing-time timers that are due."""

    def end(self) -> None:
        """The batch ends: emit what is still held back, prepare what must be committed."""

    def snapshot(self) -> object:
        """Operator state to keep, None for none."""
        return None

    def changed(self) -> bool:
        """Whether `snapshot` may differ from the last one; spares encoding large state that nobody touched."""
        return True

    def close(self) -> None:
        """Release resources."""

    # -- chaining: an operator is the output of the one before it ---------------------------------

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Take records from the operator before it in the chain."""
        self.process(values, timestamps, None)


def thin(timestamps: Timestamps, kept: Iterable[int]) -> Timestamps:
    """The timestamps of the records at the given indexes."""
    return None if timestamps is None else [timestamps[i] for i in kept]
