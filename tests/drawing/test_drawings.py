"""The three graphs as SVG, HTML, Mermaid and JSON (G1)."""

import json
import re
from html.parser import HTMLParser
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.window import (
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.drawing.labels import marks_of
from penstock.drawing.words import text_width

SVG = "{http://www.w3.org/2000/svg}"
LATE, BAD = OutputTag("late"), OutputTag("bad")
EVENT_TIME = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))


class Pass(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


def environment(parallelism: int = 2) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"parallelism.default": parallelism}))


def words() -> StreamExecutionEnvironment:
    env = environment()
    lines: DataStream[Any] = env.from_collection(["a b"])
    lines.flat_map(str.split).name("split").key_by(lambda w: w).reduce(lambda a, b: a + b).name("count").print()
    return env


def branches() -> StreamExecutionEnvironment:
    """Joins, side outputs, several sinks, long names, every exchange, an edge over two layers."""
    env = environment(4)
    orders = env.from_source(DataGeneratorSource(str), EVENT_TIME, "orders")
    paid = env.from_source(DataGeneratorSource(str), EVENT_TIME.with_idleness(Duration.of_minutes(1)), "payments")
    checked = env.from_collection([1]).rebalance().process(Pass()).name("checks <every> record & says why not " * 3)
    checked.get_side_output(BAD).print().name("bad ones")
    hours = SlidingEventTimeWindows.of(Time.hours(1), Time.minutes(5))
    both = orders.union(paid).key_by(lambda v: v).window(hours).side_output_late_data(LATE).reduce(lambda a, b: a)
    both.get_side_output(LATE).rescale().map(str).set_parallelism(2).print().set_parallelism(2)
    both.union(checked).union(orders).key_by(lambda v: v).process(Keyed()).broadcast().map(str).shuffle().print()
    orders.global_().print().name("audit").set_parallelism(1)
    return env


def wide() -> StreamExecutionEnvironment:
    env = environment(3)
    one = env.from_collection([1])
    for number in range(12):
        one.key_by(lambda v: v).process(Keyed()).name(f"branch {number}").print()
    return env


def deep() -> StreamExecutionEnvironment:
    env = environment(40)
    stream: DataStream[Any] = env.from_collection([1])
    for number in range(12):
        stream = stream.key_by(lambda v: v).process(Keyed()).name(f"step {number}")
    stream.print()
    return env


