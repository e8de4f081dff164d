"""What a test of an example needs: its input, its pipeline, and what must come out by a computation of another kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Case", "Results", "histories", "with_watermarks"]

Results = dict[str, list[Any]]


@dataclass(frozen=True)
class Case:
    """`build` makes named streams of the inputs' streams; `expected` must come out, in any order.

    `settle` drops what is replaced by a later result, where an example sends corrections.
    """

    example: str
    inputs: Callable[[], list[list[Any]]]
    build: Callable[..., dict[str, Any]]
    expected: Callable[..., Results]
    settle: Callable[[list[Any]], list[Any]] = list
    at_least: int = 3

    def outcome(self, results: Results) -> Results:
        """Results in a form that can be compared."""
        return {name: sorted(self.settle(values), key=repr) for name, values in results.items() if values}


def histories(events: list[Any], key: str) -> dict[Any, list[Any]]:
    """Events in the order of their time, by key."""
    found: dict[Any, list[Any]] = defaultdict(list)
    for event in sorted(events, key=lambda e: e.at_ms):
        found[getattr(event, key)].append(event)
    return found


def with_watermarks(moments: list[int], delay_ms: int) -> Iterator[int]:
    """For each record the watermark that stood when it came, if there is one after every record (T3)."""
    newest = None
    for at_ms in moments:
        yield -(2**63) if newest is None else newest - delay_ms - 1
        newest = at_ms if newest is None else max(newest, at_ms)
