"""The guarantee that a path from a source to a sink can give."""

from __future__ import annotations

from enum import Enum, IntEnum

__all__ = ["Guarantee", "SinkKind"]


class Guarantee(IntEnum):
    """How often a record takes effect at a sink when something fails; a higher one includes the lower.

    >>> Guarantee.EXACTLY_ONCE > Guarantee.AT_LEAST_ONCE
    True
    >>> str(Guarantee.AT_MOST_ONCE)
    'at-most-once'
    """

    AT_MOST_ONCE = 0
    AT_LEAST_ONCE = 1
    EXACTLY_ONCE = 2

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


class SinkKind(Enum):
    """How a sink takes records: what it can give, and in which words."""

    SHOWN = (Guarantee.AT_MOST_ONCE, "shown once durable, and not again")
    """`print` and collected results: a driver that dies may not have shown its last batch."""
    PLAIN = (Guarantee.AT_LEAST_ONCE, "plain sink: a batch that failed is written again")
    WRITE_AHEAD = (Guarantee.AT_LEAST_ONCE, "write-ahead sink")
    IDEMPOTENT = (Guarantee.EXACTLY_ONCE, "idempotent sink")
    TWO_PHASE = (Guarantee.EXACTLY_ONCE, "two-phase sink")

    @property
    def best(self) -> Guarantee:
        """The guarantee of a path that begins with a source that can rewind."""
        return self.value[0]

    @property
    def reason(self) -> str:
        """The words that say why a sink of this kind gives its guarantee."""
        return self.value[1]
