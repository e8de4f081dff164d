"""Draws the pictures of the guide, each by running a job, and the one of the architecture: `make pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.drawing.diagram import Arrow, Box, Diagram, Group
from penstock.drawing.labels import NOTE, STATE, WATERMARK, Mark
from penstock.drawing.svg import picture
from penstock.launch import planned
from penstock.testing.trace import trace

__all__ = ["FOLDER", "pictures"]

FOLDER = Path(__file__).parents[1] / "docs"
ARRIVALS = (1, 4, 3, 7, 12, 9, 14, 8, 17, 21, 16, 1, 25, 28)
STEP_MS = 1_000


def pictures() -> dict[str, str]:
    """File below docs → SVG."""
    traces = {"windows": _windows(), "sliding": _sliding(), "sessions": _sessions()}
    guide = {**{f"{graph}-graph": _graph(graph) for graph in ("job", "execution")}, **traces}
    return {**{f"guide/pictures/{name}.svg": svg for name, svg in guide.items()}, "pictures/record.svg": _record()}


def _graph(which: str) -> str:
    env = StreamExecutionEnvironment().set_parallelism(2)
    words = env.from_collection(["to be or", "not to be"]).flat_map(str.split)
    words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).sum(1).print()
    graph = env.get_stream_graph("word count")
    conf = env.get_configuration()
    return planned(graph, conf, env.get_parallelism(), env.get_max_parallelism()).render("svg", which)


def _windows() -> str:
    windows = _timed(ARRIVALS, 3).window_all(TumblingEventTimeWindows.of(Time.seconds(10)))
    return _drawn(windows.allowed_lateness(4_000), "Windows of 10 s, a watermark 3 s behind, 4 s of lateness")


def _sliding() -> str:
    windows = _timed((12, 16, 14, 21, 23, 19, 28, 34), 2).window_all(
        SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5))
    )
    return _drawn(windows, "Windows of 10 s, one every 5 s")


def _sessions() -> str:
    windows = _timed((1, 3, 12, 14, 8, 15, 30, 32, 45), 8).window_all(EventTimeSessionWindows.with_gap(Time.seconds(5)))
    return _drawn(windows, "Sessions with a gap of 5 s: second 8 joins two that were apart")


def _timed(seconds: tuple[int, ...], delay: int) -> DataStream[int]:
    stream = StreamExecutionEnvironment().from_collection(second * 1_000 for second in seconds)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(delay))
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(lambda moment, _: moment))


def _drawn(windows: Any, title: str) -> str:
    return trace(windows, STEP_MS).svg(title)


# What happens to a record, in which room; and the signs of state and time where they belong.
_WAY = (
    Box(0, "Source", "source", (Mark(NOTE, "connectors: reads a split"),)),
    Box(
        1,
        "Source task",
        "operator",
        (
            Mark(WATERMARK, "timestamps and watermarks"),
            Mark(NOTE, "runtime: the chain of level 0"),
            Mark(NOTE, "spark: inside a reader of its source"),
        ),
    ),
    Box(2, "Shuffle", "operator", (Mark(NOTE, "spark: moves rows unread"),)),
    Box(
        3,
        "Subtask of stage 1",
        "operator",
        (
            Mark(NOTE, "runtime: valve, then the chain"),
            Mark(STATE, "pages of keys and their timers"),
        ),
    ),
    Box(4, "State store", "operator", (Mark(NOTE, "spark: RocksDB"),)),
    Box(
        5,
        "Subtask of the last stage",
        "operator",
        (Mark(STATE, "committables of the batch"), Mark(NOTE, "runtime: the sink's writer prepares")),
    ),
    Box(
        6,
        "Driver",
        "operator",
        (Mark(NOTE, "spark: the batch is durable, then"), Mark(NOTE, "committers publish; metrics count")),
    ),
    Box(7, "Sink", "sink", (Mark(NOTE, "connectors: files, databases"),)),
)
_STEPS = (
    Arrow(0, 1, "records"),
    Arrow(1, 2, "chunks, by label"),
    Arrow(2, 3, "chunks, sorted by channel"),
    Arrow(3, 4, "pages, once a batch"),
    Arrow(3, 5, "chunks, by a shuffle as before"),
    Arrow(5, 6, "committables, results, counts"),
    Arrow(6, 7, "commit"),
)


def _record() -> str:
    """The way of a record through the rooms."""
    return picture(Diagram("A record's way", "through the rooms", tuple(Group((box,)) for box in _WAY), _STEPS), True)


def main() -> None:
    for name, svg in pictures().items():
        (FOLDER / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
