"""Exchange strategies: how records travel from the subtasks of one operator to those of the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Broadcast",
    "Custom",
    "Exchange",
    "Forward",
    "Global",
    "Hash",
    "Rebalance",
    "Rescale",
    "Shuffle",
]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Base; `arrow` is how plans print it."""

    @property
    def arrow(self) -> str:
        """The word on the arrow in plans and drawings."""
        return type(self).__name__.upper()


@dataclass(frozen=True, slots=True)
class Forward(Exchange):
    """Subtask i to subtask i."""


@dataclass(frozen=True, slots=True)
class Rebalance(Exchange):
    """Round robin over all receivers."""


@dataclass(frozen=True, slots=True)
class Rescale(Exchange):
    """Round robin over the receivers near the sender."""


@dataclass(frozen=True, slots=True)
class Shuffle(Exchange):
    """Pseudo-random, seeded by batch and channel so that a retry repeats itself."""


@dataclass(frozen=True, slots=True)
class Broadcast(Exchange):
    """To every receiver."""


@dataclass(frozen=True, slots=True)
class Global(Exchange):
    """To the first receiver."""


@dataclass(frozen=True, slots=True)
class Hash(Exchange):
    """By key: equal keys, equal route."""

    selector: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Custom(Exchange):
    """By the user's partitioner."""

    partitioner: Callable[[Any, int], int]
    selector: Callable[[Any], Any]
