"""Moments in the life of a batch, and pauses that make them long enough to be hit by a kill.

A pause is asked for by a file that the environment names: `prepared=0.5:0.2` in it means up to half a second, one
time in five. While somebody pauses there is a second file, so that a kill can be aimed. Nothing of this is in the
product: the pauses are in the sinks and functions of the test's job.
"""

from __future__ import annotations

import os
import random
import time
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

__all__ = ["PAUSES", "Aim", "Moment", "pause"]

PAUSES = "PENSTOCK_TEST_PAUSES"


class Moment(StrEnum):
    """The last thing that has happened."""

    OFFSET_WRITTEN = "offset-written"
    PREPARED = "prepared"
    STATE_WRITTEN = "state-written"
    COMMITTED = "committed"
    ROWS_WRITTEN = "rows-written"
    """In a database, by a transaction that is not committed."""
    SINK_COMMITTED = "sink-committed"


class Aim:
    """The killer's side: which moment is stretched, and whether somebody is in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pauses"
        self._pausing = _pausing(self.path)

    def at(self, moment: Moment | None, seconds: float = 0.8, chance: float = 0.7) -> None:
        """Stretch a moment from now on, or none."""
        fresh = self.path.with_suffix(".new")
        fresh.write_text(f"{moment}={seconds}:{chance}" if moment is not None else "")
        fresh.rename(self.path)
        self._pausing.unlink(missing_ok=True)

    @property
    def reached(self) -> bool:
        return self._pausing.exists()


def _pausing(path: Path) -> Path:
    return path.with_suffix(".now")


def pause(moment: Moment) -> None:
    """Sleep if the file asks for it."""
    path = Path(os.environ.get(PAUSES, "/nowhere"))
    try:
        name, _, amount = path.read_text().partition("=")
    except OSError:
        return
    if name != moment:
        return
    seconds, chance = map(float, amount.split(":"))
    if random.random() < chance:
        with suppress(OSError):
            _pausing(path).touch()
        time.sleep(random.uniform(0.2, 1.0) * seconds)
        _pausing(path).unlink(missing_ok=True)
