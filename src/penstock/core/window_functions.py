"""Functions that are given whole windows (W5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from penstock.core.functions import Function, KeyedStateStore
from penstock.core.output_tag import OutputTag
from penstock.core.subscript import Subscriptable

__all__ = [
    "AllWindowFunction",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "WindowFunction",
]


class WindowFunction(Function):
    """Given the records (or the one aggregate) of a window of a key."""

    @abstractmethod
    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any] | None: ...


class AllWindowFunction(Function):
    """Given the records of a window of everything."""

    @abstractmethod
    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any] | None: ...


class _WindowContext(Subscriptable, ABC):
    """What a process function on windows may ask; valid during the call only."""

    @abstractmethod
    def window(self) -> Any: ...
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
    def output(self, output_tag: OutputTag, value: Any) -> None: ...


class ProcessWindowFunction(Function):
    """Given the records (or the one aggregate) of a window of a key, with times, state and side outputs."""

    class Context(_WindowContext):
        """Given to `process` and `clear`."""

    @abstractmethod
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any] | None: ...

    def clear(self, context: Any) -> None:
        """Called when the window ends: clear what `window_state` holds."""


class ProcessAllWindowFunction(Function):
    """The same on a stream that is not keyed."""

    class Context(_WindowContext):
        """Given to `process` and `clear`."""

    @abstractmethod
    def process(self, context: Any, elements: Iterable[Any]) -> Iterable[Any] | None: ...

    def clear(self, context: Any) -> None:
        """Called when the window ends: clear what `window_state` holds."""


class PassThroughWindowFunction(WindowFunction):
    """Hands on what it is given."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction):
    """Hands on what it is given."""

    def apply(self, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        return inputs