def _rects(svg: str) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Every rectangle with its class, in the coordinates of the page."""
    found: list[tuple[str, tuple[float, float, float, float]]] = []

    def walk(element: ElementTree.Element, x: float, y: float) -> None:
        moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        if element.tag == f"{SVG}rect" and element.get("class"):
            left, top = x + float(element.get("x", 0)), y + float(element.get("y", 0))
            size = float(element.get("width", 0)), float(element.get("height", 0))
            found.append((element.get("class", ""), (left, top, left + size[0], top + size[1])))
        for child in element:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0, 0)
    return found


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


@pytest.mark.parametrize("program", [words, branches, wide, deep])
@pytest.mark.parametrize("graph", ["stream", "job", "execution"])
def test_a_picture_is_sound(program: Any, graph: str) -> None:
    """G1: well-formed, all on the paper, frames and boxes and labels apart from each other."""
    svg = program().draw("svg", graph)
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    rects = _rects(svg)
    assert all(r[0] >= 0 and r[1] >= 0 and r[2] <= width and r[3] <= height for _, r in rects)
    for kind in ("frame", "box", "pill"):
        same = [rect for name, rect in rects if name.split()[0] == kind]
        assert not [pair for pair in combinations(same, 2) if _overlap(*pair)], kind
    frames = [rect for name, rect in rects if name == "frame"]
    pills = [rect for name, rect in rects if name == "pill"]
    assert not [1 for frame in frames for pill in pills if _overlap(frame, pill)]
    assert max(width, height) < 4_000


def test_words_stay_inside_their_boxes() -> None:
    svg = branches().draw("svg", "stream")
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        box = next((r for r in group.findall(f"{SVG}rect") if (r.get("class") or "").startswith("box")), None)
        if box is None or box.get("y"):
            continue
        for text in group.findall(f"{SVG}text"):
            bold = text.get("class") == "name"
            end = float(text.get("x", 0)) + text_width(text.text or "", 13 if bold else 11, bold)
            assert end <= float(box.get("width", 0)), text.text


def test_names_are_escaped_and_long_ones_cut() -> None:
    svg = branches().draw("svg")
    assert "checks &lt;every&gt;" in svg
    assert "…" in svg
    assert "<every>" not in svg


def test_the_execution_graph_has_a_wire_for_every_pair_that_speaks() -> None:
    """G1, G4: 1 -> 2 rebalance, then 2 x 2 by hash."""
    svg = words().draw("svg", "execution")
    assert svg.count('class="wire"') == 2 + 4
    assert [int(n) for n in re.findall(r">(\d)/2<", svg)] == [1, 2, 1, 2]


def test_of_many_subtasks_the_first_and_last_are_shown() -> None:
    svg = deep().draw("svg", "execution")
    assert "36 more" in svg
    assert "40/40" in svg
    assert "4/40" not in svg.replace("40/40", "")


def test_forward_and_global_and_rescale_wires() -> None:
    """G4"""
    env = environment(4)
    one = env.from_source(DataGeneratorSource(str), EVENT_TIME, "numbers")
    one.map(str).disable_chaining().rescale().map(str).set_parallelism(2).global_().print().set_parallelism(2)
    svg = env.draw("svg", "execution")
    assert svg.count('class="wire"') == 4 + 4 + 2


@pytest.mark.parametrize(
    ("build", "marks"),
    [
        (lambda s: s.key_by(str).process(Keyed()), [("state", "keyed state")]),
        (
            lambda s: (
                s.key_by(str).window(TumblingEventTimeWindows.of(Time.seconds(5))).allowed_lateness(500).reduce(max)
            ),
            [("note", "tumbling windows, 5 s"), ("note", "allowed lateness 500 ms"), ("state", "keyed state")],
        ),
        (
            lambda s: s.key_by(str).window(EventTimeSessionWindows.with_gap(Time.minutes(2))).reduce(max),
            [("note", "session windows, 2 min"), ("state", "keyed state")],
        ),
        (
            lambda s: s.key_by(str).window(CountTumblingWindowAssigner.of(7)).reduce(max),
            [("note", "count tumbling windows, 7"), ("state", "keyed state")],
        ),
        (
            lambda s: s.key_by(str).window(TumblingProcessingTimeWindows.of(Time.minutes(1))).reduce(max),
            [("note", "tumbling windows, 1 min, processing time"), ("state", "keyed state")],
        ),
        (lambda s: s.assign_timestamps_and_watermarks(EVENT_TIME), [("watermark", "2 s out of order")]),
        (
            lambda s: s.assign_timestamps_and_watermarks(
                WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_seconds(9))
            ),
            [("watermark", "monotonous"), ("note", "idle after 9 s")],
        ),
        (lambda s: s.map(str), []),
    ],
)
def test_marks_of_state_and_watermarks(build: Any, marks: list[tuple[str, str]]) -> None:
    env = environment()
    build(env.from_collection([1])).print()
    spec = env.get_stream_graph().nodes[-2].spec
    assert [(mark.kind, mark.text) for mark in marks_of(spec)] == marks


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href"):
                self.links.append(value or "")


def test_a_page_needs_nothing_else() -> None:
    """G1, F7: no script, no network; a tab for each graph; the guarantees below."""
    page = branches().draw("html")
    read = _Page()
    read.feed(page)
    assert read.tags.count("svg") == 3
    assert "script" not in read.tags
    assert read.links == []
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert len(read.ids) == len(set(read.ids))
    for used in set(re.findall(r"url\(#([\w-]+)\)", page)):
        assert used in read.ids
    assert "at-most-once (shown once durable, and not again)" in page


def test_mermaid_of_the_job_graph() -> None:
    """G1"""
    assert words().draw("mermaid", "job").splitlines()[:15] == [
        "flowchart LR",
        '  subgraph v0["× 1"]',
        "    direction TB",
        '    n1(["Source: Collection<br/><small>bounded</small>"]):::source',
        "  end",
        '  subgraph v1["× 2"]',
        "    direction TB",
        '    n2["split"]:::operator',
        "  end",
        '  subgraph v2["× 2"]',
        "    direction TB",
        '    n3["count<br/><small>keyed state</small>"]:::operator',
        '    n4[("Print to Std. Out")]:::sink',
        "    n3 --> n4",
        "  end",
    ]
    assert '  v0 -->|"rebalance"| v1' in words().draw("mermaid", "job")


def test_mermaid_of_the_execution_graph_has_the_names_in_the_subtasks() -> None:
    """G1: a title that is wider than its frame would lie on other frames; roles are those of the SVG."""
    lines = words().draw("mermaid", "execution").splitlines()
    assert lines[1:3] == [
        '  subgraph v0["× 1"]',
        '    v0_0(["Source: Collection<br/><small>1/1</small>"]):::source',
    ]
    assert '    v2_1(["count<br/>→ Print to Std. Out<br/><small>2/2</small>"]):::sink' in lines
    assert lines[-1] == "  class v0,v1,v2 frame"


def test_mermaid_of_all_graphs_is_markdown() -> None:
    page = branches().draw("mermaid")
    assert page.count("```mermaid\nflowchart LR\n") == 3
    assert '"rescale [late]"' in page
    assert "#lt;every#gt;" in page


def test_json_of_the_graphs() -> None:
    """G1, G2, F7"""
    data = json.loads(words().draw("json"))
    assert [node["name"] for node in data["stream_graph"]["nodes"]][:2] == ["Source: Collection", "split"]
    assert data["stream_graph"]["edges"][0]["exchange"] is None
    vertices = data["job_graph"]["vertices"]
    assert [(v["name"], v["parallelism"]) for v in vertices][1:] == [("split", 2), ("count -> Print to Std. Out", 2)]
    assert [e["exchange"] for e in data["job_graph"]["edges"]] == ["REBALANCE", "HASH"]
    assert len(data["execution_graph"]["subtasks"]) == 5
    assert data["guarantees"][0]["path"] == "'Source: Collection' -> 'Print to Std. Out'"


def test_unknown_forms_are_refused() -> None:
    with pytest.raises(
        ValueError, match="Forms are text, mermaid, svg, html, json, graphs stream, job, execution; got"
    ):
        words().draw("gif")
    with pytest.raises(ValueError, match="got 'svg' and 'flow'"):
        words().draw("svg", "flow")
