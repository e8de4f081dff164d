"""Spark DataFrames as a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock
from penstock.core.errors import ProgramError
from penstock.core.types.row import Row

__all__ = ["DataFrameSource"]


class DataFrameSource(Source[Row]):
    """Rows of a DataFrame: one split, read by Spark itself in one task, in the frame's order.

    The frame stays on the driver; workers get a description without it. In a streaming job a batch frame is written
    down when the job starts, and read from there. `frame` may also be a function that
    makes the frame when the job starts.
    """

    positionable = False
    emits_watermarks = False

    def __init__(self, frame: object, bounded: bool) -> None:
        self._frame = frame
        self.bounded = bounded

    def make_frame(self) -> Any:
        """The frame; called on the driver when the job starts."""
        if isinstance(self._frame, _Lazy):
            self._frame = self._frame()
        return self._frame

    @staticmethod
    def when_started(make: Callable[[], object]) -> DataFrameSource:
        """A bounded frame that is made when the job starts."""
        return DataFrameSource(_Lazy(make), True)

    def __getstate__(self) -> dict[str, Any]:
        return {"_frame": None, "bounded": self.bounded}

    def split_parallelism(self, parallelism: int) -> int:
        return 1

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return 1

    def initial(self, split: int, splits: int) -> Position:
        raise ProgramError("A DataFrame is read by Spark: run the job on a Spark host, not on the local one")

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        raise ProgramError("A DataFrame is read by Spark: run the job on a Spark host, not on the local one")

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        raise ProgramError("A DataFrame is read by Spark: run the job on a Spark host, not on the local one")


class _Lazy:
    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __call__(self) -> object:
        return self._make()
