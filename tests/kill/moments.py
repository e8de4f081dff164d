"""Moments in the life of a batch, and pauses that make them long enough to be hit by a kill.

A pause is asked for by the environment, `PENSTOCK_TEST_PAUSES="prepared=0.5:0.2"`: up to half a second, one
time in five. Nothing of this is in the product: the pauses are in the sinks and functions of the test's job.
"""

from __future__ import annotations

import os
import random
import time
from enum import StrEnum

__all__ = ["PAUSES", "Moment", "pause", "spell"]

PAUSES = "PENSTOCK_TEST_PAUSES"


class Moment(StrEnum):
    """The last thing that has happened."""

    OFFSET_WRITTEN = "offset-written"
    PREPARED = "prepared"
    STATE_WRITTEN = "state-written"
    COMMITTED = "committed"
    SINK_COMMITTED = "sink-committed"


def spell(moment: Moment, seconds: float, chance: float) -> str:
    """The environment's value that asks for a pause."""
    return f"{moment}={seconds}:{chance}"


def pause(moment: Moment) -> None:
    """Sleep if the environment asks for it."""
    name, _, amount = os.environ.get(PAUSES, "").partition("=")
    if name != moment:
        return
    seconds, chance = map(float, amount.split(":"))
    if random.random() < chance:
        time.sleep(random.uniform(0.2, 1.0) * seconds)
