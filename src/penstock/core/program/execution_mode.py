"""Whether a program runs with streaming or batch semantics."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """STREAMING; BATCH; AUTOMATIC: batch if all sources are bounded.

    >>> RuntimeExecutionMode["BATCH"].value
    1
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2
