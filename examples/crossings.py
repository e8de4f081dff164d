"""U12: cars per crossing every five minutes, and a warning for cars that come to a crossing with a recent accident.

A count of all cars ever is of no use to anyone, nor is an accident of last week: windows count what is recent, and an
interval join pairs a car with the accidents of the last ten minutes at its crossing.

    penstock run examples/crossings.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, ProcessJoinFunction, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

MINUTE_MS = 60_000


@dataclass(frozen=True)
class Seen:
    """A car, or an accident, at a crossing."""

    crossing: str
    what: str
    at_ms: int


def generated(crossings: int = 4, minutes: int = 60, seed: int = 12) -> tuple[list[Seen], list[Seen]]:
    """Cars and accidents, each up to half a minute out of order."""
    random, cars, accidents = Random(seed), [], []
    for at, minute in ((f"crossing {c}", m) for m in range(minutes) for c in range(crossings)):
        passing = [f"car {random.randrange(10_000)}" for _ in range(random.randint(0, 3))]
        cars += [Seen(at, car, minute * MINUTE_MS + random.randrange(MINUTE_MS)) for car in passing]
        if random.random() < 0.02:
            accidents.append(Seen(at, "accident", minute * MINUTE_MS + random.randrange(MINUTE_MS)))
    return _jumbled(cars, random), _jumbled(accidents, random)


def _jumbled(events: list[Seen], random: Random) -> list[Seen]:
    return sorted(events, key=lambda event: event.at_ms + random.randint(0, 30_000))


class Count(ProcessWindowFunction[Seen, tuple[str, int, int], str, TimeWindow]):
    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[Seen]
    ) -> Iterator[tuple[str, int, int]]:
        yield key, context.window().start // MINUTE_MS, sum(1 for _ in elements)


class Warn(ProcessJoinFunction[Seen, Seen, tuple[str, str, int]]):
    def process_element(
        self, left: Seen, right: Seen, ctx: ProcessJoinFunction.Context
    ) -> Iterator[tuple[str, str, int]]:
        yield right.crossing, right.what, (right.at_ms - left.at_ms) // 1_000


def timed(events: DataStream[Seen]) -> DataStream[Seen]:
    event_time = WatermarkStrategy[Seen].for_bounded_out_of_orderness(Duration.of_seconds(30))
    return events.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda event, _: event.at_ms))


def counts(cars: DataStream[Seen]) -> DataStream[tuple[str, int, int]]:
    """(crossing, from minute, cars), every five minutes."""
    by_crossing = timed(cars).key_by(lambda car: car.crossing)
    return by_crossing.window(TumblingEventTimeWindows.of(Time.minutes(5))).process(Count()).name("cars")


def warnings(cars: DataStream[Seen], accidents: DataStream[Seen]) -> DataStream[tuple[str, str, int]]:
    """(crossing, car, seconds since the accident) for every car within ten minutes after one."""
    happened = timed(accidents).key_by(lambda accident: accident.crossing)
    recent = happened.interval_join(timed(cars).key_by(lambda car: car.crossing))
    return recent.between(Time.seconds(0), Time.minutes(10)).process(Warn()).name("warnings")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    cars, accidents = map(env.from_collection, generated())
    counts(cars).print("cars")
    warnings(cars, accidents).print("accident ahead")
    env.execute("crossings")


if __name__ == "__main__":
    main()
