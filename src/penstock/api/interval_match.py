"""What an interval join does: each record meets those of the other side that lie within its interval (W8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.core.co_functions import KeyedCoProcessFunction
from penstock.core.errors import TimestampError
from penstock.core.functions import RuntimeContext
from penstock.core.join_functions import ProcessJoinFunction
from penstock.core.metrics import Counter
from penstock.core.output_tag import OutputTag
from penstock.core.stamped import Stamped
from penstock.core.state import MapState, MapStateDescriptor
from penstock.core.time import MAX_TIMESTAMP

__all__ = ["IntervalMatch", "Side"]

BLOCK_RECORDS = 64
_PROBES = 32


@dataclass(frozen=True, slots=True)
class Side:
    """One input: `ts + first … ts + last` of the other side match a record of it; `late` names a side output."""

    name: str
    first: int
    last: int
    outer: bool = False
    late: OutputTag | None = None


class _Waiting:
    """The records of a side and key that can still match, by timestamp, each with whether it must not stay alone.

    A map from timestamp to (number of full blocks, newest records), and from (timestamp, number) to the full blocks:
    however many records share a timestamp, one more of them touches few others.
    """

    def __init__(self, name: str, context: RuntimeContext) -> None:
        self._map: MapState[Any, Any] = context.get_map_state(MapStateDescriptor(f"_{name}"))

    def add(self, timestamp: int, value: Any, alone: bool) -> None:
        full, newest = self._map.get(timestamp) or (0, ())
        if len(newest) >= BLOCK_RECORDS:
            self._map.put((timestamp, full), newest)
            full, newest = full + 1, ()
        self._map.put(timestamp, (full, (*newest, (alone, value))))

    def times(self, first: int, last: int) -> list[int]:
        """The timestamps in a range that have records, in order."""
        if last - first < _PROBES:
            return [time for time in range(first, last + 1) if self._map.contains(time)]
        return sorted(time for time in self._map if time.__class__ is int and first <= time <= last)

    def meet(self, timestamp: int) -> list[Any]:
        """The records of a timestamp; from now on none of them is alone."""
        found: list[Any] = []
        full, newest = self._map.get(timestamp) or (0, ())
        for number in range(full):
            block = self._map.get((timestamp, number)) or ()
            if _any_alone(block):
                self._map.put((timestamp, number), _not_alone(block))
            found += block
        if _any_alone(newest):
            self._map.put(timestamp, (full, _not_alone(newest)))
        return [value for _, value in (*found, *newest)]

    def leave(self, timestamp: int) -> list[Any]:
        """Forget the records of a timestamp; those that stayed alone."""
        left: list[Any] = []
        full, newest = self._map.get(timestamp) or (0, ())
        for number in range(full):
            left += self._map.get((timestamp, number)) or ()
            self._map.remove((timestamp, number))
        self._map.remove(timestamp)
        return [value for alone, value in (*left, *newest) if alone]


def _any_alone(block: tuple[Any, ...]) -> bool:
    return any(alone for alone, _ in block)


def _not_alone(block: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((False, value) for _, value in block)


class _Context(ProcessJoinFunction.Context):
    """The one context of a join; `sent` gathers what the current call sends to side outputs."""

    def __init__(self) -> None:
        self.stamps: list[int | None] = [None, None]
        self.timestamp = 0
        self.sent: list[Any] = []

    def get_left_timestamp(self) -> int | None:
        return self.stamps[0]

    def get_right_timestamp(self) -> int | None:
        return self.stamps[1]

    def get_timestamp(self) -> int:
        return self.timestamp

    def output(self, output_tag: OutputTag, value: Any) -> None:
        self.sent.append((output_tag, value))


class IntervalMatch(KeyedCoProcessFunction):
    """Keeps the records of both sides until the watermark is past what they can match.

    A record is late if the watermark is past its timestamp (T10), so one that the watermark has just reached still
    meets everything in its interval; a record is kept until the watermark is past the last timestamp that matches it.
    """

    def __init__(self, function: ProcessJoinFunction, left: Side, right: Side) -> None:
        # configuration
        self._function = function
        self._sides = (left, right)
        # not checkpointed
        self._context: _Context
        self._late: Counter
        self._dropped: Counter
        # checkpointed
        self._waiting: tuple[_Waiting, _Waiting]

    def open(self, runtime_context: RuntimeContext) -> None:
        self._context = _Context()
        left, right = self._sides
        self._waiting = (_Waiting(left.name, runtime_context), _Waiting(right.name, runtime_context))
        metrics = runtime_context.get_metrics_group()
        self._late, self._dropped = metrics.counter("numLateRecords"), metrics.counter("numLateRecordsDropped")
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()

    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any]:
        return self._arrived(0, value, ctx)

    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any]:
        return self._arrived(1, value, ctx)

    def _arrived(self, index: int, value: Any, ctx: Any) -> Iterable[Any]:
        timestamp = ctx.timestamp()
        if timestamp is None:
            raise TimestampError(
                "a record without a timestamp came to an interval join: call assign_timestamps_and_watermarks first"
            )
        if timestamp < ctx.timer_service().current_watermark():
            return self._too_late(self._sides[index], value)
        return self._on_time(index, value, timestamp, ctx.timer_service())

    def _too_late(self, side: Side, value: Any) -> Iterable[Any]:
        self._late.inc()
        if side.late is None:
            self._dropped.inc()
            return ()
        return ((side.late, value),)

    def _on_time(self, index: int, value: Any, timestamp: int, timers: Any) -> Iterator[Any]:
        side, other = self._sides[index], self._waiting[1 - index]
        matched = False
        for time in other.times(timestamp + side.first, timestamp + side.last):
            for partner in other.meet(time):
                matched = True
                yield from self._pair(index, (value, timestamp), (partner, time))
        alone, bound = side.outer and not matched, timestamp + side.last
        if bound >= timers.current_watermark():
            self._waiting[index].add(timestamp, value, alone)
            timers.register_event_time_timer(min(bound + 1, MAX_TIMESTAMP))
        elif alone:
            yield from self._alone(index, value, timestamp)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """The watermark is past what records of one timestamp on each side can match."""
        for index, (side, waiting) in enumerate(zip(self._sides, self._waiting, strict=True)):
            over = timestamp - 1 - side.last
            for time in waiting.times(over, over if timestamp < MAX_TIMESTAMP else MAX_TIMESTAMP):
                for value in waiting.leave(time):
                    yield from self._alone(index, value, time)

    # -- results --------------------------------------------------------------------------------------

    def _pair(self, index: int, own: tuple[Any, int], other: tuple[Any, int]) -> Iterable[Any]:
        (left, left_time), (right, right_time) = (own, other) if index == 0 else (other, own)
        self._context.stamps[:] = left_time, right_time
        return self._call(left, right, max(left_time, right_time))

    def _alone(self, index: int, value: Any, timestamp: int) -> Iterable[Any]:
        """Stamped with the moment at which the wait was over, so that it is not late for those who come after."""
        over = min(timestamp + self._sides[index].last + 1, MAX_TIMESTAMP)
        self._context.stamps[:] = (timestamp, None) if index == 0 else (None, timestamp)
        left, right = (value, None) if index == 0 else (None, value)
        return self._call(left, right, max(timestamp, over))

    def _call(self, left: Any, right: Any, timestamp: int) -> Iterator[Any]:
        context = self._context
        context.timestamp = timestamp
        context.sent = []
        for record in self._function.process_element(left, right, context) or ():
            yield Stamped(record, timestamp)
        for record in context.sent:
            yield Stamped(record, timestamp)
