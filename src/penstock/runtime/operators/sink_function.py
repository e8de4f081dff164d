"""`SinkFunction`: called for each record as it comes, at-least-once or within transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.core.contracts.sink import SinkWriter, WriterInitContext
from penstock.core.contracts.transactions import TwoPhaseCommitSinkFunction
from penstock.core.functions.sink import SinkFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import FunctionSinkSpec
from penstock.core.time.clock import Clock
from penstock.core.time.spans import MAX_WATERMARK
from penstock.core.time.watermarks import Watermark
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import NO_RECORD, last_taken, user_failure
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.sink import SinkOperator
from penstock.runtime.values import Keys, Record, Records, Timestamps

__all__ = ["FunctionSinkOperator", "TransactionOperator", "function_sink"]


class _Context(SinkFunction.Context):
    """The one context of a sink function; its timestamp and watermark change from record to record."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.watermark = 0
        self.time: int | None = None

    def current_processing_time(self) -> int:
        return self._clock.now_ms()

    def current_watermark(self) -> int:
        return self.watermark

    def timestamp(self) -> int | None:
        return self.time


def function_sink(desc: ChainedOperator, task: TaskContext) -> Operator:
    """The operator for the function that was given to `add_sink`."""
    assert isinstance(desc.spec, FunctionSinkSpec)
    if isinstance(desc.spec.function, TwoPhaseCommitSinkFunction):
        return TransactionOperator(desc, task)
    return FunctionSinkOperator(desc, task)


class _Life:
    """The life of a sink function besides its records: it is opened, gets watermarks, finishes and is closed."""

    def __init__(self, function: SinkFunction | None, desc: ChainedOperator, task: TaskContext) -> None:
        self._function, self._desc, self._task = function, desc, task

    def open(self) -> None:
        if self._function is None:
            return
        self._function.open(LiveRuntimeContext(self._task, self._desc, keyed=False))

    def watermark(self, timestamp: int) -> None:
        if self._function is None:
            return
        try:
            self._function.write_watermark(Watermark(timestamp))
            if timestamp == MAX_WATERMARK:
                self._function.finish()
        except Exception as error:
            doing = "finish()" if timestamp == MAX_WATERMARK else "write_watermark()"
            raise user_failure(self._desc.name, self._desc.uid, doing, NO_RECORD, error) from error

    def close(self) -> None:
        if self._function is not None:
            self._function.close()


class FunctionSinkOperator(Operator):
    """A `SinkFunction`, or a plain function that is given the record alone."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, FunctionSinkSpec)
        function = desc.spec.function
        self._function: SinkFunction | None = function if isinstance(function, SinkFunction) else None
        self._plain: Callable[[Any], object] = function
        self._context = _Context(task.clock)
        self._life = _Life(self._function, desc, task)

    def open(self) -> None:
        """Open the function."""
        self._life.open()

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call the function for each record; a guarded one goes on without records that fail."""
        if self.poison is not None:
            self.poison.one_by_one(values, timestamps, self._write_one)
            return
        rest = iter(values)
        try:
            if self._function is None:
                for value in rest:
                    self._plain(value)
            else:
                self._invoke(self._function.invoke, rest, timestamps)
        except Exception as error:
            raise user_failure(
                self.desc.name, self.desc.uid, "The sink function", last_taken(values, rest), error
            ) from error

    def _write_one(self, value: object, stamp: int | None) -> None:
        if self._function is None:
            self._plain(value)
        else:
            self._invoke(self._function.invoke, (value,), None if stamp is None else (stamp,))

    def _invoke(self, invoke: Callable[..., None], values: Any, timestamps: Timestamps) -> None:
        context = self._context
        context.watermark = self.current_watermark
        if timestamps is None:
            context.time = None
            for value in values:
                invoke(value, context)
            return
        times = iter(timestamps)
        for value in values:
            context.time = next(times)
            invoke(value, context)

    def watermark(self, timestamp: int) -> None:
        """Tell the function of time, and of the end of the input."""
        super().watermark(timestamp)
        self._life.watermark(timestamp)

    def close(self) -> None:
        """Close the function."""
        self._life.close()


class TransactionOperator(SinkOperator):
    """A `TwoPhaseCommitSinkFunction`: its transactions are the committables."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, FunctionSinkSpec)
        self._function: TwoPhaseCommitSinkFunction = desc.spec.function
        self._life = _Life(self._function, desc, task)

    def open(self) -> None:
        """Open the function."""
        self._life.open()

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        """A writer that is one transaction of the function."""
        return _Transaction(self._function, _Context(self.task.clock), self)

    def watermark(self, timestamp: int) -> None:
        """Tell the function of time, and of the end of the input."""
        super().watermark(timestamp)
        self._life.watermark(timestamp)

    def close(self) -> None:
        """Abort a transaction that is still open, and close the function."""
        super().close()
        self._life.close()


class _Transaction(SinkWriter):
    """One transaction of the function."""

    def __init__(self, function: TwoPhaseCommitSinkFunction, context: _Context, operator: Operator) -> None:
        self._function, self._context, self._operator = function, context, operator
        self._handle = function.begin_transaction()
        self._prepared = False

    def write(self, value: Record, timestamp: int | None) -> None:
        self._context.time = timestamp
        self._context.watermark = self._operator.current_watermark
        self._function.invoke(self._handle, value, self._context)

    def prepare_commit(self) -> Records:
        self._function.pre_commit(self._handle)
        self._prepared = True
        return [self._handle]

    def close(self) -> None:
        if not self._prepared:
            self._function.abort(self._handle)
