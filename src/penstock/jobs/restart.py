"""Restart strategies: whether a job that failed is started again, and after how long. Time is an argument."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from hashlib import blake2b

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.restarts import (
    EXPONENTIAL_ATTEMPTS,
    EXPONENTIAL_INITIAL,
    EXPONENTIAL_JITTER,
    EXPONENTIAL_MAX,
    EXPONENTIAL_MULTIPLIER,
    EXPONENTIAL_RESET,
    FIXED_ATTEMPTS,
    FIXED_ATTEMPTS_UNASKED,
    FIXED_DELAY,
    RATE_DELAY,
    RATE_FAILURES,
    RATE_INTERVAL,
    RESTART_TYPE,
)
from penstock.core.errors import ConfigurationError

__all__ = ["ExponentialDelay", "FailureRate", "FixedDelay", "NoRestart", "RestartStrategy", "restart_strategy"]


class RestartStrategy(ABC):
    """Decides on restarts. The job's supervising thread calls it after each failure and after each durable batch."""

    @abstractmethod
    def next_delay_ms(self, now_ms: int) -> int | None:
        """How long to wait before the next try; None to give up. Called once for each failure."""

    def note_progress(self) -> None:
        """Called when a batch has become durable: the job gets on."""


class NoRestart(RestartStrategy):
    """Never restarts."""

    def next_delay_ms(self, now_ms: int) -> int | None:
        return None


class FixedDelay(RestartStrategy):
    """Restarts at most `attempts` times in a row without progress. A batch that has become durable is progress."""

    def __init__(self, attempts: int, delay_ms: int) -> None:
        self._attempts, self._delay_ms = attempts, delay_ms
        self._used = 0

    def next_delay_ms(self, now_ms: int) -> int | None:
        if self._used >= self._attempts:
            return None
        self._used += 1
        return self._delay_ms

    def note_progress(self) -> None:
        self._used = 0


class FailureRate(RestartStrategy):
    """Gives up at a failure that has `max_failures` others before it within the interval."""

    def __init__(self, max_failures: int, interval_ms: int, delay_ms: int) -> None:
        self._max_failures, self._interval_ms, self._delay_ms = max_failures, interval_ms, delay_ms
        self._failures: deque[int] = deque()

    def next_delay_ms(self, now_ms: int) -> int | None:
        self._failures.append(now_ms)
        while now_ms - self._failures[0] > self._interval_ms:
            self._failures.popleft()
        return self._delay_ms if len(self._failures) <= self._max_failures else None


class ExponentialDelay(RestartStrategy):
    """Waits longer after each failure, up to a limit; back to the start after a time without failures.

    The jitter is deterministic: it depends on `seed` (the job's name) and the number of the attempt, so that a job
    repeats itself while jobs that fail together come back at different moments. A factor of 0 switches it off.
    """

    def __init__(
        self,
        initial_ms: int,
        max_ms: int,
        multiplier: float,
        reset_ms: int,
        jitter: float = 0.0,
        attempts: int | None = None,
        seed: str = "",
    ) -> None:
        self._initial_ms, self._max_ms, self._multiplier = initial_ms, max_ms, multiplier
        self._reset_ms, self._jitter, self._attempts, self._seed = reset_ms, jitter, attempts, seed
        self._used = 0
        self._backoff_ms = float(initial_ms)
        self._restarted_ms: int | None = None

    def next_delay_ms(self, now_ms: int) -> int | None:
        if self._restarted_ms is not None and now_ms - self._restarted_ms >= self._reset_ms:
            self._used, self._backoff_ms = 0, float(self._initial_ms)
        if self._attempts is not None and self._used >= self._attempts:
            return None
        delay_ms = self._jittered(self._backoff_ms)
        self._used += 1
        self._backoff_ms = min(self._max_ms, self._backoff_ms * self._multiplier)
        self._restarted_ms = now_ms + delay_ms
        return delay_ms

    def _jittered(self, backoff_ms: float) -> int:
        digest = blake2b(f"{self._seed}/{self._used}".encode(), digest_size=4).digest()
        fraction = int.from_bytes(digest, "big") / 2**31 - 1
        return min(self._max_ms, max(0, round(backoff_ms * (1 + self._jitter * fraction))))


def restart_strategy(conf: Configuration, seed: str = "") -> RestartStrategy:
    """The restart strategy that the settings name, under Flink's names. `seed` is the job's name.

    Without a setting it restarts three times: losing an executor may end Spark's query.
    """
    conf = with_newest_names(conf)
    kind = conf.get(RESTART_TYPE)
    if kind == "none":
        return NoRestart()
    if kind == "failure-rate":
        return FailureRate(conf.get(RATE_FAILURES), conf.get(RATE_INTERVAL), conf.get(RATE_DELAY))
    if kind == "exponential-delay":
        return _exponential(conf, seed)
    attempts = FIXED_ATTEMPTS.default if kind else FIXED_ATTEMPTS_UNASKED
    return FixedDelay(conf.get(FIXED_ATTEMPTS, attempts), conf.get(FIXED_DELAY))


def _exponential(conf: Configuration, seed: str) -> ExponentialDelay:
    initial_ms, max_ms = conf.get(EXPONENTIAL_INITIAL), conf.get(EXPONENTIAL_MAX)
    if not 1 <= initial_ms <= max_ms:
        raise ConfigurationError(
            f"{EXPONENTIAL_INITIAL.key} must be at least 1 ms and at most max-backoff, got {initial_ms} ms "
            f"of {max_ms} ms"
        )
    return ExponentialDelay(
        initial_ms,
        max_ms,
        conf.get(EXPONENTIAL_MULTIPLIER),
        conf.get(EXPONENTIAL_RESET),
        conf.get(EXPONENTIAL_JITTER),
        conf.get(EXPONENTIAL_ATTEMPTS),
        seed,
    )
