"""Turns what users pass (lambdas, functions, function classes) into specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.core.functions import (
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ReduceFunction,
    RuntimeContext,
)
from penstock.core.specs import TransformSpec
from penstock.core.state import ReducingStateDescriptor

__all__ = ["KeyedTransform", "RollingReduce", "as_call", "transform_spec"]

_METHODS: dict[str, tuple[type, str]] = {
    "map": (MapFunction, "map"),
    "flat_map": (FlatMapFunction, "flat_map"),
    "filter": (FilterFunction, "filter"),
    "key_by": (KeySelector, "get_key"),
    "partition_custom": (Partitioner, "partition"),
    "reduce": (ReduceFunction, "reduce"),
}


def as_call(operation: str, function: Any) -> Callable[..., Any]:
    """The plain callable behind what was passed to `operation`."""
    expected, method = _METHODS[operation]
    if isinstance(function, expected):
        bound: Callable[..., Any] = getattr(function, method)
        return bound
    if isinstance(function, Function) or not callable(function):
        raise TypeError(f"{operation}() takes a function or a {expected.__name__}, got {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def transform_spec(operation: str, function: Any) -> TransformSpec:
    """The spec of a `map`, `flat_map` or `filter`."""
    return TransformSpec(operation, as_call(operation, function), function if isinstance(function, Function) else None)


class KeyedTransform(KeyedProcessFunction):
    """A rich `map`, `flat_map` or `filter` after `key_by`: may use keyed state (O1)."""

    def __init__(self, operation: str, function: Function) -> None:
        self._operation = operation
        self._function = function
        self._call = as_call(operation, function)

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None:
        result = self._call(value)
        if self._operation == "map":
            return (result,)
        if self._operation == "filter":
            return (value,) if result else None
        iterable: Iterable[Any] | None = result
        return iterable


class RollingReduce(KeyedProcessFunction):
    """Updates and emits per record; the first record of a key is its own accumulator (O2)."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._call = as_call("reduce", function)
        self._state: Any = None

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self._function, Function):
            self._function.open(runtime_context)
        self._state = runtime_context.get_reducing_state(ReducingStateDescriptor("_reduce", self._call))

    def close(self) -> None:
        if isinstance(self._function, Function):
            self._function.close()

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        return (self._state.fold(value),)
