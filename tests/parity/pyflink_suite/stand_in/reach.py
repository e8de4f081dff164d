"""How a test that crosses the edge of Penstock ends."""

from __future__ import annotations


class OutOfReach(BaseException):
    """A test went where Penstock has nothing. Not an Exception: no `assertRaises(Exception)` may take it."""
