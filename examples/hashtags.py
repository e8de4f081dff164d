"""U11: hashtags counted: which were used how often, ten minutes by ten minutes.

penstock run examples/hashtags.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, ProcessWindowFunction, StreamExecutionEnvironment
from penstock.datastream.window import TimeWindow, TumblingEventTimeWindows

MINUTE_MS = 60_000
TOPICS = ["#Spark", "#spark", "#python", "#流处理", "#rain", "#football", "#breakfast"]
PHRASES = ["what a day", "who else is here", "I did not expect that", "reading about", "thinking of"]


def generated(posts: int = 300, seed: int = 11) -> list[tuple[str, int]]:
    """(text, moment) of posts, up to 15 s out of order; some have no hashtag, some the same one twice."""
    random, at_ms, made = Random(seed), 0, []
    for _ in range(posts):
        at_ms += random.randint(500, 15_000)
        tags = random.choices(TOPICS, weights=[5, 2, 4, 3, 2, 3, 1], k=random.randint(0, 3))
        made.append((" ".join([random.choice(PHRASES), *tags]), at_ms))
    return sorted(made, key=lambda post: post[1] + random.randint(0, 15_000))


def hashtags(post: tuple[str, int]) -> list[str]:
    """The hashtags of a post, each once, however they are written."""
    return sorted({tag.lower() for tag in re.findall(r"#\w+", post[0])})


class WithTime(ProcessWindowFunction[tuple[str, int], tuple[int, str, int], str, TimeWindow]):
    """(from minute, hashtag, count), made of the one count that the window was reduced to."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context[TimeWindow], elements: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[int, str, int]]:
        ((_, count),) = elements
        yield context.window().start // MINUTE_MS, key, count


def counted(posts: DataStream[tuple[str, int]]) -> DataStream[tuple[int, str, int]]:
    """(from minute, hashtag, count) for every ten minutes and every hashtag used in them."""
    event_time = WatermarkStrategy[tuple[str, int]].for_bounded_out_of_orderness(Duration.of_seconds(15))
    timed = posts.assign_timestamps_and_watermarks(event_time.with_timestamp_assigner(lambda post, _: post[1]))
    return (
        timed.flat_map(hashtags)
        .map(lambda tag: (tag, 1))
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.minutes(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]), WithTime())
    )


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    counted(env.from_collection(generated())).print()
    env.execute("hashtags")


if __name__ == "__main__":
    main()
