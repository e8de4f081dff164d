"""Restart strategies (F3): pure functions of the moments of failures."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Configuration, RestartStrategies, RestartStrategyConfiguration
from penstock.core.errors import ConfigurationError
from penstock.datastream import StreamExecutionEnvironment
from penstock.jobs.restart import (
    ExponentialDelay,
    FailureRate,
    FixedDelay,
    NoRestart,
    RestartStrategy,
    restart_strategy,
)

MOMENTS = st.lists(st.integers(0, 400), max_size=40).map(lambda gaps: [sum(gaps[: i + 1]) for i in range(len(gaps))])


def strategy(**settings: Any) -> RestartStrategy:
    return restart_strategy(Configuration({k.replace("__", ".").replace("_", "-"): v for k, v in settings.items()}))


def of(kind: str, **settings: Any) -> RestartStrategy:
    prefix = f"restart-strategy.{kind}."
    named = {prefix + k.replace("_", "-"): v for k, v in settings.items()}
    return restart_strategy(Configuration({"restart-strategy.type": kind, **named}))


@pytest.mark.parametrize("name", ["none", "off", "disable", "NONE"])
def test_without_restarts_the_first_failure_is_the_last(name: str) -> None:
    """F3"""
    assert restart_strategy(Configuration({"restart-strategy.type": name})).next_delay_ms(0) is None


@given(attempts=st.integers(0, 5), story=st.lists(st.booleans(), max_size=40))
def test_fixed_delay_gives_up_after_so_many_failures_in_a_row(attempts: int, story: list[bool]) -> None:
    """F3: True in the story is a failure, False a batch that became durable."""
    fixed = FixedDelay(attempts, 7)
    for index, failed in enumerate(story):
        if not failed:
            fixed.note_progress()
            continue
        before = story[:index][::-1]
        in_a_row = before.index(False) if False in before else len(before)
        assert fixed.next_delay_ms(index) == (7 if in_a_row < attempts else None)


@given(limit=st.integers(1, 4), interval=st.integers(1, 1000), moments=MOMENTS)
def test_failure_rate_counts_failures_within_the_interval(limit: int, interval: int, moments: list[int]) -> None:
    """F3"""
    rate = FailureRate(limit, interval, 9)
    for index, now in enumerate(moments):
        recent = [m for m in moments[: index + 1] if now - m <= interval]
        assert rate.next_delay_ms(now) == (9 if len(recent) <= limit else None)


@given(moments=MOMENTS, reset=st.integers(50, 500), multiplier=st.sampled_from([1.0, 1.5, 2.0, 10.0]))
def test_exponential_delay_grows_to_its_limit_and_starts_over(
    moments: list[int], reset: int, multiplier: float
) -> None:
    """F3: against the closed form; the time without failures counts from the restart on."""
    exponential = ExponentialDelay(10, 100, multiplier, reset)
    power, restarted, now = 0, None, 0
    for gap in moments:
        now += gap
        if restarted is not None and now - restarted >= reset:
            power = 0
        expected = round(min(100.0, 10 * multiplier**power))
        assert exponential.next_delay_ms(now) == expected
        power, restarted = power + 1, now + expected


@given(seed=st.text(max_size=8), jitter=st.floats(0, 1))
def test_jitter_stays_in_its_bounds_and_repeats_itself(seed: str, jitter: float) -> None:
    """F3: no randomness: the same job waits as long at the same attempt."""
    one, again, plain = (ExponentialDelay(100, 1000, 2.0, 10**9, j, None, seed) for j in (jitter, jitter, 0.0))
    for _ in range(6):
        delay, exact = one.next_delay_ms(0), plain.next_delay_ms(0)
        assert delay == again.next_delay_ms(0)
        assert delay is not None
        assert exact is not None
        assert exact * (1 - jitter) - 1 <= delay <= min(1000, exact * (1 + jitter) + 1)


def test_jobs_that_fail_together_come_back_at_different_moments() -> None:
    """F3"""
    delays = {ExponentialDelay(10_000, 60_000, 1.5, 10**9, 0.1, None, f"job {i}").next_delay_ms(0) for i in range(20)}
    assert len(delays) > 10


def test_exponential_delay_may_be_limited_in_attempts_until_it_starts_over() -> None:
    """F3"""
    limited = of("exponential-delay", attempts_before_reset_backoff=2, jitter_factor=0, reset_backoff_threshold="1 min")
    assert [limited.next_delay_ms(t) for t in (0, 5_000, 10_000)] == [1000, 1500, None]
    assert limited.next_delay_ms(200_000) == 1000


def test_defaults_are_flinks_where_a_strategy_is_named() -> None:
    """F3: and three restarts where none is: losing an executor may end Spark's query."""
    assert [strategy().next_delay_ms(0) for _ in range(1)] == [1000]
    unnamed, fixed, rate = strategy(), of("fixed-delay"), of("failure-rate")
    assert [unnamed.next_delay_ms(0) for _ in range(4)] == [1000, 1000, 1000, None]
    assert [fixed.next_delay_ms(0) for _ in range(2)] == [1000, None]
    assert [rate.next_delay_ms(t) for t in (0, 60_001, 60_002)] == [1000, 1000, None]
    exponential = of("exponential-delay", jitter_factor=0)
    assert [exponential.next_delay_ms(0) for _ in range(12)][-1] == 60_000


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("fixed-delay", "attempts", "-1", "fixed-delay.attempts must be a whole number of at least 0, got '-1'"),
        ("fixed-delay", "delay", "soon", "must be a duration like '10 s', '1 min' or '500 ms', got 'soon'"),
        (
            "failure-rate",
            "max-failures-per-interval",
            "0",
            "must be a whole number of at least 1, got '0'",
        ),
        (
            "exponential-delay",
            "backoff-multiplier",
            "0.5",
            "multiplier must be a number of at least 1.0, got '0.5'",
        ),
        ("exponential-delay", "jitter-factor", "2", "jitter-factor must be a number between 0.0 and 1.0, got '2'"),
        ("exponential-delay", "initial-backoff", "2 min", "at most max-backoff, got 120000 ms of 60000 ms"),
        ("exponential-delay", "attempts-before-reset-backoff", "0", "must be infinite or a whole number of at least 1"),
        ("sometimes", "x", "1", "must be none, fixed-delay, failure-rate or exponential-delay, got 'sometimes'"),
    ],
)
def test_what_makes_no_sense_is_refused(kind: str, key: str, value: str, message: str) -> None:
    """F3, P9"""
    with pytest.raises(ConfigurationError, match=message):
        restart_strategy(Configuration({"restart-strategy.type": kind, f"restart-strategy.{kind}.{key}": value}))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (RestartStrategies.no_restart(), NoRestart),
        (RestartStrategies.fall_back_restart(), FixedDelay),
        (RestartStrategies.fixed_delay_restart(2, 500), FixedDelay),
        (RestartStrategies.failure_rate_restart(2, datetime.timedelta(minutes=5), 500), FailureRate),
        (RestartStrategies.exponential_delay_restart(500, 5000, 2.0, 60_000, 0.0), ExponentialDelay),
    ],
)
def test_a_program_may_name_its_strategy(said: RestartStrategyConfiguration, kind: type) -> None:
    """F3"""
    env = StreamExecutionEnvironment()
    assert env.set_restart_strategy(said) is env
    chosen = restart_strategy(env.get_configuration())
    assert isinstance(chosen, kind)
    assert said.get_description().endswith(".")
    assert said == said
    assert hash(said) == hash(said)
    if said.settings.get("restart-strategy.type", "none") != "none":
        assert chosen.next_delay_ms(0) == 500


