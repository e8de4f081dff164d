"""`SinkFunction`: called for each record as it comes, at-least-once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.core.clock import Clock
from penstock.core.job import ChainedOperator
from penstock.core.rich import RichFunction
from penstock.core.sink_function import SinkFunction
from penstock.core.specs import FunctionSinkSpec
from penstock.core.time import MAX_WATERMARK
from penstock.core.watermark import Watermark
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import NO_RECORD, last_taken, user_failure
from penstock.runtime.operators.base import Operator, Timestamps

__all__ = ["FunctionSinkOperator"]


class _Context(SinkFunction.Context):
    """One for all calls; what it answers changes from record to record."""

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


class FunctionSinkOperator(Operator):
    """A `SinkFunction`, or a plain function that is given the record alone."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, FunctionSinkSpec)
        function = desc.spec.function
        self._function: SinkFunction | None = function if isinstance(function, SinkFunction) else None
        self._plain: Callable[[Any], Any] = function
        self._context = _Context(task.clock)

    def open(self) -> None:
        if self._function is None:
            return
        context = LiveRuntimeContext(self.task, self.desc, keyed=False)
        if isinstance(self._function, RichFunction):
            self._function.set_runtime_context(context)
        self._function.open(context)

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        rest = iter(values)
        try:
            if self._function is None:
                for value in rest:
                    self._plain(value)
            else:
                self._invoke(self._function.invoke, rest, timestamps)
        except Exception as error:
            raise self._failed("The sink function", last_taken(values, rest), error) from error

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
        super().watermark(timestamp)
        if self._function is None:
            return
        try:
            self._function.write_watermark(Watermark(timestamp))
            if timestamp == MAX_WATERMARK:
                self._function.finish()
        except Exception as error:
            doing = "finish()" if timestamp == MAX_WATERMARK else "write_watermark()"
            raise self._failed(doing, NO_RECORD, error) from error

    def _failed(self, doing: str, record: Any, error: Exception) -> Exception:
        return user_failure(self.desc.name, self.desc.uid, doing, record, error)

    def close(self) -> None:
        if self._function is not None:
            self._function.close()
