"""The examples that look for patterns: each against a plain loop over its sorted input (U3–U7, U10, U13)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

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
from tests.examples.case import Case, Results, histories

__all__ = ["PATTERNS"]


def rising(readings: list[Any]) -> Results:
    """U3: a rise is followed reading by reading; a second after it began a warning is due, and a new rise may begin."""
    expected = []
    for sensor, history in histories(readings, "sensor").items():
        rise: list[Any] = []
        for reading in history:
            rise = [*rise, reading] if rise and reading.celsius > rise[-1].celsius else [reading]
            if reading.at_ms - rise[0].at_ms >= 1_000:
                expected.append(rising_temperature.Warning(sensor, rise[0].at_ms, reading.at_ms, len(rise)))
                rise = []
    return {"found": expected}


def failures(logins: list[Any], alert: Any) -> Iterator[Any]:
    """U4: sort, then look at each user's logins one after the other."""
    for user, history in histories(sorted(logins, key=lambda login: login.succeeded), "user").items():
        failed: list[int] = []
        for login in history:
            failed = [] if login.succeeded else [*failed, login.at_ms]
            if len(failed) == 3:
                yield alert(user, failed[0], failed[-1])
                failed = []


def stolen(charges: list[Any]) -> Results:
    """U5: neighbours in the history of a card."""
    return {
        "found": [
            card_fraud.Fraud(card, small.amount, large.amount, large.at_ms)
            for card, history in histories(charges, "card").items()
            for small, large in pairwise(history)
            if small.amount < 1 and large.amount > 500 and large.at_ms - small.at_ms < 60_000
        ]
    }


def payments(events: list[Any]) -> Results:
    """U6: paid in time or out of time, at the moment when the time is over."""
    created = {e.order: e.at_ms for e in events if e.kind == "created"}
    paid = {e.order: e.at_ms - created[e.order] for e in events if e.kind == "paid"}
    in_time = {order: after for order, after in paid.items() if after < unpaid_orders.LIMIT_MS}
    late = {order: at + unpaid_orders.LIMIT_MS for order, at in created.items() if order not in in_time}
    assert late.keys() & paid.keys()
    assert late.keys() - paid.keys()
    return {
        "paid": [unpaid_orders.Paid(*item) for item in in_time.items()],
        "unpaid": [unpaid_orders.Unpaid(*item) for item in late.items()],
    }


def _payments(stream: Any) -> dict[str, Any]:
    found = unpaid_orders.payments(stream)
    return {"paid": found, "unpaid": found.get_side_output(unpaid_orders.UNPAID)}


def in_a_hurry(actions: list[Any]) -> Results:
    """U7: three neighbours in the history of a user."""
    return {
        "found": [
            fake_orders.FakeOrder(user, login.at_ms, pay.at_ms)
            for user, history in histories(actions, "user").items()
            for login, order, pay in zip(history, history[1:], history[2:], strict=False)
            if (login.kind, order.kind, pay.kind) == ("login", "order", "pay")
            and pay.at_ms - login.at_ms < fake_orders.LIMIT_MS
        ]
    }


def fires(readings: list[Any], smoke: list[Any]) -> Results:
    """U10: the earliest hot reading in the ten minutes before the smoke that no alarm has used up."""
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
    return {"found": expected}


def zeros(digits: list[Any]) -> Results:
    """U13: count the zeros."""
    expected = []
    for place, (machine, digit) in enumerate(digits):
        count = sum(m == machine and d == 0 for m, d in digits[: place + 1])
        expected.append((machine, digit, "odd" if count % 2 else "even"))
    return {"found": expected}


PATTERNS = [
    Case(
        "rising_temperature",
        lambda: [rising_temperature.generated()],
        lambda s: {"found": rising_temperature.warnings(s)},
        rising,
    ),
    Case(
        "failed_logins",
        lambda: [failed_logins.LOGINS],
        lambda s: {"found": failed_logins.failed_logins(s)},
        lambda logins: {"found": list(failures(logins, failed_logins.Alert))},
        at_least=2,
    ),
    Case(
        "failed_logins_cep",
        lambda: [failed_logins_cep.generated()],
        lambda s: {"found": failed_logins_cep.failed_logins(s)},
        lambda logins: {"found": list(failures(logins, failed_logins_cep.Alert))},
    ),
    Case("card_fraud", lambda: [card_fraud.generated()], lambda s: {"found": card_fraud.frauds(s)}, stolen),
    Case("unpaid_orders", lambda: [unpaid_orders.generated()], _payments, payments),
    Case("fake_orders", lambda: [fake_orders.generated()], lambda s: {"found": fake_orders.fake_orders(s)}, in_a_hurry),
    Case("fire_alarm", lambda: list(fire_alarm.generated()), lambda *s: {"found": fire_alarm.alarms(*s)}, fires),
    Case("even_zeros", lambda: [even_zeros.generated()], lambda s: {"found": even_zeros.even_zeros(s)}, zeros),
]
