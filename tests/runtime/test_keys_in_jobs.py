"""Equal keys are one key in every kind of operator, whatever the batches and the parallelism (G5)."""

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from penstock.common import Row, Time
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.datastream import (
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.state import StateEditor
from penstock.testing import BroadcastHarness, KeyedOneInputHarness, collect, local_job

TWICE = datetime.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
NANOS = [pd.Timestamp(1), pd.Timestamp(2)]
SPLITS = [[8], [1] * 8, [1, 7], [7, 1]]


class Zero(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return 0


class Tagged(NamedTuple):
    name: str
    tags: list[str]


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        count = (self.seen.value() or 0) + 1
        self.seen.update(count)
        yield count


class Tamper(KeyedProcessFunction):
    """Changes the key that it was given, and sets a timer."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        key = ctx.get_current_key()
        self.seen.update((self.seen.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(10)
        yield "record", list(key), self.seen.value()
        key.append("changed")

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any]:
        yield "timer", ctx.get_current_key(), self.seen.value()
        self.seen.clear()


def counts(keys: list[Any], sizes: list[int], parallelism: int) -> list[int]:
    env = StreamExecutionEnvironment()
    collect(env.from_collection(keys).set_parallelism(1).key_by(lambda key: key).process(Count()), "counts")
    job = local_job(env, parallelism)
    job.run(sizes)
    return sorted(job.results["counts"])


@pytest.mark.parametrize("sizes", SPLITS, ids=str)
@pytest.mark.parametrize("parallelism", [1, 2, 4])
@pytest.mark.parametrize(
    "pair",
    [
        (TWICE, TWICE.replace(fold=1)),
        (TWICE.replace(fold=1), TWICE),
        (1, 1.0),
        (0.0, -0.0),
        ([1, 2], [1.0, 2]),
        (("a", [1]), ("a", [True])),
        (Row(1, [2]), Row(1.0, [2])),
        (Row(a=1, b=[2]), Row(b=[2], a=1)),
        (Tagged("a", ["x"]), ("a", ["x"])),
    ],
    ids=repr,
)
def test_equal_keys_share_their_state(pair: tuple[Any, Any], parallelism: int, sizes: list[int]) -> None:
    """G5, P11"""
    assert counts(list(pair) * 4, sizes, parallelism) == list(range(1, 9))


@pytest.mark.parametrize("sizes", SPLITS, ids=str)
@pytest.mark.parametrize("pair", [NANOS, ([1, 2], (1, 2)), ([1, 2], [2, 1]), (Row(1, [2]), (1, [2]))], ids=repr)
def test_other_keys_do_not(pair: Any, sizes: list[int]) -> None:
    """G5"""
    assert counts(list(pair) * 4, sizes, 2) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_function_sees_a_list_that_it_may_change() -> None:
    """G5, S7: it gets a new one each time, in records and timers, also after a restart."""
    harness = KeyedOneInputHarness(Tamper(), lambda v: v)
    harness.push_all([(["a", 1], 1), (["a", 1], 2)])
    restarted = KeyedOneInputHarness(Tamper(), lambda v: v, snapshot=harness.snapshot())
    restarted.push(["a", 1], 3)
    assert restarted.event_time_timers() == [(10, ["a", 1])]
    restarted.end_input()
    assert harness.output() + restarted.output() == [
        ("record", ["a", 1], 1),
        ("record", ["a", 1], 2),
        ("record", ["a", 1], 3),
        ("timer", ["a", 1], 3),
    ]
    restarted.assert_no_leaks()


class Show(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield key, len(list(elements))


def test_a_window_function_is_given_the_list() -> None:
    """G5, W5"""
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Zero())
    stream = env.from_collection([["a"], ["a"], ["b"]]).assign_timestamps_and_watermarks(strategy)
    collect(stream.key_by(lambda v: v).window(TumblingEventTimeWindows.of(Time.seconds(1))).process(Show()), "windows")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results["windows"]) == [(["a"], 2), (["b"], 1)]


SEEN = ValueStateDescriptor("seen")


class Each(KeyedBroadcastProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(SEEN)

    def process_element(self, value: Any, ctx: Any) -> None:
        self.seen.update(True)

    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        keys: list[Any] = []
        ctx.apply_to_keyed_state(SEEN, lambda key, state: keys.append(key))
        yield keys


def test_a_broadcast_function_is_given_the_list() -> None:
    """G5, S3"""
    harness = BroadcastHarness(Each(), [MapStateDescriptor("rules")], lambda v: v)
    harness.push(["a"])
    harness.push("all", input=2)
    assert harness.output() == [[["a"]]]


def test_state_can_be_edited_by_list(tmp_path: Path) -> None:
    """F5, G5"""
    new = StateEditor.new("lists")
    new.bootstrap("count", [(["ann"], 3)], lambda row: row[0], lambda row, state: state.get_state(SEEN).update(row[1]))
    view = new.write(str(tmp_path / "one"))
    assert view.keys("count") == [["ann"]]
    with StateEditor(view).keyed("count") as state:
        state.set_key(["ann"])
        assert state.get_state(SEEN).value() == 3
