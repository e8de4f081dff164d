"""What windows and patterns count, and what state they leave, as the Spark hosts report it (W7, C3, G6)."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.cep import CEP, Pattern
from penstock.common import Configuration, Duration, Time, WatermarkStrategy
from penstock.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from penstock.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from penstock.testing import collect

LATE = OutputTag("late")
EVENTS = [("a", 1), ("a", 12), ("b", 3), ("a", 25), ("b", 24), ("a", 13), ("b", 40)]
"""(name, event time): (b, 3), (a, 13) come after the windows they belong to."""


def timed(env: StreamExecutionEnvironment) -> DataStream[Any]:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0))
    strategy = strategy.with_timestamp_assigner(lambda event, _: event[1])
    return env.from_collection(EVENTS).assign_timestamps_and_watermarks(strategy).set_parallelism(1)  # type: ignore[no-any-return]


def summed(windowed: Any) -> DataStream[Any]:
    return windowed.reduce(lambda a, b: (a[0], max(a[1], b[1])))  # type: ignore[no-any-return]


def pattern(within: bool) -> Pattern:
    found = Pattern.begin("a").where(lambda e: e[0] == "a").followed_by("c").where(lambda e: e[0] == "c")
    return found.within(Time.milliseconds(5)) if within else found


def build(env: StreamExecutionEnvironment) -> None:
    stream = timed(env)
    tumbling = TumblingEventTimeWindows.of(Time.milliseconds(10))
    keyed = stream.key_by(lambda e: e[0])
    tagged = summed(keyed.window(tumbling).side_output_late_data(LATE)).uid("tagged")
    collect(tagged, "tagged")
    collect(tagged.get_side_output(LATE), "late")
    collect(summed(keyed.window(tumbling)).uid("dropping"), "dropping")
    collect(summed(keyed.window(tumbling).allowed_lateness(100)).uid("lasting"), "lasting")
    collect(summed(keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))).uid("sessions"), "sessions")
    collect(CEP.pattern(stream, pattern(True)).select(len).uid("timed").name("timed"), "timed")
    collect(CEP.pattern(stream, pattern(False)).select(len).uid("untimed").name("untimed"), "untimed")


def totals(metrics: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Counters by uid, over all subtasks."""
    found: dict[str, dict[str, int]] = {}
    for subtask in metrics["subtasks"]:
        for uid, operator in subtask["operators"].items():
            into = found.setdefault(uid, {})
            for name, value in operator.items():
                if isinstance(value, int):
                    into[name] = into.get(name, 0) + value
    return found


def counted(fired: int, late: int, dropped: int) -> dict[str, int]:
    return {"numWindowsFired": fired, "numLateRecords": late, "numLateRecordsDropped": dropped}


def pages(metrics: dict[str, Any], name: str) -> int:
    return sum(s.get("state_pages", 0) for s in metrics["subtasks"] if name in s["name"].split(" -> "))


def run(host: str) -> tuple[list[Any], dict[str, Any]]:
    settings = {"penstock.host": host, "penstock.watermark.per-record": "true", "penstock.batch.max-records": "3"}
    env = StreamExecutionEnvironment(Configuration(settings)).set_parallelism(2)
    build(env)
    client = env.execute_async("counted")
    late = list(client.results("late"))
    return late, client.wait().metrics


HOSTS = ["local", *(pytest.param(host, marks=pytest.mark.spark) for host in ("bounded", "streaming"))]


@pytest.mark.parametrize("host", HOSTS)
def test_fired_late_and_dropped_are_counted(host: str) -> None:
    """W7, G6: by every window operator; C3: patterns leave state only where time never runs out."""
    late, metrics = run(host)
    assert sorted(late) == [("a", 13), ("b", 3)]
    assert totals(metrics) == {
        "tagged": counted(fired=5, late=2, dropped=0),
        "dropping": counted(fired=5, late=2, dropped=2),
        "lasting": counted(fired=7, late=0, dropped=0),
        "sessions": counted(fired=5, late=2, dropped=2),
        "timed": {"numLateRecordsDropped": 3},
        "untimed": {"numLateRecordsDropped": 3},
    }
    assert pages(metrics, "timed") == 0
    assert pages(metrics, "untimed") == 1
