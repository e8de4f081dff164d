"""The examples that look for patterns: each against a plain loop over its sorted input (U3–U7, U10, U13)."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest

from examples import (
    card_fraud,
    even_zeros,
    failed_logins,
    failed_logins_cep,
    fake_orders,
    fire_alarm,
    rising_temperature,
    unpaid_orders,
)
from penstock.datastream import StreamExecutionEnvironment
from penstock.testing import collect, local_job

SPLITS = [(1, None), (2, [7] * 40), (4, [1, 30, 2, 400])]


def run(build: Callable[..., dict[str, Any]], inputs: Iterable[list[Any]], split: Any) -> dict[str, list[Any]]:
    """The results of a program, sorted, at some parallelism and in some batches."""
    parallelism, batches = split
    env = StreamExecutionEnvironment()
    for name, stream in build(*(env.from_collection(values) for values in inputs)).items():
        collect(stream, name)
    job = local_job(env, parallelism)
    job.run(batches) if batches else job.run()
    return {name: sorted(values, key=repr) for name, values in job.results.items()}


def histories(events: list[Any], key: str) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for event in sorted(events, key=lambda e: e.at_ms):
        found[getattr(event, key)].append(event)
    return found


@pytest.mark.parametrize("split", SPLITS)
def test_temperature_rising_for_a_second(split: Any) -> None:
    """U3: a rise is followed reading by reading; a second after it began a warning is due, and a new rise may begin."""
    readings = rising_temperature.generated()
    expected = []
    for sensor, history in histories(readings, "sensor").items():
        rise: list[Any] = []
        for reading in history:
            rise = [*rise, reading] if rise and reading.celsius > rise[-1].celsius else [reading]
            if reading.at_ms - rise[0].at_ms >= 1_000:
                expected.append(rising_temperature.Warning(sensor, rise[0].at_ms, reading.at_ms, len(rise)))
                rise = []
    assert len(expected) >= 3
    found = run(lambda s: {"found": rising_temperature.warnings(s)}, [readings], split)
    assert found["found"] == sorted(expected, key=repr)


@pytest.mark.parametrize("split", SPLITS)
def test_failed_logins_with_a_pattern(split: Any) -> None:
    """U4: the pattern raises the alerts that the process function raises."""
    logins = failed_logins.LOGINS
    by_hand = run(lambda s: {"found": failed_logins.failed_logins(s)}, [logins], split)
    by_pattern = run(lambda s: {"found": failed_logins_cep.failed_logins(s)}, [logins], split)
    assert by_pattern == by_hand
    assert len(by_hand["found"]) == 2


@pytest.mark.parametrize("split", SPLITS)
def test_card_fraud(split: Any) -> None:
    """U5: neighbours in the history of a card."""
    charges = card_fraud.generated()
    expected = [
        card_fraud.Fraud(card, small.amount, large.amount, large.at_ms)
        for card, history in histories(charges, "card").items()
        for small, large in pairwise(history)
        if small.amount < 1 and large.amount > 500 and large.at_ms - small.at_ms < 60_000
    ]
    assert len(expected) >= 3
    assert run(lambda s: {"found": card_fraud.frauds(s)}, [charges], split)["found"] == sorted(expected, key=repr)


@pytest.mark.parametrize("split", SPLITS)
def test_unpaid_orders(split: Any) -> None:
    """U6: paid in time or out of time, at the moment when the time is over."""
    events = unpaid_orders.generated()
    created = {e.order: e.at_ms for e in events if e.kind == "created"}
    paid = {e.order: e.at_ms - created[e.order] for e in events if e.kind == "paid"}
    in_time = {order: after for order, after in paid.items() if after < unpaid_orders.LIMIT_MS}
    late = {order: at + unpaid_orders.LIMIT_MS for order, at in created.items() if order not in in_time}
    assert late.keys() & paid.keys()
    assert late.keys() - paid.keys()

    def build(stream: Any) -> dict[str, Any]:
        found = unpaid_orders.payments(stream)
        return {"paid": found, "unpaid": found.get_side_output(unpaid_orders.UNPAID)}

    found = run(build, [events], split)
    assert found["paid"] == sorted((unpaid_orders.Paid(*item) for item in in_time.items()), key=repr)
    assert found["unpaid"] == sorted((unpaid_orders.Unpaid(*item) for item in late.items()), key=repr)


@pytest.mark.parametrize("split", SPLITS)
def test_fake_orders(split: Any) -> None:
    """U7: three neighbours in the history of a user."""
    actions = fake_orders.generated()
    expected = [
        fake_orders.FakeOrder(user, login.at_ms, pay.at_ms)
        for user, history in histories(actions, "user").items()
        for login, order, pay in zip(history, history[1:], history[2:], strict=False)
        if (login.kind, order.kind, pay.kind) == ("login", "order", "pay")
        and pay.at_ms - login.at_ms < fake_orders.LIMIT_MS
    ]
    assert len(expected) >= 3
    assert run(lambda s: {"found": fake_orders.fake_orders(s)}, [actions], split)["found"] == sorted(expected, key=repr)


@pytest.mark.parametrize("split", SPLITS)
def test_fire_alarm(split: Any) -> None:
    """U10: the earliest hot reading in the ten minutes before the smoke that no alarm has used up."""
    readings, smoke = fire_alarm.generated()
    expected = []
    for room, history in histories([*readings, *smoke], "room").items():
        hot: list[int] = []
        for event in history:
            hot = [at for at in hot if event.at_ms - at < fire_alarm.LIMIT_MS]
            if isinstance(event, fire_alarm.Smoke):
                expected += [fire_alarm.Alarm(room, hot[0], event.at_ms)] if hot else []
                hot = []
            elif event.celsius > fire_alarm.HOT:
                hot.append(event.at_ms)
    assert len(expected) >= 3
    found = run(lambda *streams: {"found": fire_alarm.alarms(*streams)}, [readings, smoke], split)
    assert found["found"] == sorted(expected, key=repr)


@pytest.mark.parametrize("split", SPLITS)
def test_even_zeros(split: Any) -> None:
    """U13: count the zeros."""
    digits = even_zeros.generated()
    expected = []
    for place, (machine, digit) in enumerate(digits):
        zeros = sum(m == machine and d == 0 for m, d in digits[: place + 1])
        expected.append((machine, digit, "odd" if zeros % 2 else "even"))
    assert run(lambda s: {"found": even_zeros.even_zeros(s)}, [digits], split)["found"] == sorted(expected, key=repr)
