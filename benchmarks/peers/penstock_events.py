"""The event-time jobs as Penstock programs: from a source of indices to records (key, value, at)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

from benchmarks.events import (
    AS_THEY_COME,
    IN_A_ROW,
    JOIN,
    LOGINS,
    SESSIONS,
    SHAPES,
    SLIDING,
    TUMBLING,
    WORDS,
    event,
    line,
    login,
    numbered,
    ranked,
    session_value,
)
from benchmarks.nexmark.generator import event as auction_event
from benchmarks.nexmark.queries import QUERIES
from penstock.cep import CEP, AfterMatchSkipStrategy, Pattern
from penstock.common import Time, WatermarkStrategy
from penstock.datastream import (
    AggregateFunction,
    DataStream,
    KeyedProcessFunction,
    ProcessJoinFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

Stream = DataStream[Any]


class Count(AggregateFunction):
    """Records of a window; merging is right in any order, and says so."""

    mergeable = True

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, a: int, b: int) -> int:
        return a + b


class WithEnd(ProcessWindowFunction):
    """(key, count, end of the window)."""

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[tuple[int, int, int]]:
        for count in elements:
            yield key, count, context.window().end


class AsSession(ProcessWindowFunction):
    """(key, length and size, end of the session)."""

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[tuple[int, int, int]]:
        window = context.window()
        for count in elements:
            yield key, session_value(window.start, window.end, count), window.end


class Top(KeyedProcessFunction):
    """Keyed by the end of a window: keeps its counts until the watermark has passed it."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts"))

    def process_element(self, value: Any, ctx: Any) -> None:
        self.counts.add(value[:2])
        ctx.timer_service().register_event_time_timer(value[2])

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        yield from ranked(self.counts.get(), timestamp)
        self.counts.clear()


class Pair(ProcessJoinFunction):
    """(left, right, the later of them)."""

    def process_element(self, left: Any, right: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        yield left[1], right[1], max(left[1], right[1])


def _source(env: StreamExecutionEnvironment, make: Callable[[int], Any], count: int, at: int = 1) -> Stream:
    """A stream in order of event time, which is found at a place of the records."""
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_timestamp_assigner(lambda value, _: value[at])
    return env.from_source(DataGeneratorSource(make, count), strategy, "events")


def _events(env: StreamExecutionEnvironment, what: str, records: int) -> Any:
    keys = SHAPES[what].keys
    return _source(env, lambda index: event(index, keys), records).key_by(itemgetter(0))


def tumbling(env: StreamExecutionEnvironment, records: int) -> Stream:
    windows = TumblingEventTimeWindows.of(Time.milliseconds(SHAPES[TUMBLING].size_ms))
    return _events(env, TUMBLING, records).window(windows).aggregate(Count(), WithEnd())  # type: ignore[no-any-return]


def sliding(env: StreamExecutionEnvironment, records: int) -> Stream:
    shape = SHAPES[SLIDING]
    windows = SlidingEventTimeWindows.of(Time.milliseconds(shape.size_ms), Time.milliseconds(shape.slide_ms))
    counts = _events(env, SLIDING, records).window(windows).aggregate(Count(), WithEnd())
    return counts.key_by(itemgetter(2)).process(Top())  # type: ignore[no-any-return]


def sessions(env: StreamExecutionEnvironment, records: int) -> Stream:
    windows = EventTimeSessionWindows.with_gap(Time.milliseconds(SHAPES[SESSIONS].size_ms))
    return _events(env, SESSIONS, records).window(windows).aggregate(Count(), AsSession())  # type: ignore[no-any-return]


def interval_join(env: StreamExecutionEnvironment, records: int) -> Stream:
    shape, bound = SHAPES[JOIN], Time.milliseconds(SHAPES[JOIN].size_ms)
    left = _source(env, lambda index: event(2 * index, shape.keys), records // 2).key_by(itemgetter(0))
    right = _source(env, lambda index: event(2 * index + 1, shape.keys), records // 2).key_by(itemgetter(0))
    return left.interval_join(right).between(Time.milliseconds(-shape.size_ms), bound).process(Pair())


def logins(env: StreamExecutionEnvironment, records: int) -> Stream:
    failed = Pattern.begin("failed", AfterMatchSkipStrategy.skip_past_last_event()).where(lambda event: not event[1])
    users = _logins(env, records).key_by(itemgetter(0))
    return CEP.pattern(users, failed.times(IN_A_ROW).consecutive()).select(_alert)


def _logins(env: StreamExecutionEnvironment, records: int) -> Stream:
    return _source(env, lambda index: login(index, SHAPES[LOGINS].keys), records, 2)


def _alert(match: dict[str, list[Any]]) -> tuple[int, int, int]:
    user, _, at = match["failed"][-1]
    return user, at, at


class Failures(KeyedProcessFunction):
    """Counts failures in a row, in the order in which logins come."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.failures = runtime_context.get_state(ValueStateDescriptor("failures"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        user, fine, at = value
        failures = 0 if fine else (self.failures.value() or 0) + 1
        if failures == IN_A_ROW:
            failures = 0
            yield user, at, at
        self.failures.update(failures)


def as_they_come(env: StreamExecutionEnvironment, records: int) -> Stream:
    """One source, whose records stay in their order."""
    return _logins(env, records).set_parallelism(1).key_by(itemgetter(0)).process(Failures())


def word_count(env: StreamExecutionEnvironment, records: int) -> Stream:
    words = _source(env, line, records).flat_map(lambda given: [(word, 1, given[1]) for word in given[0].split()])
    counts = words.key_by(itemgetter(0)).reduce(lambda a, b: (a[0], a[1] + b[1], b[2]))
    return counts.map(lambda found: (numbered(found[0]), found[1], found[2]))


def nexmark(query: str, env: StreamExecutionEnvironment, records: int) -> Stream:
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    strategy = strategy.with_timestamp_assigner(lambda event, _: event.date_time)
    events = env.from_source(DataGeneratorSource(auction_event, records), strategy, "events")
    found: Stream = QUERIES[query](events)
    return found


PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment, int], Stream]] = {
    TUMBLING: tumbling,
    SLIDING: sliding,
    SESSIONS: sessions,
    JOIN: interval_join,
    LOGINS: logins,
    AS_THEY_COME: as_they_come,
    WORDS: word_count,
    **{name: partial(nexmark, name) for name in QUERIES},
}


def sharing(what: str, subtasks: int) -> int:
    """How many subtasks of sources share a batch."""
    return {JOIN: 2 * subtasks, AS_THEY_COME: 1}.get(what, subtasks)
