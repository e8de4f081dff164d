"""Records that leave with a timestamp of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Stamped"]


class Stamped(NamedTuple):
    """Yielded by functions of ours on streams with timestamps: `value` leaves with this one, not the input's.

    >>> Stamped("pair", 7).timestamp
    7
    """

    value: Any
    timestamp: int
