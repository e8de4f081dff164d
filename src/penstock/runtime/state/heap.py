"""A heap whose entries may go stale without being removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappush
from typing import Any

__all__ = ["SweptHeap"]

_SLACK = 256


class SweptHeap(list[Any]):
    """A heap that drops stale entries when it has grown to twice its size after the last sweep.

    >>> heap = SweptHeap(lambda entries: {e for e in entries if e % 2})
    >>> for number in range(1000):
    ...     heap.push(number % 100)
    >>> heap[0], len(heap) < 400
    (0, True)
    """

    def __init__(self, counting: Callable[[Iterable[Any]], Iterable[object]]) -> None:
        super().__init__()
        self._counting = counting
        self._limit = _SLACK

    def push(self, entry: object) -> None:
        """Add an entry; the heap is swept first if it has doubled since the last sweep."""
        if len(self) >= self._limit:
            self.sweep()
        heappush(self, entry)

    def sweep(self) -> None:
        """Drop stale entries, in place, since callers keep a reference to the heap."""
        self[:] = self._counting(self)
        heapify(self)
        self._limit = 2 * len(self) + _SLACK
