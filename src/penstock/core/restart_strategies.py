"""Restart strategies as programs ask for them; `settings` is what they come to in the configuration (F3)."""

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
    """What `env.set_restart_strategy` takes; made by `RestartStrategies`."""

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Keys and values of the configuration."""

    @abstractmethod
    def get_description(self) -> str:
        """One sentence for people."""

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
    """Where restart strategies are made.

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
        """What the configuration says."""

        def __init__(self) -> None:
            """Takes nothing."""

        @property
        def settings(self) -> Mapping[str, str]:
            return {}

        def get_description(self) -> str:
            return "The restart strategy of the configuration."

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A number of restarts, each after the same time."""

        def __init__(
            self,
            restart_attempts: int | None = None,
            delay_between_attempts_interval: int | timedelta | None = None,
        ) -> None:
            self._attempts = _count(restart_attempts, "restart_attempts", 0)
            self._delay = _delta(delay_between_attempts_interval, "delay_between_attempts_interval")

        def get_restart_attempts(self) -> int:
            return self._attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
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
        """So many failures in an interval are tolerated."""

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
            return self._rate

        def get_failure_interval(self) -> timedelta:
            return self._interval

        def get_delay_between_attempts_interval(self) -> timedelta:
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
        """Waits longer after each failure. PyFlink has no Python name for it; this is the Java API's."""

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
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int | timedelta
    ) -> FixedDelayRestartStrategyConfiguration:
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int | timedelta, delay_interval: int | timedelta
    ) -> FailureRateRestartStrategyConfiguration:
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)

    @staticmethod
    def exponential_delay_restart(
        initial_backoff: int | timedelta,
        max_backoff: int | timedelta,
        backoff_multiplier: float,
        reset_backoff_threshold: int | timedelta,
        jitter_factor: float,
    ) -> ExponentialDelayRestartStrategyConfiguration:
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            initial_backoff, max_backoff, backoff_multiplier, reset_backoff_threshold, jitter_factor
        )


def _count(value: int | None, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return value
