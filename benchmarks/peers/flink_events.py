"""The event-time jobs as PyFlink programs, and a consumer that notes how far event time has come."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from typing import Any

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import (
    AggregateFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

from benchmarks.events import (
    IN_A_ROW,
    JOIN,
    LOGINS,
    SESSIONS,
    SHAPES,
    SLIDING,
    TUMBLING,
    WORDS,
    answer_of,
    event,
    line,
    login,
    numbered,
    ranked,
    session_value,
)
from benchmarks.inputs import NOTHING, Answer
from benchmarks.params import EventParams
from benchmarks.peers.flink_source import begun_at, made

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
TRIPLE = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
LINE, WORD = Types.TUPLE([Types.STRING(), Types.LONG()]), Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
LOGIN = Types.TUPLE([Types.LONG(), Types.BOOLEAN(), Types.LONG()])

Mark = tuple[float, int]


class Progress(FlatMapFunction):  # type: ignore[misc]
    """Counts and adds up what arrives up to the cut; notes the time whenever event time has come further."""

    def __init__(self, folder: str, cut_ms: int) -> None:
        self.folder, self.cut_ms = folder, cut_ms

    def open(self, runtime_context: Any) -> None:
        self.answer = NOTHING
        self.marks: list[Mark] = []
        self.at = -1

    def flat_map(self, value: Any) -> tuple[()]:
        self.answer += answer_of((value,), self.cut_ms)
        if self.at < value[2] <= self.cut_ms:
            self.at = value[2]
            self.marks.append((time.time(), self.at))
        return ()

    def close(self) -> None:
        name = f"{os.getpid()}-{id(self)}.json"
        found = [self.answer.emitted, self.answer.checksum, self.marks]
        Path(self.folder, name).write_text(json.dumps(found))


def progress(folder: str, params: EventParams, step_ms: int) -> tuple[Answer, float]:
    """The answer, and records a second: how far event time came, from when the warm-up was over.

    Process mode may hold its output back and let it out at once: what came after the warm-up then came within a
    moment. Where that looks more than twice as fast as the whole run, the whole run counts, from its first record on.
    """
    consumers = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    answer = sum((Answer(emitted, checksum) for emitted, checksum, _ in consumers), NOTHING)
    marks = [(at, done) for _, _, marks in consumers for at, done in marks]
    begun, ended = next(mark for mark in marks if mark[1] >= params.warmup * step_ms), marks[-1]
    whole = params.records / (ended[0] - begun_at())
    after = (ended[1] - begun[1]) / step_ms / (ended[0] - begun[0]) if ended[0] > begun[0] else inf
    return answer, after if after <= 2 * whole else whole


class At(TimestampAssigner):  # type: ignore[misc]
    """The timestamp is at a place of the record."""

    def __init__(self, place: int) -> None:
        self.place = place

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        found: int = value[self.place]
        return found


class Count(AggregateFunction):  # type: ignore[misc]
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, a: int, b: int) -> int:
        return a + b


class WithEnd(ProcessWindowFunction):  # type: ignore[misc]
    def process(self, key: int, context: Any, elements: Any) -> Iterator[tuple[int, int, int]]:
        for count in elements:
            yield key, count, context.window().end

    def clear(self, context: Any) -> None:
        pass


class AsSession(WithEnd):
    def process(self, key: int, context: Any, elements: Any) -> Iterator[tuple[int, int, int]]:
        window = context.window()
        for count in elements:
            yield key, session_value(window.start, window.end, count), window.end


class Top(KeyedProcessFunction):  # type: ignore[misc]
    """Keyed by the end of a window: keeps its counts until the watermark has passed it."""

    def open(self, runtime_context: Any) -> None:
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts", PAIR))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.counts.add((value[0], value[1]))
        ctx.timer_service().register_event_time_timer(value[2])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        yield from ranked(((key, count) for key, count in self.counts.get()), timestamp)
        self.counts.clear()


class Join(KeyedCoProcessFunction):  # type: ignore[misc]
    """Keeps both sides by timestamp; a timer removes what no event can reach any more."""

    def __init__(self, bound_ms: int) -> None:
        self.bound_ms = bound_ms

    def open(self, runtime_context: Any) -> None:
        self.sides = [
            runtime_context.get_map_state(MapStateDescriptor(name, Types.LONG(), Types.LONG()))
            for name in ("left", "right")
        ]

    def process_element1(self, value: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        for other in self._partners(0, value, ctx):
            yield value[1], other, max(value[1], other)

    def process_element2(self, value: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        for other in self._partners(1, value, ctx):
            yield other, value[1], max(value[1], other)

    def _partners(self, side: int, value: Any, ctx: Any) -> list[int]:
        at = value[1]
        self.sides[side].put(at, at)
        ctx.timer_service().register_event_time_timer(at + self.bound_ms + 1)
        return [other for other in self.sides[1 - side] if abs(other - at) <= self.bound_ms]

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        for side in self.sides:
            side.remove(timestamp - self.bound_ms - 1)
        return iter(())


class Failures(KeyedProcessFunction):  # type: ignore[misc]
    """Logins wait for the watermark, then are counted."""

    def open(self, runtime_context: Any) -> None:
        self.waiting = runtime_context.get_map_state(MapStateDescriptor("waiting", Types.LONG(), Types.BOOLEAN()))
        self.failures = runtime_context.get_state(ValueStateDescriptor("failures", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.waiting.put(value[2], value[1])
        ctx.timer_service().register_event_time_timer(value[2])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        failures = 0 if self.waiting.get(timestamp) else (self.failures.value() or 0) + 1
        self.waiting.remove(timestamp)
        if failures == IN_A_ROW:
            failures = 0
            yield ctx.get_current_key(), timestamp, timestamp
        self.failures.update(failures)


def _source(env: StreamExecutionEnvironment, make: Callable[[int], Any], kind: Any, count: int, at: int = 1) -> Any:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At(at))
    return made(env, count, make, kind).assign_timestamps_and_watermarks(strategy).key_by(_first, Types.LONG())


def _first(value: Any) -> int:
    key: int = value[0]
    return key


def _events(env: StreamExecutionEnvironment, what: str, records: int) -> Any:
    keys = SHAPES[what].keys
    return _source(env, lambda index: event(index, keys), PAIR, records)


def tumbling(env: StreamExecutionEnvironment, records: int) -> Any:
    windows = TumblingEventTimeWindows.of(Time.milliseconds(SHAPES[TUMBLING].size_ms))
    counts = _events(env, TUMBLING, records).window(windows)
    return counts.aggregate(Count(), WithEnd(), accumulator_type=Types.LONG(), output_type=TRIPLE)


def sliding(env: StreamExecutionEnvironment, records: int) -> Any:
    shape = SHAPES[SLIDING]
    windows = SlidingEventTimeWindows.of(Time.milliseconds(shape.size_ms), Time.milliseconds(shape.slide_ms))
    windowed = _events(env, SLIDING, records).window(windows)
    counts = windowed.aggregate(Count(), WithEnd(), accumulator_type=Types.LONG(), output_type=TRIPLE)
    return counts.key_by(lambda count: count[2], Types.LONG()).process(Top(), TRIPLE)


def sessions(env: StreamExecutionEnvironment, records: int) -> Any:
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(SHAPES[SESSIONS].size_ms))
    counts = _events(env, SESSIONS, records).window(windows)
    return counts.aggregate(Count(), AsSession(), accumulator_type=Types.LONG(), output_type=TRIPLE)


def interval_join(env: StreamExecutionEnvironment, records: int) -> Any:
    shape = SHAPES[JOIN]
    left = _source(env, lambda index: event(2 * index, shape.keys), PAIR, records // 2)
    right = _source(env, lambda index: event(2 * index + 1, shape.keys), PAIR, records // 2)
    return left.connect(right).process(Join(shape.size_ms), TRIPLE)


def logins(env: StreamExecutionEnvironment, records: int) -> Any:
    keys = SHAPES[LOGINS].keys
    return _source(env, lambda index: login(index, keys), LOGIN, records, 2).process(Failures(), TRIPLE)


def word_count(env: StreamExecutionEnvironment, records: int) -> Any:
    words = made(env, records, line, LINE).flat_map(
        lambda given: [(word, 1, given[1]) for word in given[0].split()], WORD
    )
    counts = words.key_by(lambda word: word[0], Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
    return counts.map(lambda found: (numbered(found[0]), found[1], found[2]), TRIPLE)


PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment, int], Any]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: interval_join,
    LOGINS: logins,
    WORDS: word_count,
}
