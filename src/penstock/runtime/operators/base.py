"""The operator contract: whole lists in, whole lists out, watermarks in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from penstock.core.program.job import ChainedOperator
from penstock.runtime.codec import detach
from penstock.runtime.context import TaskContext, WatermarkChannel
from penstock.runtime.poison import boundary_of
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.values import Keys, Records, Timestamps

__all__ = ["Discard", "Entry", "Fan", "Operator", "Output"]

Entry = Callable[[Records, Timestamps, Keys], None]
"""Takes records with their timestamps and keys."""


class Output(Protocol):
    """Takes an operator's records and watermarks."""

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Take records, in order."""

    def watermark(self, timestamp: int) -> None:
        """Take a watermark; all records emitted before it are in front of it."""

    def status(self, idle: bool) -> None:
        """Take idleness: from here on the stream is idle, or active again."""


class Discard:
    """An output without a consumer."""

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Dropped."""

    def watermark(self, timestamp: int) -> None:
        """Dropped."""

    def status(self, idle: bool) -> None:
        """Dropped."""


class Fan:
    """Several consumers of one output; each gets records that it alone may change."""

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
    """Base of live operators. Every method has a default; a subclass overrides those that it needs.

    The task calls `restore` if there is state, then `open`; per batch `begin`, any number of `process`, `watermark`,
    `status` and `processing_time`, then `end` and `snapshot`; `close` once at the end of the operator's life.
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
        """Called once before `open` with the last snapshot; not called if there is none."""

    def open(self) -> None:
        """Called once before the first batch. State handles can be had, but not read: there is no key yet."""

    def begin(self) -> None:
        """Called by the task once per batch, before its first record. Emitting is not allowed yet."""

    def resume(self) -> None:
        """Called after `begin` in the first batch from a savepoint: watermarks may have been dealt out to other
        subtasks."""

    def sleeps(self, input_sleeps: bool) -> bool:
        """Whether the operator's output is idle, given whether its input is."""
        return input_sleeps

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Called with records in order, their timestamps and, on a keyed stream, their keys."""
        raise NotImplementedError

    def entry(self, index: int) -> Entry:
        """The function that takes the records of an input; operators of several inputs override it."""
        return self.process

    def watermark(self, timestamp: int) -> None:
        """Called when event time moves: fire timers that are due, then pass the watermark on."""
        self.current_watermark = timestamp
        self.forward_watermark(timestamp)

    @property
    def sent_watermark(self) -> int:
        """The last watermark passed on: operators behind this one stand at it after a restart."""
        return self.current_watermark

    def forward_watermark(self, timestamp: int) -> None:
        """Pass a watermark to the main output and to all side outputs."""
        self.out.watermark(timestamp)
        for side in self.sides.values():
            side.watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Called when the input becomes idle or active again: pass it on."""
        self.forward_status(idle)

    def forward_status(self, idle: bool) -> None:
        """Pass idleness to the main output and to all side outputs."""
        self.out.status(idle)
        for side in self.sides.values():
            side.status(idle)

    def watermark_channel_ended(self, channel: WatermarkChannel) -> None:
        """Called on the head of a chain when all input channels of a watermark channel have ended."""

    def next_processing_ms(self) -> int:
        """The processing time at which the operator needs a batch even without records; NO_TIMER if it never does."""
        return NO_TIMER

    def processing_time(self, now_ms: int) -> None:
        """Called with the processing time while timers are set: fire those that are due."""

    def end(self) -> None:
        """Called once per batch, after its last record: emit records that are held back, prepare commits."""

    def snapshot(self) -> object:
        """Called after `end`: the state of the operator itself, None if it has none. Keyed state is not part of it."""
        return None

    def changed(self) -> bool:
        """Whether `snapshot` may differ from the last one: large state that was not changed need not be encoded."""
        return True

    def close(self) -> None:
        """Called once at the end of the operator's life, also after a failure: release resources."""

    # -- chaining: an operator is the output of the one before it ---------------------------------

    def emit(self, values: Records, timestamps: Timestamps) -> None:
        """Take records from the operator before it in the chain."""
        self.process(values, timestamps, None)


def thin(timestamps: Timestamps, kept: Iterable[int]) -> Timestamps:
    """The timestamps of the records at the given indexes."""
    return None if timestamps is None else [timestamps[i] for i in kept]
