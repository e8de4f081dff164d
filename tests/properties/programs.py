"""Event-time programs whose results do not depend on the order of arrival, each with its brute-force oracle."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from penstock.common import Duration, WatermarkStrategy
from penstock.datastream import DataStream, KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

WINDOW_MS = 10


class Event(NamedTuple):
    key: Any
    ts: int
    amount: int


class TumblingCount(KeyedProcessFunction):
    """(key, window start, records, sum of amounts), when the watermark passes the window's end."""

    def __init__(self, size_ms: int = WINDOW_MS) -> None:
        self._size_ms = size_ms

    def open(self, runtime_context: RuntimeContext) -> None:
        self._counts = runtime_context.get_map_state(MapStateDescriptor("counts"))

    def process_element(self, value: Any, ctx: Any) -> None:
        start = ctx.timestamp() - ctx.timestamp() % self._size_ms
        assert start + self._size_ms - 1 > ctx.timer_service().current_watermark(), "late"
        count, total = self._counts.get(start) or (0, 0)
        self._counts.put(start, (count + 1, total + value[2]))
        ctx.timer_service().register_event_time_timer(start + self._size_ms - 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        start = timestamp + 1 - self._size_ms
        count, total = self._counts.get(start)  # type: ignore[misc]
        self._counts.remove(start)
        yield ctx.get_current_key(), start, count, total


class SortedRunningSum(KeyedProcessFunction):
    """(key, number, timestamp, running sum) in event-time order: buffers records until the watermark passes them."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._waiting = runtime_context.get_list_state(ListStateDescriptor("waiting"))
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen"))
        self._total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", lambda a, b: a + b))

    def process_element(self, value: Event, ctx: Any) -> None:
        self._waiting.add([value.ts, value.amount])
        ctx.timer_service().register_event_time_timer(value.ts)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        waiting = sorted(self._waiting.get())
        self._waiting.update([r for r in waiting if r[0] > timestamp])
        for ts, amount in waiting:
            if ts <= timestamp:
                number = (self._seen.value() or 0) + 1
                self._seen.update(number)
                self._total.add(amount)
                yield ctx.get_current_key(), number, ts, self._total.get()


def sources(env: StreamExecutionEnvironment, inputs: Iterable[list[Event]], delay_ms: int) -> DataStream[Event]:
    """All inputs in one stream."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(delay_ms)).with_timestamp_assigner(
        lambda event, _: event.ts
    )
    first, *others = (env.from_collection(i).assign_timestamps_and_watermarks(strategy) for i in inputs)
    return first.union(*others) if others else first


def counted(stream: DataStream[Event]) -> DataStream[Any]:
    return stream.key_by(lambda e: e.key).process(TumblingCount())


def counted_twice(stream: DataStream[Event]) -> DataStream[Any]:
    by_count = counted(stream).map(lambda r: (r[2], None, r[3])).key_by(lambda r: r[0])
    return by_count.process(TumblingCount(4 * WINDOW_MS))


def summed(stream: DataStream[Event]) -> DataStream[Any]:
    return stream.key_by(lambda e: e.key).process(SortedRunningSum())


def expect_counted(events: list[Event], size_ms: int = WINDOW_MS) -> Counter[Any]:
    windows: dict[Any, list[int]] = defaultdict(list)
    for event in events:
        windows[event.key, event.ts - event.ts % size_ms].append(event.amount)
    return Counter((key, start, len(amounts), sum(amounts)) for (key, start), amounts in windows.items())


def expect_counted_twice(events: list[Event]) -> Counter[Any]:
    fired = [Event(count, start + WINDOW_MS - 1, total) for (_, start, count, total) in expect_counted(events)]
    return expect_counted(fired, 4 * WINDOW_MS)


def expect_summed(events: list[Event]) -> Counter[Any]:
    by_key: dict[Any, list[Event]] = defaultdict(list)
    for event in events:
        by_key[event.key].append(event)
    found: Counter[Any] = Counter()
    for key, mine in by_key.items():
        total = 0
        for number, event in enumerate(sorted(mine, key=lambda e: (e.ts, e.amount)), 1):
            total += event.amount
            found[key, number, event.ts, total] += 1
    return found


PROGRAMS = {
    "counted": (counted, expect_counted),
    "counted_twice": (counted_twice, expect_counted_twice),
    "summed": (summed, expect_summed),
}
