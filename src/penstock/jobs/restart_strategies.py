"""Restart strategies as programs ask for them, in PyFlink's words; `jobs/restart.py` has the strategies themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta

from penstock.core.config.options.restarts import (
    EXPONENTIAL_INITIAL,
    EXPONENTIAL_JITTER,
    EXPONENTIAL_MAX,
    EXPONENTIAL_MULTIPLIER,
    EXPONENTIAL_RESET,
    FIXED_ATTEMPTS,
    FIXED_DELAY,
    RATE_DELAY,
    RATE_FAILURES,
    RATE_INTERVAL,
    RESTART_TYPE,
)

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration(ABC):
    """A restart strategy for `env.set_restart_strategy`; made by `RestartStrategies`."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """The settings that the strategy comes to."""

    @abstractmethod
    def get_description(self) -> str:
        """The strategy in one sentence."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.settings == other.settings

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.settings.items())))


def _delta(value: int | timedelta | None, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return timedelta(milliseconds=value)
    raise TypeError(f"{name} must be milliseconds or a timedelta, got {type(value).__name__}")


def _text(delta: timedelta) -> str:
    return f"{delta // timedelta(milliseconds=1)} ms"


class RestartStrategies:
    """Makes restart strategies.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_description()
    'At most 3 restarts without progress, 1000 ms after each failure.'
    """

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The first failure ends the job."""

        def __init__(self) -> None:
            """Takes nothing."""

        @property
        def settings(self) -> Mapping[str, str]:
            return {RESTART_TYPE.key: "none"}

        def get_description(self) -> str:
            return "No restarts."

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The restart strategy that the configuration file or the command line names."""

        def __init__(self) -> None:
            """Takes nothing."""

        @property
        def settings(self) -> Mapping[str, str]:
            return {}

        def get_description(self) -> str:
            return "The restart strategy of the configuration."

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A limited number of restarts without progress, each after the same delay."""

        def __init__(
            self,
            restart_attempts: int | None = None,
            delay_between_attempts_interval: int | timedelta | None = None,
        ) -> None:
            self._attempts = _count(restart_attempts, "restart_attempts", 0)
            self._delay = _delta(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_restart_attempts(self) -> int:
            """How many restarts in a row there may be without progress."""
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """How long after a failure the job is started again."""
            return self._delay

        @property
        def settings(self) -> Mapping[str, str]:
            return {
                RESTART_TYPE.key: "fixed-delay",
                FIXED_ATTEMPTS.key: str(self._attempts),
                FIXED_DELAY.key: _text(self._delay),
            }

        def get_description(self) -> str:
            return f"At most {self._attempts} restarts without progress, {_text(self._delay)} after each failure."

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts as long as there are not too many failures within an interval."""

        def __init__(
            self,
            max_failure_rate: int | None = None,
            failure_interval: int | timedelta | None = None,
            delay_between_attempts_interval: int | timedelta | None = None,
        ) -> None:
            self._rate = _count(max_failure_rate, "max_failure_rate", 1)
            self._interval = _delta(failure_interval, "failure_interval")
            self._delay = _delta(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_max_failure_rate(self) -> int:
            """How many failures there may be within the interval."""
            return self._rate

        def get_failure_interval(self) -> timedelta:
            """The interval in which failures are counted."""
            return self._interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """How long after a failure the job is started again."""
            return self._delay

        @property
        def settings(self) -> Mapping[str, str]:
            return {
                RESTART_TYPE.key: "failure-rate",
                RATE_FAILURES.key: str(self._rate),
                RATE_INTERVAL.key: _text(self._interval),
                RATE_DELAY.key: _text(self._delay),
            }

        def get_description(self) -> str:
            return f"At most {self._rate} failures in {_text(self._interval)}, {_text(self._delay)} after each of them."

    class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Waits longer after each failure. PyFlink has no Python name for it; this is the name in the Java API."""

        def __init__(
            self,
            initial_backoff: int | timedelta,
            max_backoff: int | timedelta,
            backoff_multiplier: float,
            reset_backoff_threshold: int | timedelta,
            jitter_factor: float,
        ) -> None:
            self._initial = _delta(initial_backoff, "initial_backoff")
            self._max = _delta(max_backoff, "max_backoff")
            self._reset = _delta(reset_backoff_threshold, "reset_backoff_threshold")
            self._multiplier, self._jitter = backoff_multiplier, jitter_factor

        @property
        def settings(self) -> Mapping[str, str]:
            return {
                RESTART_TYPE.key: "exponential-delay",
                EXPONENTIAL_INITIAL.key: _text(self._initial),
                EXPONENTIAL_MAX.key: _text(self._max),
                EXPONENTIAL_MULTIPLIER.key: str(self._multiplier),
                EXPONENTIAL_RESET.key: _text(self._reset),
                EXPONENTIAL_JITTER.key: str(self._jitter),
            }

        def get_description(self) -> str:
            spans = f"{_text(self._initial)}, then {self._multiplier} times longer each, up to {_text(self._max)}"
            return f"Restarts after {spans}."

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        """The first failure ends the job."""
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        """The restart strategy that the configuration names."""
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int | timedelta
    ) -> FixedDelayRestartStrategyConfiguration:
        """At most so many restarts in a row without progress, each after the same delay (milliseconds or timedelta)."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int | timedelta, delay_interval: int | timedelta
    ) -> FailureRateRestartStrategyConfiguration:
        """Restarts unless there are more than `failure_rate` failures within the interval."""
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)

    @staticmethod
    def exponential_delay_restart(
        initial_backoff: int | timedelta,
        max_backoff: int | timedelta,
        backoff_multiplier: float,
        reset_backoff_threshold: int | timedelta,
        jitter_factor: float,
    ) -> ExponentialDelayRestartStrategyConfiguration:
        """Restarts after a delay that grows from failure to failure up to `max_backoff`.

        The delay falls back to `initial_backoff` when the job has run for `reset_backoff_threshold` without a failure.
        """
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            initial_backoff, max_backoff, backoff_multiplier, reset_backoff_threshold, jitter_factor
        )


def _count(value: int | None, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return value
