"""Starts a driver process again when it has died, as the job's restart strategy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.checkpoints import CHECKPOINT_DIR
from penstock.core.time.clock import SystemClock
from penstock.jobs.restart import RestartStrategy, restart_strategy

__all__ = ["Supervisor", "names_checkpoint", "supervisor"]

FINISHED, INTERRUPTED = 0, 130
SETTLED_MS = 60_000
"""A driver that has run for so long has made progress: the restart strategy forgets the restarts before it."""


class PausingClock(Protocol):
    """A clock that can also wait."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""

    def sleep_ms(self, delay_ms: float) -> None:
        """Let time pass."""


class Supervisor:
    """Runs a driver until it ends by itself, is told to stop, or has died too often.

    `drive` runs one driver and returns its exit code, negative if a signal ended it. The next driver goes on from the
    checkpoint of the one before.

    >>> codes = iter([-9, 1, 0])
    >>> Supervisor(lambda: next(codes), restart_strategy(Configuration()), SystemClock(), print, lambda ms: None).run()
    The driver was ended by signal 9. Restart 1 in 1000 ms
    The driver failed (exit code 1). Restart 2 in 1000 ms
    0
    """

    def __init__(
        self,
        drive: Callable[[], int],
        strategy: RestartStrategy,
        clock: PausingClock,
        say: Callable[[str], None],
        pause_ms: Callable[[int], None] | None = None,
    ) -> None:
        self._drive, self._strategy, self._clock, self._say = drive, strategy, clock, say
        self._pause_ms = pause_ms or clock.sleep_ms
        self._stopping = False
        self.restarts = 0

    def stop(self) -> None:
        """Start no more drivers; may be called from a signal handler."""
        self._stopping = True

    def run(self) -> int:
        """Run drivers until one is the last; returns its exit code."""
        while True:
            began_ms = self._clock.now_ms()
            code = self._drive()
            if code in (FINISHED, INTERRUPTED) or self._stopping:
                return code
            now_ms = self._clock.now_ms()
            if now_ms - began_ms >= SETTLED_MS:
                self._strategy.note_progress()
            delay_ms = self._strategy.next_delay_ms(now_ms)
            if delay_ms is None:
                self._say(f"{_ended(code)}. The restart strategy gives up after {self.restarts} restart(s)")
                return code
            self.restarts += 1
            self._say(f"{_ended(code)}. Restart {self.restarts} in {delay_ms} ms")
            self._pause_ms(delay_ms)
            if self._stopping:
                return code


def supervisor(drive: Callable[[], int], conf: Configuration, seed: str, say: Callable[[str], None]) -> Supervisor:
    """A supervisor with the restart strategy that the settings name; without one, three restarts in a row."""
    return Supervisor(drive, restart_strategy(conf, seed), SystemClock(), say)


def _ended(code: int) -> str:
    return f"The driver was ended by signal {-code}" if code < 0 else f"The driver failed (exit code {code})"


def names_checkpoint(conf: Configuration) -> bool:
    """Whether the settings name a checkpoint, from which the next driver can go on."""
    return with_newest_names(conf).contains_key(CHECKPOINT_DIR.key)
