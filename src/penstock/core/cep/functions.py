"""What users do with matches (C2). A match is a dict: name of a pattern → the events it took, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from penstock.core.functions import Function
from penstock.core.output_tag import OutputTag

__all__ = [
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]


class PatternProcessFunction(Function):
    """Called with every match. Mix in `TimedOutPartialMatchHandler` to see those that ran out of time."""

    class Context(ABC):
        """Given to `process_match` and `process_timed_out_match`; valid during the call only."""

        @abstractmethod
        def timestamp(self) -> int:
            """When the match was complete, or ran out of time."""

        @abstractmethod
        def current_processing_time(self) -> int: ...
        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None: ...

    @abstractmethod
    def process_match(self, match: dict[str, list[Any]], ctx: Any) -> Iterable[Any] | None:
        """Yield what is to be emitted."""


class TimedOutPartialMatchHandler(ABC):
    """For a `PatternProcessFunction` that wants the partial matches that ran out of time (`within`)."""

    @abstractmethod
    def process_timed_out_match(self, match: dict[str, list[Any]], ctx: Any) -> Iterable[Any] | None:
        """Send to side outputs, by `ctx.output(tag, value)` or by yielding `(tag, value)`."""


class PatternSelectFunction(Function):
    """One record for every match."""

    @abstractmethod
    def select(self, pattern: dict[str, list[Any]]) -> Any: ...


class PatternFlatSelectFunction(Function):
    """Any number of records for every match."""

    @abstractmethod
    def flat_select(self, pattern: dict[str, list[Any]]) -> Iterable[Any] | None: ...


class PatternTimeoutFunction(Function):
    """One record for every partial match that ran out of time."""

    @abstractmethod
    def timeout(self, pattern: dict[str, list[Any]], timeout_timestamp: int) -> Any: ...


class PatternFlatTimeoutFunction(Function):
    """Any number of records for every partial match that ran out of time."""

    @abstractmethod
    def timeout(self, pattern: dict[str, list[Any]], timeout_timestamp: int) -> Iterable[Any] | None: ...
