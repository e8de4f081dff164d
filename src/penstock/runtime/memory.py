"""Giving memory back to the operating system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

__all__ = ["give_back"]


def _find_trim() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`; other C libraries have none, and need none."""
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim


_TRIM = _find_trim()


def give_back() -> None:
    """Return free pages that lie between used ones: after much has been freed, a process else keeps its peak size."""
    if _TRIM is not None:
        _TRIM(0)
