"""Numbers and names that PyFlink keeps in modules of their own."""

from __future__ import annotations

from enum import Enum

__all__ = ["DEFAULT_OUTPUT_TAG", "MAX_LONG_VALUE", "MIN_LONG_VALUE", "InputDependencyConstraint"]

MAX_LONG_VALUE = 2**63 - 1
MIN_LONG_VALUE = -(2**63)
DEFAULT_OUTPUT_TAG = ""


class InputDependencyConstraint(Enum):
    """When a task may be scheduled. Nothing takes one any more, in PyFlink 2.3 as here."""

    ANY = 0
    ALL = 1
