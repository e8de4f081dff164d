"""U10: a room gets hot and then there is smoke, within ten minutes.

Two kinds of events from two sources become one stream; the pattern tells them apart by their class. The alarm goes
once for a fire: what began before the smoke is done with.

    penstock run examples/fire_alarm.py
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment

LIMIT_MS, HOT = 10 * 60_000, 50


@dataclass(frozen=True)
class Temperature:
    room: str
    celsius: int
    at_ms: int


@dataclass(frozen=True)
class Smoke:
    room: str
    at_ms: int


@dataclass(frozen=True)
class Alarm:
    room: str
    hot_ms: int
    smoke_ms: int


def generated(rooms: int = 5, minutes: int = 120, seed: int = 10) -> tuple[list[Temperature], list[Smoke]]:
    """A reading a minute from every room, sometimes too hot; sometimes somebody smokes."""
    random, readings, smoke = Random(seed), [], []
    for minute in range(minutes):
        for number in range(rooms):
            at_ms = minute * 60_000 + random.randrange(60_000)
            celsius = random.choice([21, 22, 23]) if random.random() < 0.93 else random.randint(51, 90)
            readings.append(Temperature(f"room {number}", celsius, at_ms))
            if random.random() < 0.04:
                smoke.append(Smoke(f"room {number}", at_ms + random.randint(1, 30_000)))
    return readings, smoke


FIRE = (
    Pattern.begin("hot", AfterMatchSkipStrategy.skip_past_last_event())
    .subtype(Temperature)
    .where(lambda reading: reading.celsius > HOT)
    .followed_by("smoke")
    .subtype(Smoke)
    .within(Time.milliseconds(LIMIT_MS))
)


def alarms(readings: DataStream[Temperature], smoke: DataStream[Smoke]) -> DataStream[Alarm]:
    """Alarms of two streams."""
    event_time = WatermarkStrategy[Temperature | Smoke].for_bounded_out_of_orderness(Duration.of_minutes(2))
    event_time = event_time.with_timestamp_assigner(lambda event, _: event.at_ms)
    both: DataStream[Temperature | Smoke] = readings.assign_timestamps_and_watermarks(event_time)
    both = both.union(smoke.assign_timestamps_and_watermarks(event_time))
    return CEP.pattern(both.key_by(lambda event: event.room), FIRE).select(_alarm).name("fires")


def _alarm(match: dict[str, list[Temperature | Smoke]]) -> Alarm:
    (hot,), (smoke,) = match["hot"], match["smoke"]
    return Alarm(hot.room, hot.at_ms, smoke.at_ms)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    readings, smoke = generated()
    alarms(env.from_collection(readings), env.from_collection(smoke)).print()
    env.execute("fire alarm")


if __name__ == "__main__":
    main()
