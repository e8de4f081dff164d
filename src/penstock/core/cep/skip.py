"""What becomes of other matches once one has been found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.core.cep.errors import MatchError

__all__ = ["AfterMatchSkipStrategy", "SkipToElementStrategy"]

_Path = tuple[tuple[str, int], ...]
"""A match as (name, number of the event) from its first event to its last."""


@dataclass(frozen=True, slots=True)
class AfterMatchSkipStrategy:
    """Which partial and finished matches a match that is emitted makes void.

    With a strategy that skips, a finished match waits until no partial match that began earlier is left.

    >>> AfterMatchSkipStrategy.skip_to_last("b")
    skip_to_last('b')
    """

    kind: str

    @staticmethod
    def no_skip() -> AfterMatchSkipStrategy:
        """Every match is emitted."""
        return AfterMatchSkipStrategy("no_skip")

    @staticmethod
    def skip_to_next() -> AfterMatchSkipStrategy:
        """Void is what begins with the event with which the match begins."""
        return AfterMatchSkipStrategy("skip_to_next")

    @staticmethod
    def skip_past_last_event() -> AfterMatchSkipStrategy:
        """Void is what began after the match began and before it ended."""
        return AfterMatchSkipStrategy("skip_past_last_event")

    @staticmethod
    def skip_to_first(pattern_name: str) -> SkipToElementStrategy:
        """Void is what began before the first event that the match took under a name."""
        return SkipToElementStrategy("skip_to_first", pattern_name)

    @staticmethod
    def skip_to_last(pattern_name: str) -> SkipToElementStrategy:
        """Void is what began before the last event that the match took under a name."""
        return SkipToElementStrategy("skip_to_last", pattern_name)

    def is_skip_strategy(self) -> bool:
        """Whether any partial matches are dropped after a match."""
        return self.kind != "no_skip"

    def get_pattern_name(self) -> str | None:
        """The stage that SKIP_TO_FIRST and SKIP_TO_LAST name; None for the others."""
        return None

    def first_kept(self, path: _Path) -> int | None:
        """What began before the event of this number is void; None for nothing."""
        if self.kind == "no_skip":
            return None
        return path[0][1] + 1 if self.kind == "skip_to_next" else path[-1][1] + 1

    def __repr__(self) -> str:
        return f"{self.kind}()"


@dataclass(frozen=True, slots=True, repr=False)
class SkipToElementStrategy(AfterMatchSkipStrategy):
    """Skips to an event that the match took under a name; if it took none, nothing is void, or the job fails."""

    pattern_name: str
    throws: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.pattern_name, str):
            raise TypeError(f"{self.kind}() takes the name of a pattern, got {self.pattern_name!r}")

    def throw_exception_on_miss(self) -> SkipToElementStrategy:
        """Fail if the match took no event under the name, or if it is the one with which the match begins."""
        return SkipToElementStrategy(self.kind, self.pattern_name, True)

    def get_pattern_name(self) -> str | None:
        return self.pattern_name

    def first_kept(self, path: _Path) -> int | None:
        taken = [number for name, number in path if name == self.pattern_name]
        if not taken:
            self._miss(f"it has no event of that name: {_shown(path)}")
            return None
        kept = taken[0] if self.kind == "skip_to_first" else taken[-1]
        if self.throws and kept == path[0][1]:
            self._miss(f"the match begins with it, the same would be found again: {_shown(path)}")
        return kept

    def _miss(self, why: str) -> None:
        if self.throws:
            raise MatchError(f"cannot {self.kind}({self.pattern_name!r}) in a match: {why}")

    def __repr__(self) -> str:
        return f"{self.kind}({self.pattern_name!r})"


def _shown(path: Any) -> str:
    return " ".join(name for name, _ in path)
