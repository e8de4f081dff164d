"""A program with every kind of state, and ways in which somebody may change it between two runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.cep import CEP, Pattern
from penstock.common import Duration, Time, WatermarkStrategy
from penstock.common.watermark_strategy import Watermark, WatermarkGenerator
from penstock.datastream import (
    CheckpointedFunction,
    DataStream,
    KeyedBroadcastProcessFunction,
    MapFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows
from penstock.testing import collect
from tests.properties.programs import Event, SortedRunningSum, TumblingCount

__all__ = ["RESULTS", "VARIANTS", "Variant", "program"]

DELAY_MS = 15
RESULTS = ("counted", "sessions", "sliding", "matches", "summed", "ruled", "kept")


@dataclass(frozen=True)
class Variant:
    """How the program is written. `stage`: how many exchanges come before the keyed operators."""

    added: bool = False
    renamed: bool = False
    reversed: bool = False
    stage: int = 0
    chained: bool = True
    removed: bool = False


VARIANTS = (
    Variant(),
    Variant(added=True),
    Variant(renamed=True),
    Variant(reversed=True),
    Variant(stage=1),
    Variant(stage=2, added=True, reversed=True),
    Variant(chained=False),
    Variant(removed=True),
)


class Behind(WatermarkGenerator):
    """As bounded out-of-orderness, but a generator of the user's, which must be kept with its state."""

    def __init__(self) -> None:
        self._largest = -1

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        self._largest = max(self._largest, event_timestamp)

    def on_periodic_emit(self, output: Any) -> None:
        if self._largest >= 0:
            output.emit_watermark(Watermark(self._largest - DELAY_MS - 1))


class Kept(MapFunction, CheckpointedFunction):
    """Counts in split-list state: all subtasks' counts together are the number of records so far."""

    def initialize_state(self, context: Any) -> None:
        self._state = context.get_operator_state_store().get_list_state(ListStateDescriptor("counts"))
        self._items = list(self._state.get())

    def snapshot_state(self, context: Any) -> None:
        self._state.update(self._items)

    def map(self, value: Event) -> Any:
        self._items.append(value)
        return value


class Ruled(KeyedBroadcastProcessFunction):
    """A key, a time, and the rule: when time has come to it, which the end of the rules lets it."""

    def process_element(self, value: Event, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value.ts)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp, ctx.get_broadcast_state(RULES).get("factor")

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(*value)


RULES = MapStateDescriptor("rules")


PLAIN = Variant()


def program(streams: list[list[Event]], variant: Variant = PLAIN) -> StreamExecutionEnvironment:
    """The program over these inputs, in one of its forms."""
    env = StreamExecutionEnvironment()
    stream = _input(env, streams, variant)
    branches = [_counted, _sessions, _sliding, _matches, _summed, _ruled, _kept]
    for branch in reversed(branches) if variant.reversed else branches:
        branch(env, stream, variant)
    if variant.added:
        collect(stream.key_by(lambda e: e.key).process(TumblingCount()).uid("added count"), "added")
    return env


def _input(env: StreamExecutionEnvironment, streams: list[list[Event]], variant: Variant) -> DataStream[Event]:
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY_MS))
    custom = WatermarkStrategy.for_generator(lambda context: Behind())
    made = []
    for number, events in enumerate(streams):
        strategy = (bounded, custom)[number % 2].with_timestamp_assigner(lambda event, _: event.ts)
        source = env.from_collection(events).uid(f"source {number}")
        made.append(source.assign_timestamps_and_watermarks(strategy).uid(f"time {number}"))
    stream = made[0].union(*made[1:]) if len(made) > 1 else made[0]
    if not variant.removed:
        stream = stream.map(lambda e: e).uid("identity")
    if variant.added:
        stream = stream.filter(lambda e: True).uid("added filter")
    for number in range(variant.stage):
        stream = stream.rebalance().map(lambda e: e).uid(f"moved {number}")
    return stream


def _collected(stream: DataStream[Any], uid: str, name: str, variant: Variant) -> None:
    stream = stream.uid(uid)
    if variant.renamed:
        stream = stream.name(f"{uid}, renamed")
    if not variant.chained:
        stream = stream.disable_chaining()
    collect(stream, name)


def _counted(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    _collected(stream.key_by(lambda e: e.key).process(TumblingCount()), "count", "counted", variant)


def _summed(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    _collected(stream.key_by(lambda e: e.key).process(SortedRunningSum()), "sum", "summed", variant)


def _sessions(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    pairs = stream.map(lambda e: (repr(e.key), e.amount)).uid("pairs")
    windows = pairs.key_by(lambda p: p[0]).window(EventTimeSessionWindows.with_gap(Time.milliseconds(8)))
    _collected(windows.reduce(lambda a, b: (a[0], a[1] + b[1])), "sessions", "sessions", variant)


def _sliding(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    windows = stream.map(lambda e: (e.amount % 3, 1)).uid("thirds").key_by(lambda p: p[0])
    sliding = windows.window(SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(7)))
    _collected(sliding.reduce(lambda a, b: (a[0], a[1] + b[1])), "sliding", "sliding", variant)


def _matches(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    pattern = (
        Pattern.begin("low").where(lambda e: e.amount < 2).followed_by("high").where(lambda e: e.amount > 5)
    ).within(Time.milliseconds(40))
    found = CEP.pattern(stream.key_by(lambda e: e.key), pattern, lambda a, b: a.amount - b.amount).select(
        lambda match: (match["low"][0], match["high"][0])
    )
    _collected(found, "matches", "matches", variant)


def _ruled(env: StreamExecutionEnvironment, stream: DataStream[Event], variant: Variant) -> None:
    rules = env.from_collection([("factor", 3)]).uid("rules").broadcast(RULES)
    _collected(stream.key_by(lambda e: e.key).connect(rules).process(Ruled()), "ruled", "ruled", variant)


def _kept(env: Any, stream: DataStream[Event], variant: Variant) -> None:
    _collected(stream.rebalance().map(Kept()), "kept", "kept", variant)
