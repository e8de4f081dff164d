"""U5: card fraud: a charge under 1 directly followed by one over 500, on the same card and within a minute.

A thief tries a stolen card with a trifle first. "Directly" means that no other charge of the card lies in between.

    penstock run examples/card_fraud.py
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment


@dataclass(frozen=True)
class Charge:
    card: str
    amount: float
    at_ms: int


@dataclass(frozen=True)
class Fraud:
    card: str
    trial: float
    amount: float
    at_ms: int


def generated(cards: int = 8, charges: int = 200, seed: int = 5) -> list[Charge]:
    """Ordinary shopping, with trifles and large sums among it."""
    random, at_ms, made = Random(seed), 0, []
    for _ in range(charges):
        at_ms += random.randint(100, 12_000)
        amount = random.choice([random.uniform(0.1, 0.99), random.uniform(5, 200), random.uniform(501, 900)])
        made.append(Charge(f"card-{random.randrange(cards)}", round(amount, 2), at_ms))
    return sorted(made, key=lambda c: c.at_ms + random.randint(0, 3_000))


STOLEN = (
    Pattern.begin("trial")
    .where(lambda charge: charge.amount < 1)
    .next("large")
    .where(lambda charge: charge.amount > 500)
    .within(Time.minutes(1))
)


def frauds(charges: DataStream[Charge]) -> DataStream[Fraud]:
    """Suspicious charges of a stream of charges."""
    event_time = WatermarkStrategy[Charge].for_bounded_out_of_orderness(Duration.of_seconds(5))
    timed = charges.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda c, _: c.at_ms))
    return CEP.pattern(timed.key_by(lambda c: c.card), STOLEN).select(_fraud).name("stolen cards")


def _fraud(match: dict[str, list[Charge]]) -> Fraud:
    (trial,), (large,) = match["trial"], match["large"]
    return Fraud(large.card, trial.amount, large.amount, large.at_ms)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    frauds(env.from_collection(generated())).print()
    env.execute("card fraud")


if __name__ == "__main__":
    main()
