"""U2: hot items: every five minutes, the most viewed items of the last hour.

Items are counted in sliding windows, in parallel; the counts of one window all carry its last timestamp, so that a
window of five minutes behind them gathers exactly those and ranks them.

    penstock run examples/hot_items.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from random import Random

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import ProcessAllWindowFunction
from penstock.datastream.window import SlidingEventTimeWindows, TimeWindow, TumblingEventTimeWindows

MINUTE_MS, TOP = 60_000, 3
LAST_HOUR = SlidingEventTimeWindows.of(Time.hours(1), Time.minutes(5))
ITEMS = ["kettle", "lamp", "scarf", "bicycle", "notebook", "teapot", "jacket", "radio", "chair", "backpack"]


@dataclass(frozen=True)
class Ranking:
    until: str
    items: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return f"{self.until}  " + ", ".join(f"{place}. {item} ({n})" for place, (item, n) in enumerate(self.items, 1))


def generated(minutes: int = 120, seed: int = 2) -> list[tuple[str, int]]:
    """(item, moment): some items are always liked, one comes into fashion; up to 20 s out of order."""
    random, made = Random(seed), []
    for minute in range(minutes):
        for _ in range(random.randint(2, 9)):
            fashion = ITEMS[minute // 40 * 3 + 1]
            item = fashion if random.random() < 0.2 else ITEMS[int(len(ITEMS) * random.random() ** 2)]
            made.append((item, minute * MINUTE_MS + random.randrange(MINUTE_MS)))
    return sorted(made, key=lambda view: view[1] + random.randint(0, 20_000))


class Rank(ProcessAllWindowFunction[tuple[str, int], Ranking, TimeWindow]):
    """The first of all (item, views) of a window; of equals the one that comes first in the alphabet."""

    def process(
        self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[tuple[str, int]]
    ) -> Iterator[Ranking]:
        minutes = context.window().end // MINUTE_MS
        top = nsmallest(TOP, elements, key=lambda counted: (-counted[1], counted[0]))
        yield Ranking(f"{minutes // 60:02}:{minutes % 60:02}", tuple(top))


def hot_items(views: DataStream[tuple[str, int]]) -> DataStream[Ranking]:
    """A ranking every five minutes."""
    event_time = WatermarkStrategy[tuple[str, int]].for_bounded_out_of_orderness(Duration.of_seconds(20))
    timed = views.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda view, _: view[1]))
    counted = (
        timed.map(lambda view: (view[0], 1))
        .key_by(lambda pair: pair[0])
        .window(LAST_HOUR)
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .name("views of the last hour")
    )
    return counted.window_all(TumblingEventTimeWindows.of(Time.minutes(5))).process(Rank()).name("ranking")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    hot_items(env.from_collection(generated())).print().set_parallelism(1)
    env.execute("hot items")


if __name__ == "__main__":
    main()
