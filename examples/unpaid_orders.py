"""U6: an order that is not paid within 15 minutes.

Paid orders come out as they are paid; an order whose time is over goes to a side output at that very moment, without
an event having to come.

    penstock run examples/unpaid_orders.py
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, OutputTag, StreamExecutionEnvironment

LIMIT_MS = 15 * 60_000


@dataclass(frozen=True)
class OrderEvent:
    order: int
    kind: str
    at_ms: int


@dataclass(frozen=True)
class Paid:
    order: int
    after_ms: int


@dataclass(frozen=True)
class Unpaid:
    order: int
    due_ms: int


UNPAID: OutputTag[Unpaid] = OutputTag("unpaid")


def generated(orders: int = 60, seed: int = 6) -> list[OrderEvent]:
    """Most orders are paid in time, some too late, some never."""
    random, at_ms, made = Random(seed), 0, []
    for order in range(orders):
        at_ms += random.randint(1_000, 90_000)
        made.append(OrderEvent(order, "created", at_ms))
        if random.random() < 0.8:
            made.append(OrderEvent(order, "paid", at_ms + random.randint(1_000, LIMIT_MS + 300_000)))
    return sorted(made, key=lambda e: e.at_ms + random.randint(0, 20_000))


PAYMENT = (
    Pattern.begin("created")
    .where(lambda event: event.kind == "created")
    .followed_by("paid")
    .where(lambda event: event.kind == "paid")
    .within(Time.milliseconds(LIMIT_MS))
)


def payments(events: DataStream[OrderEvent]) -> DataStream[Paid]:
    """Paid orders; those that were not paid in time are in the side output UNPAID."""
    event_time = WatermarkStrategy[OrderEvent].for_bounded_out_of_orderness(Duration.of_seconds(30))
    timed = events.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda e, _: e.at_ms))
    found = CEP.pattern(timed.key_by(lambda e: e.order), PAYMENT)
    return found.select(UNPAID, _unpaid, _paid).name("payments")


def _paid(match: dict[str, list[OrderEvent]]) -> Paid:
    (created,), (paid,) = match["created"], match["paid"]
    return Paid(paid.order, paid.at_ms - created.at_ms)


def _unpaid(match: dict[str, list[OrderEvent]], timeout_timestamp: int) -> Unpaid:
    return Unpaid(match["created"][0].order, timeout_timestamp)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    paid = payments(env.from_collection(generated()))
    paid.print("paid")
    paid.get_side_output(UNPAID).print("unpaid")
    env.execute("unpaid orders")


if __name__ == "__main__":
    main()
