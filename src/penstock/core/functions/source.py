"""Sources that run by themselves and push their records: `SourceFunction` and its kin.

They cannot be asked for a record again, so what a failure takes is lost: at-most-once, unless they keep
operator state that says where they read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Generic

from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock
from penstock.core.functions.base import Function
from penstock.core.functions.checkpointed import CheckpointedFunction
from penstock.core.functions.rich import RichFunction
from penstock.core.time.watermarks import Watermark
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, OUT

__all__ = [
    "FunctionSource",
    "ParallelSourceFunction",
    "RichParallelSourceFunction",
    "RichSourceFunction",
    "SourceContext",
    "SourceFunction",
]


class SourceContext(Subscriptable, ABC, Generic[IN]):
    """Given to `SourceFunction.run`: takes what the source has to say, in order."""

    @abstractmethod
    def collect(self, value: IN) -> None:
        """Emit a record without a timestamp. Blocks while the job is behind."""

    @abstractmethod
    def collect_with_timestamp(self, value: IN, timestamp: int) -> None:
        """Emit a record with its event time, in milliseconds since the epoch."""

    @abstractmethod
    def emit_watermark(self, mark: Watermark) -> None:
        """No record with a timestamp ≤ this one will follow. One that does not advance is dropped."""

    @abstractmethod
    def mark_as_temporarily_idle(self) -> None:
        """Do not hold event time back until the next record or watermark."""

    @abstractmethod
    def get_checkpoint_lock(self) -> AbstractContextManager[object]:
        """Records emitted while the lock is held enter the same batch. Taking it blocks while the job is behind."""

    @abstractmethod
    def close(self) -> None:
        """Called when `run` has returned: nothing is taken from here on."""


class SourceFunction(Function, Generic[OUT]):
    """Emits records by itself until it returns or is cancelled. It runs in one subtask, on the driver's machine.

    It cannot be rewound: after a failure it starts anew, and records that were not yet durable are lost, never
    delivered twice (at-most-once). For more, write a `Source` with offsets, or make the function a
    `CheckpointedFunction` too, whose list state says where it reads: emit a record and move on under the checkpoint
    lock. Then every batch ends with the state that belongs to it, and a restart goes on from there.

    >>> from penstock.datastream import StreamExecutionEnvironment
    >>> from penstock.common import Configuration
    >>> class Countdown(SourceFunction):
    ...     def __init__(self, start):
    ...         self.left, self.running = start, True
    ...     def run(self, ctx):
    ...         while self.running and self.left:
    ...             ctx.collect(self.left)
    ...             self.left -= 1
    ...     def cancel(self):
    ...         self.running = False
    >>> env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)
    >>> list(env.add_source(Countdown(3)).execute_and_collect())
    [3, 2, 1]
    """

    emits_watermarks: bool = True
    """False for a function that never calls `emit_watermark`: a job whose event time stands still for it is warned."""

    @abstractmethod
    def run(self, ctx: SourceContext[OUT]) -> None:
        """Called once, in a thread of its own; the source has ended when it returns."""

    @abstractmethod
    def cancel(self) -> None:
        """Called from another thread when the job stops: make `run` return soon."""


class ParallelSourceFunction(SourceFunction[OUT]):
    """A `SourceFunction` that runs in as many subtasks as it is given."""


class RichSourceFunction(RichFunction, SourceFunction[OUT]):
    """A `SourceFunction` that can ask where it runs by `get_runtime_context()`."""


class RichParallelSourceFunction(RichSourceFunction[OUT], ParallelSourceFunction[OUT]):
    """Rich and parallel: tell the subtasks apart by `get_runtime_context().get_index_of_this_subtask()`."""


class FunctionSource(Source[OUT]):
    """A `SourceFunction` as a source. A position counts the events (records, watermarks) that left it so far.

    A function that is a `CheckpointedFunction` has its state in its positions. There is nothing to read from:
    whoever runs the job starts the function and keeps what it emits.
    """

    bounded = False

    def __init__(self, function: SourceFunction[OUT]) -> None:
        self.function = function
        self.replayable = isinstance(function, CheckpointedFunction)
        self.emits_watermarks = function.emits_watermarks

    def split_parallelism(self, parallelism: int) -> int:
        """One subtask, unless the function is a `ParallelSourceFunction`."""
        return parallelism if isinstance(self.function, ParallelSourceFunction) else 1

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return self.split_parallelism(parallelism)

    def initial(self, split: int, splits: int) -> Position:
        return Position({"events": 0, "state": None, "checkpoint": 0} if self.replayable else 0)

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        raise NotImplementedError("a running function is asked, not its description")

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        raise NotImplementedError("a running function is asked, not its description")
