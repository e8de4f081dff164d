"""The picture of a stream: event time against processing time, watermark, windows and late records (W7, T10)."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.common import Time
from penstock.common.errors import ProgramError
from penstock.datastream import KeyedStream, StreamExecutionEnvironment
from penstock.datastream.window import (
    EventTimeSessionWindows,
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.testing import At, Mark, ScriptedSource, scripted_stream
from penstock.testing.trace import Arrival, Firing, Trace, trace

TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
SVG = "{http://www.w3.org/2000/svg}"

SCRIPT = [
    At(3, ("a", 1)),
    At(8, ("b", 2)),
    Mark(9),
    At(4, ("a", 3)),  # late, into a window that is still there
    At(12, ("a", 4)),
    Mark(14),
    At(6, ("b", 5)),  # too late: end − 1 + lateness is 14
    At(17, ("<b>", 6)),
]


def keyed(script: list[Any]) -> KeyedStream[Any]:
    stream = scripted_stream(StreamExecutionEnvironment(), ScriptedSource([script]))
    return stream.key_by(lambda v: v[0])


def traced() -> Trace:
    return trace(keyed(SCRIPT).window(TEN).allowed_lateness(5), step_ms=10, start_ms=1000)


def test_a_trace_tells_what_arrived_what_fired_and_what_was_late() -> None:
    """W7, T10: seen by the operators themselves, by a clock that moves on with every event."""
    seen = traced()
    assert seen.records == (
        Arrival(1000, 3, "a", late=False, lost=False),
        Arrival(1010, 8, "b", late=False, lost=False),
        Arrival(1030, 4, "a", late=True, lost=False),
        Arrival(1040, 12, "a", late=False, lost=False),
        Arrival(1060, 6, "b", late=True, lost=True),
        Arrival(1070, 17, "<b>", late=False, lost=False),
    )
    assert [mark for mark in seen.watermarks if mark[1] > 0] == [(1020, 9), (1050, 14)]
    assert set(seen.firings) == {
        Firing(1020, "a", 0, 10, 1),
        Firing(1020, "b", 0, 10, 1),
        Firing(1030, "a", 0, 10, 2),
        Firing(1070, "a", 10, 20, 1),
        Firing(1070, "<b>", 10, 20, 1),
    }
    assert (seen.lateness_ms, seen.end_ms) == (5, 1070)


def classes(svg: str) -> list[str]:
    """What is drawn, the legend left out."""
    root = ElementTree.fromstring(svg)
    shown = [g for g in root if not g.get("transform", "").endswith(f" {620 - 22})")]
    return [e.get("class", "") for part in shown for e in part.iter()]


def test_the_picture_shows_each_of_them_once() -> None:
    """W7, T10"""
    svg = traced().svg("Windows & <late> records")
    found = classes(svg)
    assert {kind: found.count(kind) for kind in ("record", "late", "lost", "watermark", "fired", "waiting")} == {
        "record": 4,
        "late": 1,
        "lost": 1,
        "watermark": 1,
        "fired": 3,  # bars: both keys at once, one again, both of the second window
        "waiting": 1,
    }
    texts = [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert "Windows & <late> records" in texts
    assert "allowed lateness, 5 ms" in texts
    tips = [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert "window [0, 10): 1 of 'a' at 1020, 1 of 'b' at 1020, 2 of 'a' at 1030" in tips
    assert "'b' at 6, arrived 1060, lost: all its windows were gone" in tips
    assert "'<b>' at 17, arrived 1070, on time" in tips


def test_things_are_where_their_times_say() -> None:
    """W2: the bar of a firing spans the window; what came later is further right, what happened later further up."""
    root = ElementTree.fromstring(traced().svg())
    dots = [(float(e.get("cx", 0)), float(e.get("cy", 0))) for e in root.iter(f"{SVG}circle") if e.get("cx") != "0"]
    in_order = [(at, stamp) for at, stamp, _, _, lost in traced().records if not lost]
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    by_stamp = [y for _, y in sorted(zip([stamp for _, stamp in in_order], [y for _, y in dots], strict=True))]
    assert by_stamp == sorted(by_stamp, reverse=True)
    bar = next(e for e in root.iter(f"{SVG}line") if e.get("class") == "fired")
    first = dots[0]
    assert float(bar.get("y2", 0)) < first[1] < float(bar.get("y1", 0))


@pytest.mark.parametrize(
    "assigner",
    [
        SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(5)),
        EventTimeSessionWindows.with_gap(Time.milliseconds(5)),
    ],
)
def test_windows_of_every_shape_and_of_everything(assigner: Any, tmp_path: Path) -> None:
    """W1: also where nothing comes."""
    for script in (SCRIPT, []):
        seen = trace(keyed(script).window_all(assigner))
        assert bool(seen.firings) == bool(script)
        seen.write(tmp_path / "trace.svg", "all")
        assert ElementTree.parse(tmp_path / "trace.svg").getroot().tag == f"{SVG}svg"


@pytest.mark.parametrize("assigner", [GlobalWindows.create(), TumblingProcessingTimeWindows.of(Time.milliseconds(10))])
def test_windows_that_have_no_place_in_the_picture_are_refused(assigner: Any) -> None:
    with pytest.raises(ProgramError, match=r"trace\(\) draws tumbling, sliding and session windows of event time, not"):
        trace(keyed(SCRIPT).window(assigner))


def test_a_clock_that_stands_still_is_refused() -> None:
    with pytest.raises(ValueError, match=r"trace\(\): the clock must move on by at least 1 ms, got 0"):
        trace(keyed(SCRIPT).window(TEN), step_ms=0)
