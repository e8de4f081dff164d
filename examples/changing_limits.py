"""U19: payments above the limit that was in force when they were made; limits change while the job runs.

Limits are broadcast: every subtask sees each of them and keeps them in a map of the same content. A payment waits in
keyed state until the watermark, which is the smaller one of both streams, has passed it: then every limit of that time
is known, whichever of the two came first.

    penstock run examples/changing_limits.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.datastream import DataStream, KeyedBroadcastProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import MapStateDescriptor

KINDS = ("silver", "gold")
# kind of card -> all its limits: from which moment on, how much
LIMITS = MapStateDescriptor("limits", Types.STRING(), Types.LIST(Types.TUPLE([Types.LONG(), Types.LONG()])))


@dataclass(frozen=True)
class Limit:
    kind: str
    amount: int
    at_ms: int


@dataclass(frozen=True)
class Payment:
    card: str
    kind: str
    amount: int
    at_ms: int


@dataclass(frozen=True)
class TooMuch:
    card: str
    amount: int
    limit: int
    at_ms: int


def generated(payments: int = 200, seed: int = 19) -> tuple[list[Payment], list[Limit]]:
    """Payments come up to 20 seconds late; a limit changes every few minutes."""
    random = Random(seed)
    cards = {f"card {number}": random.choice(KINDS) for number in range(12)}
    end_ms, made = payments * 10_000, []
    for _ in range(payments):
        card = random.choice(sorted(cards))
        made.append(Payment(card, cards[card], random.randint(1, 1_000), random.randrange(end_ms)))
    limits = [Limit(kind, 500, 0) for kind in KINDS]
    limits += [Limit(random.choice(KINDS), random.randint(200, 900), at_ms) for at_ms in range(90_000, end_ms, 180_000)]
    return sorted(made, key=lambda payment: payment.at_ms + random.randint(0, 20_000)), limits


class OverLimit(KeyedBroadcastProcessFunction):
    """By card."""

    def open(self, runtime_context: RuntimeContext) -> None:
        # a moment -> payments of that moment, until the watermark is there
        self.waiting = runtime_context.get_map_state(
            MapStateDescriptor("waiting", Types.LONG(), Types.LIST(Types.PICKLED_BYTE_ARRAY()))
        )

    def process_broadcast_element(self, limit: Limit, ctx: Any) -> None:
        limits = ctx.get_broadcast_state(LIMITS)
        limits.put(limit.kind, sorted([*(limits.get(limit.kind) or []), (limit.at_ms, limit.amount)]))

    def process_element(self, payment: Payment, ctx: Any) -> None:
        self.waiting.put(payment.at_ms, [*(self.waiting.get(payment.at_ms) or []), payment])
        ctx.timer_service().register_event_time_timer(payment.at_ms)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[TooMuch]:
        for payment in self.waiting.get(timestamp) or []:
            limits = ctx.get_broadcast_state(LIMITS).get(payment.kind)
            amount = [amount for at_ms, amount in limits if at_ms <= timestamp][-1]
            if payment.amount > amount:
                yield TooMuch(payment.card, payment.amount, amount, timestamp)
        self.waiting.remove(timestamp)


def over_limit(payments: DataStream[Payment], limits: DataStream[Limit]) -> DataStream[TooMuch]:
    """Payments above the limit of their moment."""
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(20))
    event_time = event_time.with_timestamp_assigner(lambda event, _: event.at_ms)
    timed = payments.assign_timestamps_and_watermarks(event_time)
    rules = limits.assign_timestamps_and_watermarks(event_time).broadcast(LIMITS)
    return timed.key_by(lambda payment: payment.card).connect(rules).process(OverLimit()).name("over the limit")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    payments, limits = generated()
    over_limit(env.from_collection(payments), env.from_collection(limits)).print()
    env.execute("changing limits")


if __name__ == "__main__":
    main()
