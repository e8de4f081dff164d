"""The contract of a replayable source.

A source is cut into splits; a position in a split is a small JSON value. Whatever lies between two
positions is read again identically, however often it is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from penstock.core.time.spans import MAX_WATERMARK
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import T_co

__all__ = ["ACTIVE", "IDLE", "Lag", "MarkedBatch", "Notice", "Position", "ReadBatch", "Source", "SourceClock"]

IDLE, ACTIVE = MAX_WATERMARK + 1, MAX_WATERMARK + 2
"""Marks beyond every watermark: from here on the split is idle, or active again."""


class MarkedBatch(NamedTuple):
    """Records with watermarks of the source's own between them.

    `marks`: (how many of these records come before it, watermark or IDLE or ACTIVE), in order.
    """

    values: list[Any]
    timestamps: list[Any] | None
    marks: list[tuple[int, int]]


ReadBatch = tuple[list[Any], list[Any] | None] | MarkedBatch
"""Values, and their timestamps (an int, or None for a record without) if the source attaches any."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a split: `at` is the source's own JSON value; `ended` says that nothing will follow."""

    at: Any
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        """For the offset log."""
        return {"at": self.at, "ended": self.ended}

    @staticmethod
    def from_json(data: dict[str, object]) -> Position:
        """Back from the offset log."""
        return Position(data["at"], bool(data["ended"]))


@dataclass(frozen=True, slots=True)
class SourceClock:
    """Given to a source when a batch is planned: the processing time, and when the job began."""

    now_ms: int
    started_ms: int


class Lag(NamedTuple):
    """How far a reader is behind what there is to read; None where the source cannot tell."""

    records: int | None = None
    ms: int | None = None


class Notice(NamedTuple):
    """A message of a source to its user. `counted_as` names the counter of the source that counts it."""

    text: str
    counted_as: str | None = None


class Source(Subscriptable, ABC, Generic[T_co]):
    """Describes a source; picklable. Methods but `read` run on the driver, `read` in workers."""

    bounded: bool = True
    replayable: bool = True
    """Whether what lies between two positions can be read again; else a path from here is at-most-once."""
    moving_start: bool = False
    """Whether `initial` depends on the moment: then a job's first batch only notes what it says."""
    positionable: bool = True
    """Whether a job can be started from a savepoint with this source standing where it stood."""

    emits_watermarks: bool = True
    """Whether it may emit watermarks of its own. False: without a strategy, event time stands still."""

    @abstractmethod
    def split_count(self, parallelism: int, one_batch: bool) -> int:
        """How many splits, hence channels, there are. `one_batch`: everything will be read at once."""

    def split_parallelism(self, parallelism: int) -> int:
        """The parallelism the source can use of what is offered."""
        return parallelism

    @abstractmethod
    def initial(self, split: int, splits: int) -> Position:
        """Where a split starts."""

    @abstractmethod
    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        """How far the split may be read now: at most `limit` records beyond `start` (a guide, not a law).

        `base` is where this run of the job began to read. A result equal to `start` means: nothing new.
        """

    def lag(self, split: int, splits: int, at: Position, base: Position, clock: SourceClock) -> Lag:
        """How much will be left to read when the split has been read up to a position."""
        return Lag()

    def notices(self, end: Position) -> list[Notice]:
        """Messages to the user from planning the batch that ends at a position. Called in workers, beside `read`."""
        return []

    @abstractmethod
    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        """Records from `start` to `end`; without `end`, all there are."""
