"""U8: a vehicle's speed from two streams: its on-board unit, quick and regular, and a phone in it, slow and bursty.

The unit sends three readings a second and is at most half a minute behind; the phone sends now and then and may be
nine minutes behind. Each stream is averaged over windows of a second that go on correcting themselves for 30 s, and
whenever both know a second, the two are compared. Event time lets the two meet, however far apart they arrive.

    penstock run examples/vehicle_speed.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

SECOND_MS, LATENESS_MS = 1_000, 30_000
UNIT_DELAY, PHONE_DELAY = Duration.of_seconds(30), Duration.of_minutes(9)
PER_SECOND = TumblingEventTimeWindows.of(Time.seconds(1))
SecondContext = ProcessWindowFunction.Context[TimeWindow]
REPRODUCIBLE = Configuration().set_boolean("penstock.watermark.per-record", True)  # which reading is too late


class Reading(NamedTuple):
    vehicle: str
    kmh: float
    at_ms: int


class Average(NamedTuple):
    vehicle: str
    second: int
    kmh: float
    readings: int


class Comparison(NamedTuple):
    vehicle: str
    second: int
    unit: Average
    phone: Average

    def __str__(self) -> str:
        return f"{self.vehicle} at {self.second} s: unit {self.unit.kmh}, phone {self.phone.kmh} km/h"


def generated(vehicles: int = 3, seconds: int = 720, seed: int = 8) -> tuple[list[Reading], list[Reading]]:
    """What unit and phone send, each in order of arrival; a few readings come later than they may."""
    random, unit, phone = Random(seed), [], []
    for vehicle, second in ((f"car-{v}", s) for s in range(seconds) for v in range(vehicles)):
        truth = 40 + 30 * (second // 60 % 3)
        unit += [
            Reading(vehicle, round(random.gauss(truth, 2), 1), second * SECOND_MS + third) for third in (0, 333, 667)
        ]
        moments = [random.randrange(SECOND_MS) for _ in range(random.choice([0, 0, 0, 0, 1, 2]))]
        phone += [Reading(vehicle, round(random.gauss(truth, 8), 1), second * SECOND_MS + moment) for moment in moments]
    return _arriving(unit, 30_000, random), _arriving(phone, 540_000, random)


def _arriving(readings: list[Reading], delay_ms: int, random: Random) -> list[Reading]:
    held_up, often = (0.02, 0.5, 1.0, 1.03, 2.2), (120, 2, 1, 1, 0.5)
    return sorted(readings, key=lambda r: r.at_ms + delay_ms * random.choices(held_up, often)[0])


class Averaged(ProcessWindowFunction[Reading, Average, str, TimeWindow]):
    def process(self, key: str, context: SecondContext, elements: Iterable[Reading]) -> Iterator[Average]:
        speeds = [reading.kmh for reading in elements]
        yield Average(key, context.window().start // SECOND_MS, round(sum(speeds) / len(speeds), 2), len(speeds))


def averages(readings: DataStream[Reading], delay: Duration) -> DataStream[Average]:
    """The average of every second, sent again when a late reading changes it."""
    event_time = WatermarkStrategy[Reading].for_bounded_out_of_orderness(delay)
    timed = readings.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda r, _: r.at_ms))
    by_vehicle = timed.set_parallelism(1).key_by(lambda reading: reading.vehicle)
    return by_vehicle.window(PER_SECOND).allowed_lateness(LATENESS_MS).process(Averaged())


def compare(units: list[Average], phones: list[Average]) -> list[Comparison]:
    """Of several averages of a second the one of the most readings is the newest."""
    if not units or not phones:
        return []
    unit, phone = (max(sent, key=lambda average: average.readings) for sent in (units, phones))
    return [Comparison(unit.vehicle, unit.second, unit, phone)]


def compared(unit: DataStream[Reading], phone: DataStream[Reading]) -> DataStream[Comparison]:
    """Seconds that both streams know; a later comparison of the same second replaces the earlier one."""
    both = averages(unit, UNIT_DELAY).co_group(averages(phone, PHONE_DELAY))
    keyed = both.where(lambda average: average.vehicle).equal_to(lambda average: average.vehicle)
    return keyed.window(PER_SECOND).allowed_lateness(LATENESS_MS).apply(compare)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(REPRODUCIBLE)
    comparisons = compared(*map(env.from_collection, generated()))
    comparisons.filter(lambda c: abs(c.unit.kmh - c.phone.kmh) > 18).print()
    env.execute("vehicle speed")


if __name__ == "__main__":
    main()
