"""The examples of broadcast state and asynchronous calls: each against a loop over its whole input (U19, U20)."""

from __future__ import annotations

from typing import Any

from examples import changing_limits, completed_orders
from tests.examples.case import Case, Results

__all__ = ["STREAMS"]


def too_much(payments: list[Any], limits: list[Any]) -> Results:
    """U19: the last limit of the card's kind that is not later than the payment."""
    expected = []
    for payment in payments:
        known = [limit for limit in limits if limit.kind == payment.kind and limit.at_ms <= payment.at_ms]
        limit = max(known, key=lambda limit: limit.at_ms).amount
        if payment.amount > limit:
            expected.append(changing_limits.TooMuch(payment.card, payment.amount, limit, payment.at_ms))
    assert len({found.limit for found in expected}) > 2, "no limit has changed"
    return {"found": expected}


def with_names(orders: list[Any]) -> Results:
    """U20: a dictionary knows the same as the service."""
    names = completed_orders.CUSTOMERS
    expected = [completed_orders.Completed(order.number, names.get(order.customer, "unknown")) for order in orders]
    assert any(order.name == "unknown" for order in expected)
    return {"found": expected}


STREAMS = [
    Case(
        "changing_limits",
        lambda: list(changing_limits.generated()),
        lambda *s: {"found": changing_limits.over_limit(*s)},
        too_much,
        at_least=20,
    ),
    Case(
        "completed_orders",
        lambda: [completed_orders.generated()],
        lambda s: {"found": completed_orders.completed(s)},
        with_names,
        at_least=100,
    ),
]
