"""Where time of day comes from. Nothing else in the library reads the wall clock."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Source of processing time."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""


class SystemClock:
    """The machine's clock.

    >>> SystemClock().now_ms() > 1_700_000_000_000
    True
    """

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep_ms(self, delay_ms: float) -> None:
        """Block the calling thread."""
        time.sleep(delay_ms / 1000)


class Stopwatch:
    """Adds up how long blocks of code took; for metrics, never for results.

    >>> watch = Stopwatch()
    >>> with watch:
    ...     pass
    >>> watch.take_ms() >= 0, watch.take_ms()
    (True, 0.0)
    """

    def __init__(self) -> None:
        self._spent_ns = self._since_ns = 0

    def __enter__(self) -> None:
        self._since_ns = time.monotonic_ns()

    def __exit__(self, *failure: object) -> None:
        self._spent_ns += time.monotonic_ns() - self._since_ns

    def take_ms(self) -> float:
        """The sum so far, which starts anew."""
        spent_ns, self._spent_ns = self._spent_ns, 0
        return spent_ns / 1_000_000


async def pause_ms(delay_ms: float) -> None:
    """Let other coroutines run for a while."""
    await asyncio.sleep(delay_ms / 1000)


class ManualClock:
    """A clock that moves only when told to; for tests.

    >>> clock = ManualClock(5)
    >>> clock.advance_ms(10)
    >>> clock.now_ms()
    15
    """

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """The time that the test has set."""
        return self._now_ms

    def set_ms(self, now_ms: int) -> None:
        """Jump to a moment."""
        self._now_ms = now_ms

    def advance_ms(self, delta_ms: int) -> None:
        """Move forward by a span."""
        self._now_ms += delta_ms
