"""U17: late records counted per day, to choose the delay of the watermark.

The longer a watermark waits, the fewer records are late and the later come all results. How many would be late at
which delay can be measured: with a delay of 0 the watermark is the newest timestamp so far, less one, and shows how far
behind each record is.

    penstock run examples/late_records.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    ProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import MapStateDescriptor

DAY_MS = 86_400_000
DELAYS_MS = [0, 1_000, 10_000, 60_000, 600_000]
REPRODUCIBLE = Configuration().set_boolean("penstock.watermark.per-record", True)


@dataclass(frozen=True)
class Day:
    """How many records of a day there were, and how many would have been late at each delay (in ms)."""

    number: int
    records: int
    late: tuple[tuple[int, int], ...]


def generated(days: int = 3, per_day: int = 400, seed: int = 17) -> list[int]:
    """Moments, in order of arrival: most come at once, some after seconds, a few after a quarter of an hour."""
    random, made = Random(seed), []
    for day in range(days):
        for _ in range(per_day):
            at_ms = day * DAY_MS + random.choice([9, 13, 20]) * 3_600_000 + random.randrange(600_000)
            behind_ms = random.choices([0, 2_000, 30_000, 400_000, 900_000], weights=[80, 10, 5, 3 + day, 2])[0]
            made.append((at_ms + int(behind_ms * random.uniform(0.1, 1)), at_ms))
    return [at_ms for _, at_ms in sorted(made)]


class Behind(ProcessFunction[int, tuple[int, int]]):
    """(day, how far the record is behind the newest one before it)."""

    def process_element(self, at_ms: int, ctx: ProcessFunction.Context) -> Iterator[tuple[int, int]]:
        newest_ms = ctx.timer_service().current_watermark() + 1
        yield at_ms // DAY_MS, max(0, newest_ms - at_ms)


class PerDay(KeyedProcessFunction[int, tuple[int, int], Day]):
    """Counts a day's records by delay, and tells the counts a day after the day has ended."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.counts = runtime_context.get_map_state(MapStateDescriptor("counts", Types.LONG(), Types.INT()))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context[int]) -> None:
        day, behind_ms = value
        ctx.timer_service().register_event_time_timer((day + 2) * DAY_MS)
        for delay_ms in [-1, *(delay_ms for delay_ms in DELAYS_MS if behind_ms > delay_ms)]:
            self.counts.put(delay_ms, (self.counts.get(delay_ms) or 0) + 1)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[int]) -> Iterator[Day]:
        late = tuple((delay_ms, self.counts.get(delay_ms) or 0) for delay_ms in DELAYS_MS)
        yield Day(ctx.get_current_key(), self.counts.get(-1) or 0, late)
        self.counts.clear()


def late_records(moments: DataStream[int]) -> DataStream[Day]:
    """For every day how many records were late, at several delays."""
    newest = WatermarkStrategy[int].for_monotonous_timestamps().with_timestamp_assigner(lambda at_ms, _: at_ms)
    timed = moments.assign_timestamps_and_watermarks(newest).set_parallelism(1)
    return timed.process(Behind()).key_by(lambda pair: pair[0]).process(PerDay()).name("late per day")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(REPRODUCIBLE)
    late_records(env.from_collection(generated())).print()
    env.execute("late records")


if __name__ == "__main__":
    main()
