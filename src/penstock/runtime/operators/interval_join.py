"""Interval joins: each record meets the records of the other side that lie within its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from typing import Any

from penstock.core.errors import TimestampError
from penstock.core.functions.base import TimeDomain
from penstock.core.functions.join import ProcessJoinFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.poison import FailedTimer
from penstock.core.program.specs import IntervalJoinSpec, IntervalSide
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.runtime.codec import IMMUTABLE, Encoded, decode, encode, is_immutable, loads
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import describe
from penstock.runtime.list_keys import shown
from penstock.runtime.operators.base import Entry
from penstock.runtime.operators.process import KeyedOperator
from penstock.runtime.state.backend import EVENT
from penstock.runtime.state.page import Timer
from penstock.runtime.state.timed import Buffer, add, forget, latest, meet
from penstock.runtime.state.timed import Entry as Waiting
from penstock.runtime.values import Keys, Record, Records, Timestamps

__all__ = ["WAITING", "GuardedIntervalJoin", "IntervalJoinOperator"]

WAITING = "_waiting"
"""The table of records that can still match: key → {side: buffer}, where a side has any."""

_CALLS = ("process_element1", "process_element2")
"""What failures on a record of either side are called."""


class JoinContext(ProcessJoinFunction.Context):
    """The one context of a join; its timestamps change from pair to pair."""

    __slots__ = ("_operator", "left", "right", "timestamp")

    def __init__(self, operator: IntervalJoinOperator) -> None:
        self._operator = operator
        self.left: int | None = None
        self.right: int | None = None
        self.timestamp = 0

    def get_left_timestamp(self) -> int | None:
        """The timestamp of the left record, None if there is none."""
        return self.left

    def get_right_timestamp(self) -> int | None:
        """The timestamp of the right record, None if there is none."""
        return self.right

    def get_timestamp(self) -> int:
        """The timestamp of the pair: the later of the two."""
        return self.timestamp

    def output(self, output_tag: OutputTag, value: object) -> None:
        """Send a value to a side output, with the timestamp of the pair."""
        self._operator.output(output_tag, value, self.timestamp)


class IntervalJoinOperator(KeyedOperator):
    """Keeps the records of both sides until the watermark is past all timestamps that they can match.

    A record is late if the watermark is past its timestamp, so one that the watermark has just reached still
    meets everything in its interval; a record is kept until the watermark is past the last timestamp that matches it.
    A key has one timer. Outer joins emit records without a match, so their timer is set for when the first of the key's
    records is to go; that of inner joins for when the last record present is to go. Earlier records go then at the
    latest, or when the next record of the key and side comes.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, IntervalJoinSpec)
        # configuration
        self._function = desc.spec.function
        self._sides = (desc.spec.left, desc.spec.right)
        self._spans = tuple(side.last + 1 for side in self._sides)
        self._punctual = any(side.outer for side in self._sides)
        # not checkpointed
        self._context = JoinContext(self)
        self._result: object = None
        group = task.metrics_of(desc).group
        self._late, self._dropped = group.counter("numLateRecords"), group.counter("numLateRecordsDropped")
        # checkpointed
        self._slot = self._backend.use(WAITING)

    def open(self) -> None:
        """Open the join function."""
        self._function.open(LiveRuntimeContext(self.task, self.desc, keyed=True))

    def close(self) -> None:
        """Close the join function."""
        self._function.close()

    def entry(self, index: int) -> Entry:
        """Input 0 is the left side, input 1 the right one."""
        return partial(self._process, index)

    # -- records ------------------------------------------------------------------------------------

    def _process(self, index: int, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        assert keys is not None, "an interval join got records without keys"
        backend, pages = self._backend, self._backend.pages(keys)
        stamps = timestamps if timestamps is not None else repeat(None)
        side, other, tells = self._sides[index], 1 - index, self._sides[1 - index].outer
        first, last, outer = side.first, side.last, side.outer
        slot, clock, value = self._slot, self.current_watermark, None
        before = side.expired(clock)
        try:
            for value, stamp, key, page in zip(values, stamps, keys, pages, strict=False):
                backend.key, backend.page = key, page
                if stamp is None or stamp < clock:
                    self._not_in_time(side, value, stamp)
                    continue
                waiting = page.slots[slot].get(key)
                met: Sequence[Waiting] = ()
                if waiting is not None and (theirs := waiting.get(other)) is not None:
                    met = meet(backend, theirs, stamp + first, stamp + last, tells)
                if stamp + last >= clock:
                    self._keep(index, waiting, stamp, outer and not met, value, before)
                elif outer and not met:
                    self._alone(index, value, stamp)
                if met:
                    page.dirty = page.dirty or tells
                    self._pairs(index, value, stamp, met)
        except Exception as error:
            raise self.failed(_CALLS[index], value, self._result, error) from error
        self.flush()

    def _not_in_time(self, side: IntervalSide, value: object, stamp: int | None) -> None:
        if stamp is None:
            self._unstamped(value)
        else:
            self._too_late(side, value, stamp)

    def _unstamped(self, value: object) -> None:
        raise TimestampError(
            "a record without a timestamp came to an interval join: call assign_timestamps_and_watermarks first"
        )

    def _too_late(self, side: IntervalSide, value: object, stamp: int) -> None:
        self._late.inc()
        if side.late is None:
            self._dropped.inc()
        else:
            self.output(side.late, value, stamp)

    def _keep(
        self, index: int, waiting: dict[int, Buffer] | None, stamp: int, alone: bool, value: Record, before: int
    ) -> None:
        """Keep a record of the current key. `waiting`: the records kept so far, expired before `before`."""
        backend = self._backend
        page = backend.page
        page.dirty = True
        entry = (stamp, alone, value if is_immutable(value) else encode(value))
        if waiting is None:
            page.slots[self._slot][backend.key] = {index: [stamp, None, [entry]]}
        else:
            mine = waiting.get(index)
            if mine is not None and not self._punctual and mine[0] < before:
                forget(backend, mine, before, False)
                if not mine[2] and mine[1] is None:
                    mine = None
            first = True
            if mine is None:
                waiting[index] = [stamp, None, [entry]]
            else:
                first = add(backend, mine, entry)
            if not (first and self._punctual and self._is_next(waiting, index, stamp)):
                return
        timer = stamp + self._spans[index]
        backend.register(EVENT, timer if timer < MAX_TIMESTAMP else MAX_TIMESTAMP)

    def _is_next(self, waiting: dict[int, Buffer], index: int, stamp: int) -> bool:
        """Whether the first record of its side goes before the first record of the other side."""
        theirs = waiting.get(1 - index)
        return theirs is None or theirs[0] + self._spans[1 - index] > stamp + self._spans[index]

    # -- time ---------------------------------------------------------------------------------------

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        slot, backend = self._slot, self._backend
        before = tuple(side.expired(self.current_watermark) for side in self._sides)
        try:
            for _, key, _ in due:
                table = backend.page.slots[slot]
                waiting = table.get(key)
                if waiting is not None:
                    alone = self._expire(waiting, before)
                    if not waiting:
                        del table[key]
                    if alone:
                        self._all_alone(alone)
        except Exception as error:
            what = f"timer {self._context.timestamp} of key {describe(backend.key)}"
            raise self.failed("on_timer", what, self._result, error) from error

    def _expire(self, waiting: dict[int, Buffer], before: Sequence[int]) -> list[tuple[int, Waiting]] | None:
        """Forget the records of a key that have expired, and set the timer of the others.

        Returns the forgotten records that had no match, with their side, if that side is an outer one.
        """
        alone: list[tuple[int, Waiting]] | None = None
        ends = []
        for index in [*waiting]:
            mine = waiting[index]
            if mine[0] < before[index]:
                outer = self._sides[index].outer
                gone = forget(self._backend, mine, before[index], outer)
                if outer:
                    alone = [*(alone or ()), *((index, entry) for entry in gone if entry[1])]
                if not mine[2] and mine[1] is None:
                    del waiting[index]
                    continue
            ends.append((mine[0] if self._punctual else latest(mine)) + self._spans[index])
        if ends:
            timer = min(ends) if self._punctual else max(ends)
            self._backend.register(EVENT, timer if timer < MAX_TIMESTAMP else MAX_TIMESTAMP)
        return alone

    # -- results ------------------------------------------------------------------------------------

    def _pairs(self, index: int, value: object, stamp: int, met: Sequence[Waiting]) -> None:
        call, context = self._function.process_element, self._context
        for time, _, stored in met:
            partner = loads(stored) if type(stored) is Encoded else stored
            context.timestamp = timestamp = stamp if stamp > time else time
            if index == 0:
                context.left, context.right = stamp, time
                result = call(value, partner, context)
            else:
                context.left, context.right = time, stamp
                result = call(partner, value, context)
            if result is not None:
                self._result = result
                self._take_all(result, timestamp)

    def _alone(self, index: int, value: object, time: int) -> None:
        """Emit the outer row of a record without a match.

        It is stamped with the moment at which the wait was over, so that it is not late for operators behind the join.
        """
        context = self._context
        context.timestamp = max(time, self._sides[index].over(time))
        context.left, context.right = (time, None) if index == 0 else (None, time)
        left, right = (value, None) if index == 0 else (None, value)
        self._result = result = self._function.process_element(left, right, context)
        if result is not None:
            self._take_all(result, context.timestamp)

    def _all_alone(self, alone: Sequence[tuple[int, Waiting]]) -> None:
        """Emit the outer row for each record of the current key that leaves the buffer without a match."""
        for index, (time, _, stored) in alone:
            self._alone(index, decode(stored), time)

    def _take_all(self, result: Any, timestamp: int) -> None:
        out, times, limit = self._values, self._times, self._limit
        immutable = IMMUTABLE
        for record in result:
            if len(out) >= limit:
                self.flush_main()
                out, times = self._values, self._times
            # tuples of scalars are the commonest records: they need no copy, so no call is made for them
            if type(record) is tuple:
                for item in record:
                    if type(item) not in immutable:
                        self.take_one(record, timestamp)
                        break
                else:
                    out.append(record)
                    times.append(timestamp)
            else:
                self.take_one(record, timestamp)


class GuardedIntervalJoin(IntervalJoinOperator):
    """Goes on without records on which the function raises: nothing comes out of any of their pairs.

    If the function raises on a record that waited and had no match, a `FailedTimer` of the moment at which the wait was
    over is put aside.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._aside: list[tuple[OutputTag, Any, Any]] | None = None

    def _unstamped(self, value: object) -> None:
        with self._all_or_nothing(value, None):
            super()._unstamped(value)

    def _pairs(self, index: int, value: object, stamp: int, met: Sequence[Waiting]) -> None:
        with self._all_or_nothing(value, stamp):
            super()._pairs(index, value, stamp, met)

    def _alone(self, index: int, value: object, time: int) -> None:
        with self._all_or_nothing(value, time):
            super()._alone(index, value, time)

    def _all_alone(self, alone: Sequence[tuple[int, Waiting]]) -> None:
        for index, (time, _, stored) in alone:
            over = self._sides[index].over(time)
            with self._all_or_nothing(FailedTimer(shown(self._backend.key), over), over):
                super()._alone(index, decode(stored), time)

    @contextmanager
    def _all_or_nothing(self, record: object, stamp: int | None) -> Iterator[None]:
        """Hold back everything that the block emits; if the block raises, drop it and put the record aside."""
        values, times = self._values, self._times
        aside = self._aside = []
        self._values, self._times = [], []
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            failure = error
        made, stamps = self._values, self._times
        self._values, self._times, self._aside = values, times, None
        if failure is not None:
            return self.put_aside(record, stamp, failure)
        values += made
        times += stamps
        for sent in aside:
            super().output(*sent)

    def output(self, tag: OutputTag, value: object, timestamp: int | None) -> None:
        """Send to a side output, or hold back while a guarded call lasts."""
        if self._aside is None:
            super().output(tag, value, timestamp)
        else:
            self._aside.append((tag, self._detach(value), timestamp))

    def flush_main(self) -> None:
        """Pass records on, unless a guarded call lasts that may still fail."""
        if self._aside is None:
            super().flush_main()
