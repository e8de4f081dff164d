"""What users do with matches. A match is a dict: name of a pattern → the events it took, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic

from penstock.core.functions.base import Emitted, Function
from penstock.core.program.output_tag import OutputTag
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, OUT, T

__all__ = [
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]


class PatternProcessFunction(Function, Generic[IN, OUT]):
    """Called with every match. Mix in `TimedOutPartialMatchHandler` to see those that ran out of time."""

    class Context(ABC):
        """Given to `process_match` and `process_timed_out_match`; valid during the call only."""

        @abstractmethod
        def timestamp(self) -> int:
            """When the match was complete, or ran out of time."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None:
            """Emit a value to a side output, as `yield tag, value` does."""

    @abstractmethod
    def process_match(self, match: dict[str, list[IN]], ctx: PatternProcessFunction.Context) -> Emitted[OUT]:
        """Yield what is to be emitted."""


class TimedOutPartialMatchHandler(Subscriptable, ABC, Generic[IN]):
    """For a `PatternProcessFunction` that wants the partial matches that ran out of time (`within`)."""

    @abstractmethod
    def process_timed_out_match(
        self, match: dict[str, list[IN]], ctx: PatternProcessFunction.Context
    ) -> Iterable[object] | None:
        """Send to side outputs, by `ctx.output(tag, value)` or by yielding `(tag, value)`."""


class PatternSelectFunction(Function, Generic[IN, OUT]):
    """One record for every match."""

    @abstractmethod
    def select(self, pattern: dict[str, list[IN]]) -> OUT:
        """Called for each match with its events by stage; returns one result."""


class PatternFlatSelectFunction(Function, Generic[IN, OUT]):
    """Any number of records for every match."""

    @abstractmethod
    def flat_select(self, pattern: dict[str, list[IN]]) -> Iterable[OUT] | None:
        """Called for each match with its events by stage; returns or yields any number of results."""


class PatternTimeoutFunction(Function, Generic[IN, OUT]):
    """One record for every partial match that ran out of time."""

    @abstractmethod
    def timeout(self, pattern: dict[str, list[IN]], timeout_timestamp: int) -> OUT:
        """Called for a partial match that ran out of time, with its events so far; returns what goes to the side
        output.
        """


class PatternFlatTimeoutFunction(Function, Generic[IN, OUT]):
    """Any number of records for every partial match that ran out of time."""

    @abstractmethod
    def timeout(self, pattern: dict[str, list[IN]], timeout_timestamp: int) -> Iterable[OUT] | None:
        """Called for a partial match that ran out of time, with its events so far; returns or yields what goes to the
        side output.
        """
