"""The interval of an interval join, as each side sees it."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.core.program.output_tag import OutputTag
from penstock.core.time.spans import MAX_TIMESTAMP

__all__ = ["IntervalSide"]


@dataclass(frozen=True, slots=True)
class IntervalSide:
    """One input: `ts + first … ts + last` of the other side match a record of it.

    `outer`: records that nothing matched are emitted too. `late` names the side output of late records.

    >>> IntervalSide(-5, 5).over(10)
    16
    """

    first: int
    last: int
    outer: bool = False
    late: OutputTag | None = None

    def over(self, timestamp: int) -> int:
        """When nothing can match a record any more: the watermark is past the end of its interval."""
        return min(timestamp + self.last + 1, MAX_TIMESTAMP)

    def expired(self, clock: int) -> int:
        """Records before this timestamp match nothing any more; at the end of time none does."""
        return clock - self.last if clock < MAX_TIMESTAMP else clock + 1
