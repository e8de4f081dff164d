"""U7: fake orders: login, order and payment directly in a row, with nothing looked at in between, all within 10 s.

People browse before they buy; programs that push up a shop's figures do not.

    penstock run examples/fake_orders.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment

LIMIT_MS = 10_000


@dataclass(frozen=True)
class Action:
    user: str
    kind: str
    at_ms: int


@dataclass(frozen=True)
class FakeOrder:
    user: str
    login_ms: int
    paid_ms: int


def generated(users: int = 12, visits: int = 80, seed: int = 7) -> list[Action]:
    """Visits of people, and of programs that are in a hurry."""
    random, at_ms, made = Random(seed), 0, []
    for _ in range(visits):
        user, moment = f"user-{random.randrange(users)}", at_ms
        views = [] if random.random() < 0.4 else ["view"] * random.randint(1, 3)
        for kind in ["login", *views, "order", "pay"][: random.choice([2, 9, 9])]:
            made.append(Action(user, kind, moment))
            moment += random.choice([500, 2_000, 6_000])
        at_ms += random.randint(5_000, 20_000)
    return sorted(made, key=lambda a: a.at_ms + random.randint(0, 400))


def _is(kind: str) -> Callable[[Action], bool]:
    return lambda action: action.kind == kind


IN_A_HURRY = (
    Pattern.begin("login")
    .where(_is("login"))
    .next("order")
    .where(_is("order"))
    .next("pay")
    .where(_is("pay"))
    .within(Time.milliseconds(LIMIT_MS))
)


def fake_orders(actions: DataStream[Action]) -> DataStream[FakeOrder]:
    """Orders of a stream of actions that look fake."""
    event_time = WatermarkStrategy[Action].for_bounded_out_of_orderness(Duration.of_seconds(1))
    timed = actions.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda a, _: a.at_ms))
    return CEP.pattern(timed.key_by(lambda a: a.user), IN_A_HURRY).select(_fake).name("fake orders")


def _fake(match: dict[str, list[Action]]) -> FakeOrder:
    (login,), (pay,) = match["login"], match["pay"]
    return FakeOrder(login.user, login.at_ms, pay.at_ms)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    fake_orders(env.from_collection(generated())).print()
    env.execute("fake orders")


if __name__ == "__main__":
    main()
