"""What an interval join does: each record meets those of the other side that lie within its interval (W8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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

BLOCK_RECORDS = 8


@dataclass(frozen=True, slots=True)
class Side:
    """One input: `ts + first … ts + last` of the other side match a record of it; `late` names a side output."""

    name: str
    first: int
    last: int
    outer: bool = False
    late: OutputTag | None = None

    @property
    def width(self) -> int:
        return self.last - self.first + 1

    def over(self, timestamp: int) -> int:
        """When nothing can match a record any more: the watermark is past the end of its interval."""
        return min(timestamp + self.last + 1, MAX_TIMESTAMP)


Entry = tuple[int, bool, Any]
"""Timestamp, whether it must be told that nothing matched it, and the record."""


_NOTHING: tuple[Sequence[Entry], int | None] = ((), None)


class _Waiting:
    """The records of a side and key that can still match, in slots of time as wide as the interval.

    So a record looks into two slots at most. A map from slot to (number of full blocks, earliest timestamp, newest
    entries), and from (slot, number) to the full blocks: one more record of a slot touches few others.
    """

    def __init__(self, side: Side, context: RuntimeContext) -> None:
        self._width, self._tells = side.width, side.outer
        self._map: MapState[Any, Any] = context.get_map_state(MapStateDescriptor(f"_{side.name}"))

    def add(self, entry: Entry) -> bool:
        """Keep a record; whether it is now the earliest of its slot."""
        time = entry[0]
        slot = time // self._width
        full, earliest, newest = self._map.get(slot) or (0, MAX_TIMESTAMP + 1, ())
        if len(newest) >= BLOCK_RECORDS:
            self._map.put((slot, full), newest)
            full, newest = full + 1, ()
        self._map.put(slot, (full, min(time, earliest), (*newest, entry)))
        return time < earliest

    def meet(self, first: int, last: int) -> list[Entry]:
        """The records of a range of time; from now on none of them is alone."""
        found: list[Entry] = []
        slot, end = first // self._width, last // self._width
        while slot <= end:
            head = self._map.get(slot)
            if head is not None:
                full, earliest, newest = head
                for number in range(full):
                    found += self._met((slot, number), self._map.get((slot, number)) or (), first, last)
                found += self._met(slot, newest, first, last, (full, earliest))
            slot += 1
        return found

    def _met(
        self, key: Any, block: tuple[Entry, ...], first: int, last: int, head: tuple[Any, ...] = ()
    ) -> list[Entry]:
        met = [entry for entry in block if first <= entry[0] <= last]
        if self._tells and any(alone for _, alone, _ in met):
            marked = tuple((time, alone and not first <= time <= last, value) for time, alone, value in block)
            self._map.put(key, (*head, marked) if head else marked)
        return met

    def leave(self, slot: int, before: int) -> tuple[Sequence[Entry], int | None]:
        """Forget the records of a slot that are earlier: those, and the earliest left if some were forgotten."""
        head = self._map.get(slot)
        if head is None or head[1] >= before:
            return _NOTHING
        if not head[0] and len(head[2]) == 1:
            self._map.remove(slot)
            return head[2], None
        entries = self._emptied(slot, head)
        kept = [entry for entry in entries if entry[0] >= before]
        return [entry for entry in entries if entry[0] < before], self._filled(slot, kept) if kept else None

    def _filled(self, slot: int, entries: list[Entry]) -> int:
        """Put entries into an empty slot; the earliest timestamp of them."""
        full = (len(entries) - 1) // BLOCK_RECORDS
        for number in range(full):
            block = entries[number * BLOCK_RECORDS : (number + 1) * BLOCK_RECORDS]
            self._map.put((slot, number), tuple(block))
        earliest = min(entry[0] for entry in entries)
        self._map.put(slot, (full, earliest, tuple(entries[full * BLOCK_RECORDS :])))
        return earliest

    def _emptied(self, slot: int, head: tuple[int, int, tuple[Entry, ...]]) -> list[Entry]:
        entries: list[Entry] = []
        for number in range(head[0]):
            entries += self._map.get((slot, number)) or ()
            self._map.remove((slot, number))
        self._map.remove(slot)
        return [*entries, *head[2]]

    def slots(self) -> list[int]:
        return sorted(slot for slot in self._map if slot.__class__ is int)


class _Context(ProcessJoinFunction.Context):
    """The one context of a join; `sent` gathers what the current call sends to side outputs.

    `now` is what results are stamped with unless told otherwise: the timestamp of the arriving record or timer.
    """

    def __init__(self) -> None:
        self.stamps: tuple[int | None, int | None] = (None, None)
        self.timestamp = self.now = 0
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
        left, right = (_Waiting(side, runtime_context) for side in self._sides)
        self._waiting = (left, right)
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

    def _on_time(self, index: int, value: Any, timestamp: int, timers: Any) -> Iterable[Any]:
        side = self._sides[index]
        self._context.now = timestamp
        met = self._waiting[1 - index].meet(timestamp + side.first, timestamp + side.last)
        alone = side.outer and not met
        if timestamp + side.last >= timers.current_watermark():
            if self._waiting[index].add((timestamp, alone, value)):
                timers.register_event_time_timer(side.over(timestamp))
        elif alone:
            return self._alone(index, value, timestamp)
        return self._pairs(index, value, timestamp, met) if met else ()

    def _pairs(self, index: int, value: Any, timestamp: int, met: list[Entry]) -> Iterator[Any]:
        for time, _, partner in met:
            left, right = (value, partner) if index == 0 else (partner, value)
            self._context.stamps = (timestamp, time) if index == 0 else (time, timestamp)
            yield from self._call(left, right, max(timestamp, time))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any]:
        """The watermark is past the interval of some records: forget those, wait for the earliest of the others."""
        timers, self._context.now = ctx.timer_service(), timestamp
        clock = timers.current_watermark()
        results: list[Any] = []
        for index, side in enumerate(self._sides):
            waiting = self._waiting[index]
            slots = ((timestamp - 1 - side.last) // side.width,) if timestamp < MAX_TIMESTAMP else waiting.slots()
            before = clock - side.last if clock < MAX_TIMESTAMP else clock + 1
            for slot in slots:
                gone, earliest = waiting.leave(slot, before)
                if side.outer:
                    results += (r for time, alone, value in gone if alone for r in self._alone(index, value, time))
                if earliest is not None:
                    timers.register_event_time_timer(side.over(earliest))
        return results

    # -- results --------------------------------------------------------------------------------------

    def _alone(self, index: int, value: Any, timestamp: int) -> Iterable[Any]:
        """Stamped with the moment at which the wait was over, so that it is not late for those who come after."""
        self._context.stamps = (timestamp, None) if index == 0 else (None, timestamp)
        left, right = (value, None) if index == 0 else (None, value)
        return self._call(left, right, max(timestamp, self._sides[index].over(timestamp)))

    def _call(self, left: Any, right: Any, timestamp: int) -> Iterator[Any]:
        context = self._context
        context.timestamp, context.sent = timestamp, []
        results = self._function.process_element(left, right, context)
        if timestamp == context.now:
            yield from results or ()
        else:
            for record in results or ():
                yield Stamped(record, timestamp)
        for record in context.sent:
            yield Stamped(record, timestamp)
