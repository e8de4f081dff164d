"""Where a new job begins to read a source. A job that goes on from a checkpoint begins where that ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.core.errors import ProgramError

__all__ = ["StartingOffsets", "refuse_start"]


@dataclass(frozen=True, slots=True)
class StartingOffsets:
    """Earliest, latest, a past moment, or given offsets; given to a source's `start_from`.

    From there on the job reads what has come since as fast as it can, and then goes on live.

    >>> StartingOffsets.timestamp(1_700_000_000_000).kind
    'timestamp'
    """

    kind: str
    value: Any = None

    @staticmethod
    def earliest() -> StartingOffsets:
        """From the first record there is; the default."""
        return StartingOffsets("earliest")

    @staticmethod
    def latest() -> StartingOffsets:
        """Only what comes after the job has begun."""
        return StartingOffsets("latest")

    @staticmethod
    def timestamp(timestamp: int) -> StartingOffsets:
        """From the first record that is not older than a moment, in milliseconds since the epoch."""
        if type(timestamp) is not int:
            raise TypeError(f"StartingOffsets.timestamp() takes milliseconds as an int, got {type(timestamp).__name__}")
        return StartingOffsets("timestamp", timestamp)

    @staticmethod
    def offsets(offsets: object) -> StartingOffsets:
        """From given places: what an offset is, and whether there is one or one for each part, the source says."""
        return StartingOffsets("offsets", dict(offsets) if isinstance(offsets, Mapping) else offsets)


def refuse_start(source: str, start: StartingOffsets, known: str) -> ProgramError:
    """For a source that cannot begin as asked; `known` says how it can."""
    return ProgramError(f"{source} cannot start from {start.kind}: it starts from {known}")
