"""How hard property tests try: `make check` takes a tenth of the examples, `thorough` twenty times as many."""

import os
from collections.abc import Sequence
from typing import Any

__all__ = ["HANG_MS", "HANG_S", "PROFILE", "examples", "some"]

HANG_S = 1_800
"""When something that a test waits for is taken to hang. Never how long it may take: a machine may be very busy."""
HANG_MS = HANG_S * 1000

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
_SHARES = {"check": 0.1, "default": 1.0, "thorough": 20.0}


def examples(number: int) -> int:
    """How many examples a test tries that takes `number` of them by default."""
    return max(5, round(number * _SHARES[PROFILE]))


def some(values: Sequence[Any], number: int) -> Sequence[Any]:
    """All of them; in `make check` so many, evenly spaced, from the middle if it is one."""
    if PROFILE != "check" or number >= len(values):
        return values
    step = len(values) / number
    return [values[int(step * place + step / 2)] for place in range(number)]