def test_strategies_say_what_they_were_made_of() -> None:
    """F3"""
    fixed = RestartStrategies.fixed_delay_restart(3, datetime.timedelta(seconds=2))
    assert (fixed.get_restart_attempts(), fixed.get_delay_between_attempts_interval().seconds) == (3, 2)
    rate = RestartStrategies.failure_rate_restart(3, 60_000, 1000)
    assert rate.get_max_failure_rate() == 3
    assert rate.get_failure_interval() == datetime.timedelta(minutes=1)
    assert rate.get_delay_between_attempts_interval() == datetime.timedelta(seconds=1)
    assert rate == RestartStrategies.failure_rate_restart(3, datetime.timedelta(minutes=1), 1000)
    assert rate != fixed


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: RestartStrategies.fixed_delay_restart(-1, 5),
            ValueError,
            "restart_attempts must be a whole number of",
        ),
        (
            lambda: RestartStrategies.fixed_delay_restart(1, "5"),
            TypeError,
            "must be milliseconds or a timedelta, got str",
        ),
        (
            lambda: RestartStrategies.failure_rate_restart(0, 1, 1),
            ValueError,
            "max_failure_rate must be a whole number",
        ),
        (
            lambda: StreamExecutionEnvironment().set_restart_strategy("none"),  # type: ignore[arg-type]
            TypeError,
            "takes what RestartStrategies makes, got str",
        ),
    ],
)
def test_strategies_refuse_what_makes_no_sense(make: Any, error: type[Exception], message: str) -> None:
    """F3, P9"""
    with pytest.raises(error, match=message):
        make()
