"""The heaviest keys of a subtask, counted in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import Any

from penstock.runtime.list_keys import shown

__all__ = ["HeavyKeys"]


class HeavyKeys:
    """Counts per key for at most `capacity` keys. The true count of a key lies between `count` and `count + error`.

    When there are too many keys, the count of the first key that has to go is subtracted from all: such summaries can
    be merged. Keys with more than one in `capacity` of all records are never lost.

    >>> heavy = HeavyKeys(2)
    >>> heavy.count("aaabcaa")
    >>> heavy.top(1)
    [('a', 4, 1)]
    """

    def __init__(self, capacity: int, counts: dict[object, int] | None = None, error: int = 0) -> None:
        self._capacity = capacity
        self.counts: Counter[Any] = Counter(counts or {})
        self.error = error

    def count(self, keys: Iterable[object]) -> None:
        """Count records by their keys."""
        self.counts.update(keys)
        self._trim()

    def merge(self, counts: dict[object, int], error: int) -> None:
        """Take in another summary."""
        self.counts.update(counts)
        self.error += error
        self._trim()

    def _trim(self) -> None:
        if len(self.counts) <= self._capacity:
            return
        least = nlargest(self._capacity + 1, self.counts.values())[-1]
        self.counts = Counter({key: n - least for key, n in self.counts.items() if n > least})
        self.error += least

    def top(self, number: int) -> list[tuple[object, int, int]]:
        """The heaviest keys with count and error, heaviest first."""
        return [(shown(key), count, self.error) for key, count in self.counts.most_common(number)]
