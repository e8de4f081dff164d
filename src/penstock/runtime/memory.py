"""How a worker handles its memory: giving it back to the operating system, looking for cycles seldom."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable

__all__ = ["raise_gc_threshold", "trim_memory"]


def _find_trim() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; other C libraries have none, and need none."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim


_TRIM = _find_trim()


def trim_memory() -> None:
    """Return free memory to the operating system: otherwise a process keeps its peak size after much has been freed."""
    if _TRIM is not None:
        _TRIM(0)


def raise_gc_threshold() -> None:
    """Raise the threshold of the cycle collector: chunks are thousands of small tuples, and it would take a third of
    the time."""
    gc.set_threshold(50_000, 20, 20)
