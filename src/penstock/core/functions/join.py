"""Functions that join the records of two streams, and what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple

from penstock.core.functions.base import Emitted, Function
from penstock.core.program.output_tag import OutputTag
from penstock.core.types.type_variables import IN1, IN2, OUT, T

__all__ = ["CoGroupFunction", "FlatJoinFunction", "JoinFunction", "ProcessJoinFunction", "TaggedUnion"]


class TaggedUnion(NamedTuple):
    """A record of a window join with the side it comes from: what assigners, triggers and evictors see of it.

    >>> TaggedUnion.two("r").is_two(), TaggedUnion.two("r").get_one()
    (True, None)
    """

    side: int
    value: Any

    @classmethod
    def one(cls, value: object) -> TaggedUnion:
        """A record of the first input."""
        return cls(0, value)

    @classmethod
    def two(cls, value: object) -> TaggedUnion:
        """A record of the second input."""
        return cls(1, value)

    def is_one(self) -> bool:
        """Whether the record came from the first input."""
        return self.side == 0

    def is_two(self) -> bool:
        """Whether the record came from the second input."""
        return self.side == 1

    def get_one(self) -> Any:
        """The record if it is one of the first stream, else None."""
        return self.value if self.side == 0 else None

    def get_two(self) -> Any:
        """The record if it is one of the second stream, else None."""
        return self.value if self.side == 1 else None


class JoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Makes one record of each pair.

    >>> class Priced(JoinFunction):
    ...     def join(self, first, second): return (*first, second[1])
    >>> Priced().join(("apple", 3), ("apple", 0.5))
    ('apple', 3, 0.5)
    """

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> OUT:
        """Called for each pair with the same key in the same window; returns the joined record."""


class FlatJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Makes any number of records of each pair: yield them or return an iterable.

    >>> class Both(FlatJoinFunction):
    ...     def join(self, first, second): yield from (first, second)
    >>> list(Both().join(1, 2))
    [1, 2]
    """

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> Iterable[OUT] | None:
        """Called for each pair with the same key in the same window; returns or yields any number of records."""


class CoGroupFunction(Function, Generic[IN1, IN2, OUT]):
    """Given all records of a key and window at once, those of each side in a list; one of them may be empty.

    >>> class Counted(CoGroupFunction):
    ...     def co_group(self, first, second): yield len(first), len(second)
    >>> list(Counted().co_group(["a"], []))
    [(1, 0)]
    """

    @abstractmethod
    def co_group(self, first: Sequence[IN1], second: Sequence[IN2]) -> Iterable[OUT] | None:
        """Called once for each key and window with the records of both sides, one of which may be empty."""


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Given each pair of an interval join; in an outer join also records that nothing matched, with None beside them.

    >>> class Delay(ProcessJoinFunction):
    ...     def process_element(self, left, right, ctx):
    ...         yield left, ctx.get_right_timestamp() - ctx.get_left_timestamp()
    """

    class Context(ABC):
        """Valid during the call only."""

        @abstractmethod
        def get_left_timestamp(self) -> int | None:
            """None if there is no left record."""

        @abstractmethod
        def get_right_timestamp(self) -> int | None:
            """None if there is no right record."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """The timestamp of the results: the larger of the two, or the time at which the wait for a match ended."""

        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None:
            """Emit a value to a side output, as `yield tag, value` does."""

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: ProcessJoinFunction.Context) -> Emitted[OUT]:
        """Called for each pair of records that match; yields results."""
