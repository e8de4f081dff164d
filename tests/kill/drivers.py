"""One process of the job in `tests/kill/shuffled.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.effort import HANG_S
from tests.kill.processes import below, kill, wait_for, wait_gone
from tests.kill.run import QUICK_JVM, ROOT

__all__ = ["PATIENCE", "Driver", "last"]

PATIENCE = float(HANG_S)


def last(folder: Path, log: str) -> int:
    """The number of the last batch in a log of the checkpoint, -1 if there is none."""
    found = folder / "checkpoint" / log
    return max((int(f.name) for f in found.iterdir() if f.name.isdigit()), default=-1) if found.is_dir() else -1


class Driver:
    """A running driver; what it says is in `log`."""

    def __init__(self, folder: Path, log: str = "log") -> None:
        self._log = folder / log
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.kill.shuffled", str(folder)],
                cwd=ROOT,
                env={**os.environ, **QUICK_JVM},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; the driver must not end meanwhile."""
        assert wait_for(lambda: condition() or self.process.poll() is not None, PATIENCE), self.said()
        assert self.process.poll() is None, self.said()

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *exc: object) -> None:
        """Leave no process behind, however the test ended."""
        if self.process.poll() is None:
            self.kill()

    def kill(self) -> None:
        """The driver, its JVM and its workers, at once."""
        family = below(self.process.pid)
        self.process.kill()
        for process in family:
            kill(process)
        self.process.wait()
        assert wait_gone(family, PATIENCE) == []

    def ends(self) -> int:
        """Wait for its end; its exit code."""
        return self.process.wait(PATIENCE)

    def said(self) -> str:
        return self._log.read_text()
