"""`RichFunction`: a function that can ask for its runtime context at any time, not only in `open`, as in Java.

The `Rich…Function` classes are the older names that Java books use; every function of Penstock has `open` and `close`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from penstock.core.functions.asynchronous import AsyncFunction
from penstock.core.functions.base import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    MapFunction,
    ReduceFunction,
    RuntimeContext,
)
from penstock.core.functions.connected import CoFlatMapFunction, CoMapFunction
from penstock.core.functions.join import CoGroupFunction, FlatJoinFunction, JoinFunction
from penstock.core.functions.window import AllWindowFunction, WindowFunction
from penstock.core.types.type_variables import ACC, IN, IN1, IN2, KEY, OUT, T, W

__all__ = [
    "RichAggregateFunction",
    "RichAllWindowFunction",
    "RichAsyncFunction",
    "RichCoFlatMapFunction",
    "RichCoGroupFunction",
    "RichCoMapFunction",
    "RichFilterFunction",
    "RichFlatJoinFunction",
    "RichFlatMapFunction",
    "RichFunction",
    "RichJoinFunction",
    "RichMapFunction",
    "RichReduceFunction",
    "RichWindowFunction",
]


class RichFunction(Function):
    """Knows its `RuntimeContext` from before `open` until after `close`."""

    _runtime_context: RuntimeContext | None = None

    def __init_subclass__(cls, **options: object) -> None:
        """Whatever a subclass does in `open`, it knows its context by then, without a call of `super().open`."""
        super().__init_subclass__(**options)
        if "open" in vars(cls):
            type.__setattr__(cls, "open", _told_first(cls.open))

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called once in each subtask before the first record; keeps the context for `get_runtime_context`."""
        self.set_runtime_context(runtime_context)

    def set_runtime_context(self, runtime_context: RuntimeContext) -> None:
        """Called before `open`."""
        self._runtime_context = runtime_context

    def get_runtime_context(self) -> RuntimeContext:
        """Where this instance runs: which subtask, of how many."""
        if self._runtime_context is None:
            raise RuntimeError("The runtime context is known from open() on, not in the constructor")
        return self._runtime_context


def _told_first(open_: Callable[[Any, RuntimeContext], None]) -> Callable[[Any, RuntimeContext], None]:
    @wraps(open_)
    def told(self: RichFunction, runtime_context: RuntimeContext) -> None:
        self.set_runtime_context(runtime_context)
        open_(self, runtime_context)

    return told


class RichMapFunction(RichFunction, MapFunction[IN, OUT]):
    """A `MapFunction` that knows its runtime context.

    >>> class Label(RichMapFunction):
    ...     def map(self, value):
    ...         return f"{self.get_runtime_context().get_task_name()}: {value}"
    """


class RichFlatMapFunction(RichFunction, FlatMapFunction[IN, OUT]):
    """A `FlatMapFunction` that knows its runtime context."""


class RichFilterFunction(RichFunction, FilterFunction[IN]):
    """A `FilterFunction` that knows its runtime context."""


class RichReduceFunction(RichFunction, ReduceFunction[T]):
    """A `ReduceFunction` that knows its runtime context."""


class RichAggregateFunction(RichFunction, AggregateFunction[IN, ACC, OUT]):
    """An `AggregateFunction` that knows its runtime context."""


class RichCoMapFunction(RichFunction, CoMapFunction[IN1, IN2, OUT]):
    """A `CoMapFunction` that knows its runtime context."""


class RichCoFlatMapFunction(RichFunction, CoFlatMapFunction[IN1, IN2, OUT]):
    """A `CoFlatMapFunction` that knows its runtime context."""


class RichJoinFunction(RichFunction, JoinFunction[IN1, IN2, OUT]):
    """A `JoinFunction` that knows its runtime context."""


class RichFlatJoinFunction(RichFunction, FlatJoinFunction[IN1, IN2, OUT]):
    """A `FlatJoinFunction` that knows its runtime context."""


class RichCoGroupFunction(RichFunction, CoGroupFunction[IN1, IN2, OUT]):
    """A `CoGroupFunction` that knows its runtime context."""


class RichWindowFunction(RichFunction, WindowFunction[IN, OUT, KEY, W]):
    """A `WindowFunction` that knows its runtime context."""


class RichAllWindowFunction(RichFunction, AllWindowFunction[IN, OUT, W]):
    """An `AllWindowFunction` that knows its runtime context."""


class RichAsyncFunction(RichFunction, AsyncFunction[IN, OUT]):
    """An `AsyncFunction` that knows its runtime context."""
