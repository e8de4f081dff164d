"""U3: a sensor whose temperature has been rising for one whole second.

Readings are looked at in event time, sensor by sensor: each must be higher than the one before, and the last at
least a second after the first. One rise gives one warning per second of it.

    penstock run examples/rising_temperature.py
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from penstock.cep import CEP, AfterMatchSkipStrategy, IterativeCondition, Pattern
from penstock.common import Duration, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment

SECOND_MS = 1_000


@dataclass(frozen=True)
class Reading:
    sensor: str
    celsius: float
    at_ms: int


@dataclass(frozen=True)
class Warning:
    sensor: str
    from_ms: int
    to_ms: int
    readings: int


def generated(sensors: int = 3, readings: int = 60, seed: int = 3) -> list[Reading]:
    """Sensors that report every 200 ms or so; their temperatures wander, and warm up now and then."""
    random, made = Random(seed), []
    for number in range(sensors):
        celsius, at_ms, trend = 20.0, 0, 0.0
        for _ in range(readings):
            at_ms += random.randint(150, 250)
            trend = random.choice([trend, trend, trend, 0.0, 0.8])
            celsius = round(celsius + trend + random.uniform(-0.3, 0.3), 2)
            made.append(Reading(f"s{number}", celsius, at_ms))
    return sorted(made, key=lambda r: r.at_ms + random.randint(0, 400))  # they arrive a little out of order


def _so_far(ctx: IterativeCondition.Context) -> list[Reading]:
    return [*ctx.get_events_for_pattern("first"), *ctx.get_events_for_pattern("rising")]


def rises(reading: Reading, ctx: IterativeCondition.Context) -> bool:
    return reading.celsius > _so_far(ctx)[-1].celsius


def for_a_second(reading: Reading, ctx: IterativeCondition.Context) -> bool:
    return reading.at_ms - _so_far(ctx)[0].at_ms >= SECOND_MS


RISE = (
    Pattern.begin("first", AfterMatchSkipStrategy.skip_past_last_event())
    .next("rising")
    .where(rises)
    .where(lambda reading, ctx: not for_a_second(reading, ctx))
    .one_or_more()
    .consecutive()
    .optional()
    .next("last")
    .where(rises)
    .where(for_a_second)
)


def warnings(readings: DataStream[Reading]) -> DataStream[Warning]:
    """Warnings of a stream of readings."""
    event_time = WatermarkStrategy[Reading].for_bounded_out_of_orderness(Duration.of_seconds(1))
    timed = readings.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda r, _: r.at_ms))
    return CEP.pattern(timed.key_by(lambda r: r.sensor), RISE).select(_warning).name("rising for a second")


def _warning(match: dict[str, list[Reading]]) -> Warning:
    first, last = match["first"][0], match["last"][0]
    return Warning(first.sensor, first.at_ms, last.at_ms, 2 + len(match.get("rising", ())))


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    warnings(env.from_collection(generated())).print()
    env.execute("rising temperature")


if __name__ == "__main__":
    main()
