"""Accumulators: results beside the stream, merged over all subtasks.

A subtask's accumulator holds what its current batch added; the driver merges those of committed
batches, so a batch that is tried twice counts once. After a restart of the driver they start over.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

__all__ = [
    "Accumulator",
    "AverageAccumulator",
    "DoubleCounter",
    "DoubleMaximum",
    "DoubleMinimum",
    "Histogram",
    "IntCounter",
    "IntMaximum",
    "IntMinimum",
    "ListAccumulator",
    "LongCounter",
    "LongMaximum",
    "LongMinimum",
]

T = TypeVar("T")
N = TypeVar("N", int, float)
V = TypeVar("V")
R = TypeVar("R")


class Accumulator(ABC, Generic[V, R]):
    """Takes values in subtasks and is merged on the driver; picklable."""

    @abstractmethod
    def add(self, value: V) -> None:
        """Add a value."""

    @abstractmethod
    def get_local_value(self) -> R:
        """The result of the values that were added in this subtask."""

    @abstractmethod
    def reset_local(self) -> None:
        """Back to what it was when new."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take in what another accumulator of this kind holds."""

    def clone(self) -> Self:
        """A copy that further values of this one do not change."""
        return copy.deepcopy(self)


class _Sum(Accumulator[N, N]):
    zero: N

    def __init__(self, value: N | None = None) -> None:
        self._value: N = self.zero if value is None else value

    def add(self, value: N) -> None:
        self._value += value

    def get_local_value(self) -> N:
        return self._value

    def reset_local(self) -> None:
        self._value = self.zero

    def merge(self, other: Self) -> None:
        self._value += other._value


class IntCounter(_Sum[int]):
    """A sum of whole numbers.

    >>> counter = IntCounter()
    >>> counter.add(2)
    >>> counter.get_local_value()
    2
    """

    zero = 0


class LongCounter(_Sum[int]):
    """A sum of whole numbers."""

    zero = 0


class DoubleCounter(_Sum[float]):
    """A sum of floats."""

    zero = 0.0


class _Extreme(Accumulator[N, N | None]):
    choose: Callable[..., Any] = max

    def __init__(self, value: N | None = None) -> None:
        self._value: N | None = value

    def add(self, value: N) -> None:
        self._value = value if self._value is None else type(self).choose(self._value, value)

    def get_local_value(self) -> N | None:
        return self._value

    def reset_local(self) -> None:
        self._value = None

    def merge(self, other: Self) -> None:
        if other._value is not None:
            self.add(other._value)


class IntMaximum(_Extreme[int]):
    """The largest number added; None if none was."""


class LongMaximum(_Extreme[int]):
    """The largest number added; None if none was."""


class DoubleMaximum(_Extreme[float]):
    """The largest number added; None if none was."""


class IntMinimum(_Extreme[int]):
    """The smallest number added; None if none was."""

    choose = min


class LongMinimum(_Extreme[int]):
    """The smallest number added; None if none was."""

    choose = min


class DoubleMinimum(_Extreme[float]):
    """The smallest number added; None if none was."""

    choose = min


class AverageAccumulator(Accumulator[float, float]):
    """The mean of what was added; 0.0 of nothing."""

    def __init__(self) -> None:
        self.reset_local()

    def add(self, value: float) -> None:
        """Add a number."""
        self._count += 1
        self._sum += value

    def get_local_value(self) -> float:
        """The mean of the numbers so far; 0.0 before the first."""
        return self._sum / self._count if self._count else 0.0

    def reset_local(self) -> None:
        self._count, self._sum = 0, 0.0

    def merge(self, other: Self) -> None:
        self._count += other._count
        self._sum += other._sum


class ListAccumulator(Accumulator[T, list[T]]):
    """Everything that was added. All of it ends up in the driver's memory."""

    def __init__(self) -> None:
        self._items: list[T] = []

    def add(self, value: T) -> None:
        """Append a value."""
        self._items.append(value)

    def get_local_value(self) -> list[T]:
        """The values in the order in which they were added."""
        return list(self._items)

    def reset_local(self) -> None:
        self._items = []

    def merge(self, other: Self) -> None:
        self._items.extend(other._items)


class Histogram(Accumulator[int, dict[int, int]]):
    """How often each number was added, in order of number."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, value: int) -> None:
        """Count a whole number once more."""
        self._counts[value] += 1

    def get_local_value(self) -> dict[int, int]:
        """How often each number was added."""
        return dict(sorted(self._counts.items()))

    def reset_local(self) -> None:
        self._counts = Counter()

    def merge(self, other: Self) -> None:
        self._counts.update(other._counts)
