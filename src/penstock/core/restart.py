"""Restart strategies (F3)."""

from __future__ import annotations

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError

__all__ = ["RestartStrategy", "restart_strategy"]


class RestartStrategy:
    """At most `attempts` restarts in a row without progress; a batch that became durable is progress."""

    def __init__(self, attempts: int, delay_ms: int) -> None:
        self._attempts, self._delay_ms = attempts, delay_ms
        self._used = 0

    def next_delay_ms(self, now_ms: int) -> int | None:
        """How long to wait before the next try; None: give up."""
        if self._used >= self._attempts:
            return None
        self._used += 1
        return self._delay_ms

    def note_progress(self) -> None:
        self._used = 0


def restart_strategy(conf: Configuration) -> RestartStrategy:
    """From settings. One is always active: losing an executor may end Spark's query."""
    kind = conf.get_string("restart-strategy.type", "fixed-delay")
    if kind in ("none", "off", "disable"):
        return RestartStrategy(0, 0)
    if kind not in ("fixed-delay", "fixeddelay"):
        raise ConfigurationError(f"restart-strategy.type must be none or fixed-delay, got {kind!r}")
    return RestartStrategy(
        conf.get_integer("restart-strategy.fixed-delay.attempts", 3),
        conf.get_integer("restart-strategy.fixed-delay.delay", 1000),
    )
