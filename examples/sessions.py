"""U15: user sessions: five minutes without activity end one.

Sessions have no fixed length: each action begins a session of its own, and sessions that overlap grow together. An
action that arrives out of order may well join two that were apart.

    penstock run examples/sessions.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, TimeWindow

GAP_MS = 5 * 60_000


@dataclass(frozen=True)
class Action:
    user: str
    page: str
    at_ms: int


@dataclass(frozen=True)
class Session:
    user: str
    from_ms: int
    to_ms: int
    pages: tuple[str, ...]


def generated(users: int = 6, visits: int = 8, seed: int = 15) -> list[Action]:
    """People who look around, leave and come back; some pauses are just under five minutes, some just over."""
    random, made = Random(seed), []
    for user in (f"user-{number}" for number in range(users)):
        at_ms = random.randrange(GAP_MS)
        for _ in range(visits):
            for _ in range(random.randint(1, 5)):
                made.append(Action(user, random.choice(["/", "/search", "/item", "/basket"]), at_ms))
                at_ms += random.choice([3_000, 45_000, GAP_MS - 1])
            at_ms += random.choice([GAP_MS, GAP_MS + 1, 3 * GAP_MS])
    return sorted(made, key=lambda action: action.at_ms + random.randint(0, 30_000))


class Describe(ProcessWindowFunction[Action, Session, str, TimeWindow]):
    """A session's window ends one gap after its last action."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Action]
    ) -> Iterator[Session]:
        actions = sorted(elements, key=lambda action: action.at_ms)
        window = context.window()
        yield Session(key, window.start, window.end - GAP_MS, tuple(action.page for action in actions))


def sessions(actions: DataStream[Action]) -> DataStream[Session]:
    """Every user's sessions, each when it has ended."""
    event_time = WatermarkStrategy[Action].for_bounded_out_of_orderness(Duration.of_seconds(30))
    timed = actions.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda a, _: a.at_ms))
    by_user = timed.key_by(lambda action: action.user)
    return by_user.window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP_MS))).process(Describe())


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    sessions(env.from_collection(generated())).print()
    env.execute("sessions")


if __name__ == "__main__":
    main()
