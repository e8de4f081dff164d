"""How hard property tests try: `make check` takes a quarter of the examples, `thorough` twenty times as many."""

import os

__all__ = ["PROFILE", "examples"]

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
_SHARES = {"check": 0.25, "default": 1.0, "thorough": 20.0}


def examples(number: int) -> int:
    """How many examples a test tries that takes `number` of them by default."""
    return max(5, round(number * _SHARES[PROFILE]))
