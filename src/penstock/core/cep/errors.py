"""What is wrong with a pattern or with a match."""

from __future__ import annotations

from penstock.core.errors import OperatorError, ProgramError

__all__ = ["MalformedPatternException", "MatchError"]


class MalformedPatternException(ProgramError):
    """A pattern that cannot be matched, refused when it is built."""


class MatchError(OperatorError):
    """A match that the pattern's skip strategy was told to fail on."""
