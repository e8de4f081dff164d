"""Draws the guide's pictures into docs/guide/pictures, each by running a job: `make pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.launch import planned
from penstock.testing.trace import trace

__all__ = ["FOLDER", "pictures"]

FOLDER = Path(__file__).parents[1] / "docs" / "guide" / "pictures"
ARRIVALS = (1, 4, 3, 7, 12, 9, 14, 8, 17, 21, 16, 1, 25, 28)
STEP_MS = 1_000


def pictures() -> dict[str, str]:
    """File name → SVG."""
    traces = {"windows.svg": _windows(), "sliding.svg": _sliding(), "sessions.svg": _sessions()}
    return {**{f"{graph}-graph.svg": _graph(graph) for graph in ("job", "execution")}, **traces}


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


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (FOLDER / name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
