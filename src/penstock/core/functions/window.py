"""Functions that are given whole windows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic

from penstock.core.functions.base import Emitted, Function, KeyedStateStore
from penstock.core.program.output_tag import OutputTag
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, KEY, OUT, CurrentWindow, T, W

__all__ = [
    "AllWindowFunction",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "WindowFunction",
]


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Given the records (or the one aggregate) of a window of a key."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Emitted[OUT]:
        """Called when a window of a key fires, with all its records; returns or yields results."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Given the records of a window of everything."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Emitted[OUT]:
        """Called when a window fires, with all its records; returns or yields results."""


class _WindowContext(Subscriptable, ABC, Generic[CurrentWindow]):
    """Given to a process function on windows; valid during the call only."""

    @abstractmethod
    def window(self) -> CurrentWindow: ...
    @abstractmethod
    def current_processing_time(self) -> int: ...
    @abstractmethod
    def current_watermark(self) -> int: ...
    @abstractmethod
    def window_state(self) -> KeyedStateStore:
        """State of this key and window; to be cleared in `clear`."""

    @abstractmethod
    def global_state(self) -> KeyedStateStore:
        """State of this key, shared by all its windows."""

    @abstractmethod
    def output(self, output_tag: OutputTag[T], value: T) -> None: ...


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Given the records (or the one aggregate) of a window of a key, with times, state and side outputs."""

    class Context(_WindowContext[CurrentWindow]):
        """Given to `process` and `clear`."""

    @abstractmethod
    def process(self, key: KEY, context: ProcessWindowFunction.Context[W], elements: Iterable[IN]) -> Emitted[OUT]:
        """Called when a window of a key fires, with all its records, or with the one result of the function that went
        before.
        """

    def clear(self, context: ProcessWindowFunction.Context[W]) -> None:
        """Called when the window ends: clear what `window_state` holds."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """The same on a stream that is not keyed."""

    class Context(_WindowContext[CurrentWindow]):
        """Given to `process` and `clear`."""

    @abstractmethod
    def process(self, context: ProcessAllWindowFunction.Context[W], elements: Iterable[IN]) -> Emitted[OUT]:
        """Called when a window fires, with all its records, or with the one result of the function that went before."""

    def clear(self, context: ProcessAllWindowFunction.Context[W]) -> None:
        """Called when the window ends: clear what `window_state` holds."""


class PassThroughWindowFunction(WindowFunction[T, T, object, object]):
    """Hands on what it is given."""

    def apply(self, key: object, window: object, inputs: Iterable[T]) -> Iterable[T]:
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[T, T, object]):
    """Hands on what it is given."""

    def apply(self, window: object, inputs: Iterable[T]) -> Iterable[T]:
        return inputs
