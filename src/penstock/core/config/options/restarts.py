"""Settings of restart strategies: what happens after a failure."""

from __future__ import annotations

from penstock.core.config.option import STREAMING, Values
from penstock.core.config.values import chosen, duration_ms, number, setting, whole

__all__ = [
    "EXPONENTIAL_ATTEMPTS",
    "EXPONENTIAL_INITIAL",
    "EXPONENTIAL_JITTER",
    "EXPONENTIAL_MAX",
    "EXPONENTIAL_MULTIPLIER",
    "EXPONENTIAL_RESET",
    "FIXED_ATTEMPTS",
    "FIXED_ATTEMPTS_UNASKED",
    "FIXED_DELAY",
    "RATE_DELAY",
    "RATE_FAILURES",
    "RATE_INTERVAL",
    "RESTART_OPTIONS",
    "RESTART_TYPE",
]

FIXED_ATTEMPTS_UNASKED = 3
"""Restarts in a row of a job that names no strategy. One is always active: losing an executor may end Spark's query."""

_TYPES = ("none", "fixed-delay", "failure-rate", "exponential-delay")
_ALSO = {
    "off": "none",
    "disable": "none",
    "fixeddelay": "fixed-delay",
    "failurerate": "failure-rate",
    "exponentialdelay": "exponential-delay",
    "": "",
}


def _attempts(text: str) -> int | None:
    """None: as many as it takes."""
    return None if text == "infinite" else whole(1).read(text)


RESTART_TYPE = setting(
    "restart-strategy.type",
    chosen(_TYPES, _ALSO, "none, fixed-delay, failure-rate or exponential-delay"),
    "",
    "Choose what happens after a failure.",
    STREAMING,
    default_text=f"fixed-delay with {FIXED_ATTEMPTS_UNASKED} attempts",
)
FIXED_ATTEMPTS = setting(
    "restart-strategy.fixed-delay.attempts",
    whole(0),
    1,
    "Restarts without progress in between before the job fails.",
    STREAMING,
    default_text=f"1; {FIXED_ATTEMPTS_UNASKED} if no strategy is named",
)
FIXED_DELAY = setting(
    "restart-strategy.fixed-delay.delay", duration_ms(), 1000, "The time between a failure and the restart.", STREAMING
)
RATE_FAILURES = setting(
    "restart-strategy.failure-rate.max-failures-per-interval",
    whole(1),
    1,
    "Failures within the interval that are tolerated.",
    STREAMING,
)
RATE_INTERVAL = setting(
    "restart-strategy.failure-rate.failure-rate-interval",
    duration_ms(),
    60_000,
    "The interval in which failures are counted.",
    STREAMING,
)
RATE_DELAY = setting(
    "restart-strategy.failure-rate.delay", duration_ms(), 1000, "The time between a failure and the restart.", STREAMING
)
EXPONENTIAL_INITIAL = setting(
    "restart-strategy.exponential-delay.initial-backoff",
    duration_ms(),
    1000,
    "The time between the first failure and its restart.",
    STREAMING,
)
EXPONENTIAL_MAX = setting(
    "restart-strategy.exponential-delay.max-backoff",
    duration_ms(),
    60_000,
    "The longest time between a failure and its restart.",
    STREAMING,
)
EXPONENTIAL_MULTIPLIER = setting(
    "restart-strategy.exponential-delay.backoff-multiplier",
    number(1.0),
    1.5,
    "How many times longer each wait is than the one before.",
    STREAMING,
)
EXPONENTIAL_RESET = setting(
    "restart-strategy.exponential-delay.reset-backoff-threshold",
    duration_ms(),
    3_600_000,
    "How long a job must run without a failure until waits are short again.",
    STREAMING,
)
EXPONENTIAL_JITTER = setting(
    "restart-strategy.exponential-delay.jitter-factor",
    number(0.0, 1.0),
    0.1,
    "The share of a wait by which it is made longer or shorter, so that jobs do not all return at once.",
    STREAMING,
)
EXPONENTIAL_ATTEMPTS = setting(
    "restart-strategy.exponential-delay.attempts-before-reset-backoff",
    Values(int, "infinite or a whole number of at least 1", _attempts),
    None,
    "Restarts before the job fails, unless waits have become short again in between.",
    STREAMING,
    default_text="infinite",
)

RESTART_OPTIONS = (
    RESTART_TYPE,
    FIXED_ATTEMPTS,
    FIXED_DELAY,
    RATE_FAILURES,
    RATE_INTERVAL,
    RATE_DELAY,
    EXPONENTIAL_INITIAL,
    EXPONENTIAL_MAX,
    EXPONENTIAL_MULTIPLIER,
    EXPONENTIAL_RESET,
    EXPONENTIAL_JITTER,
    EXPONENTIAL_ATTEMPTS,
)
