"""U1: page views and unique visitors, hour by hour.

A set of all visitors would be the obvious state, and the one that does not fit. Here every visitor's views of an hour
are counted first, in parallel and by number alone; then the hour's figures are sums over its visitors.

    penstock run examples/page_views.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import AggregateFunction, DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

HOUR_MS = 3_600_000
PER_HOUR = TumblingEventTimeWindows.of(Time.hours(1))


@dataclass(frozen=True)
class View:
    visitor: str
    page: str
    at_ms: int


@dataclass(frozen=True)
class Figures:
    hour: int
    views: int
    visitors: int


def generated(visitors: int = 40, hours: int = 4, seed: int = 1) -> list[View]:
    """Visits of a few pages each; busy hours and quiet ones; views arrive up to a minute out of order."""
    random, made = Random(seed), []
    for hour in range(hours):
        for _ in range(random.randint(10, 60)):
            visitor, at_ms = f"visitor-{random.randrange(visitors)}", hour * HOUR_MS + random.randrange(HOUR_MS)
            for page in random.choices(["/", "/news", "/shop", "/help"], k=random.randint(1, 6)):
                made.append(View(visitor, page, at_ms))
                at_ms += random.randint(1_000, 90_000)
    return sorted(made, key=lambda view: view.at_ms + random.randint(0, 60_000))


class Count(AggregateFunction[View, int, int]):
    """How many records a window has; the records themselves are not kept."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: View, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class OfVisitor(ProcessWindowFunction[int, Figures, str, TimeWindow]):
    """One visitor's share of an hour. Its timestamp is the hour's last: it falls into the same hour again."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[int]
    ) -> Iterator[Figures]:
        yield Figures(context.window().start // HOUR_MS, next(iter(elements)), 1)


def figures(views: DataStream[View]) -> DataStream[Figures]:
    """Page views and unique visitors of every hour."""
    event_time = WatermarkStrategy[View].for_bounded_out_of_orderness(Duration.of_minutes(1))
    timed = views.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda view, _: view.at_ms))
    shares = timed.key_by(lambda view: view.visitor).window(PER_HOUR).aggregate(Count(), OfVisitor())
    return shares.window_all(PER_HOUR).reduce(lambda a, b: Figures(a.hour, a.views + b.views, a.visitors + b.visitors))


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    figures(env.from_collection(generated())).print().set_parallelism(1)
    env.execute("page views")


if __name__ == "__main__":
    main()
