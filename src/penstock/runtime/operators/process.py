"""Process functions, keyed or not: the kernel that most operators are made of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from typing import Any

from penstock.core.errors import ProgramError, TimestampError
from penstock.core.functions.base import KeyedProcessFunction, ProcessFunction, TimeDomain, TimerService
from penstock.core.functions.internal import RollingFunction, Stamped
from penstock.core.program.job import ChainedOperator
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import BroadcastSpec, KeyedProcessSpec, ProcessSpec
from penstock.core.time.spans import MAX_TIMESTAMP, MAX_WATERMARK, MIN_TIMESTAMP
from penstock.runtime.codec import IMMUTABLE, detach
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import describe, last_taken, not_iterable, user_failure
from penstock.runtime.list_keys import shown
from penstock.runtime.operators.base import Entry, Operator
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.handles import PagedReducingState
from penstock.runtime.state.page import Timer
from penstock.runtime.values import Key, Keys, Record, Records, Timestamps

__all__ = ["Context", "Emitter", "KeyedOperator", "KeyedProcessOperator", "ProcessOperator"]


class Emitter(Operator):
    """Gathers the records that a function yields: for the main output, and `(tag, value)` pairs for side outputs."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._limit = task.settings.chunk_records
        self._detach: Callable[[Record], Record] = _same if task.settings.object_reuse else detach
        self._values: Records = []
        self._times: list[int | None] = []
        self._side: dict[str, tuple[Records, Records]] = {}
        self.held: Records | None = None

    def take(self, result: Iterable[Record], timestamp: int | None) -> None:
        """Gather everything a call yielded."""
        for record in result:
            self.take_one(record, timestamp)
            if len(self._values) >= self._limit:
                self.flush_main()

    def take_one(self, record: object, timestamp: int | None) -> None:
        """Gather one record, or send a `(tag, value)` pair to its side output."""
        if type(record) is Stamped:
            record, timestamp = record
        if type(record) is tuple and len(record) == 2 and type(record[0]) is OutputTag:
            self.output(record[0], record[1], timestamp)
            return
        self._values.append(self._detach(record))
        self._times.append(timestamp)

    def output(self, tag: OutputTag, value: object, timestamp: int | None) -> None:
        """Send to a side output; dropped if the program does not use that tag. Held back while a guarded call lasts."""
        if self.held is not None:
            self.held.append((tag, self._detach(value)))
            return
        side = self.sides.get(tag.tag_id)
        if side is None:
            return
        values, times = self._side.setdefault(tag.tag_id, ([], []))
        values.append(self._detach(value))
        times.append(timestamp)
        if len(values) >= self._limit:
            self._side[tag.tag_id] = ([], [])
            side.emit(values, times)

    @contextmanager
    def holding_back(self) -> Iterator[Records]:
        """Hold back what a guarded call makes: its side outputs are put among what it yields, in the list given."""
        made = self.held = []
        try:
            yield made
        finally:
            self.held = None

    def flush_main(self) -> None:
        """Pass on the records gathered for the main output."""
        if self._values:
            values, times = self._values, self._times
            self._values, self._times = [], []
            self.out.emit(values, _or_none(times))

    def flush(self) -> None:
        """Pass on everything gathered, for the main output and for side outputs."""
        self.flush_main()
        for tag, (values, times) in self._side.items():
            if values:
                self._side[tag] = ([], [])
                self.sides[tag].emit(values, _or_none(times))

    def forward_watermark(self, timestamp: int) -> None:
        """Pass on what was gathered, then the watermark: records must not be overtaken."""
        self.flush()
        super().forward_watermark(timestamp)

    def run(self, function: object, method: str, context: Context, values: Records, timestamps: Timestamps) -> None:
        """Call a method of a function for records that have no key."""
        call, value, result = getattr(function, method), None, None
        try:
            for value, stamp in zip(values, timestamps or repeat(None), strict=False):
                context.stamp = stamp
                result = call(value, context)
                if result is not None:
                    self.take(result, stamp)
        except Exception as error:
            raise self.failed(method, value, result, error) from error
        self.flush()

    def forward_status(self, idle: bool) -> None:
        """Pass on what was gathered, then idleness."""
        self.flush()
        super().forward_status(idle)

    def failed(self, doing: str, record: object, result: object, error: Exception) -> Exception:
        """The error to raise in place of `error`, which came out of a call; `result` is what the call returned, if it
        did."""
        if isinstance(error, TypeError) and result is not None and not hasattr(result, "__iter__"):
            return not_iterable(self.desc.name, self.desc.uid, doing, record, result)
        return user_failure(self.desc.name, self.desc.uid, doing, record, error)


def _same(value: Record) -> Record:
    return value


def _or_none(times: list[int | None]) -> Records | None:
    return None if times.count(None) == len(times) else times


class _Timers(TimerService):
    """Clocks and, where the input is keyed, timers of the current key."""

    def __init__(self, operator: Emitter, backend: KeyedBackend | None) -> None:
        self._operator = operator
        self._backend = backend
        self._in_vain = operator.desc.uid in operator.task.timeless

    def current_processing_time(self) -> int:
        return self._operator.task.clock.now_ms()

    def current_watermark(self) -> int:
        return self._operator.current_watermark

    def register_event_time_timer(self, timestamp: int) -> None:
        if self._in_vain:
            self._warn()
        self._keyed().register(EVENT, self._checked(timestamp))

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._keyed().register(PROCESSING, self._checked(timestamp))

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._keyed().delete(EVENT, timestamp)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._keyed().delete(PROCESSING, timestamp)

    def _warn(self) -> None:
        """Warn, at the first timer, that no watermark can come."""
        self._in_vain = False
        desc = self._operator.desc
        warnings.warn(
            f"Operator '{desc.name}' (uid {desc.uid}) sets an event-time timer, but its stream has no watermarks and "
            "never ends: the timer never fires. Give the stream watermarks with assign_timestamps_and_watermarks(...), "
            "or set a processing-time timer",
            RuntimeWarning,
            stacklevel=4,
        )

    def _keyed(self) -> KeyedBackend:
        if self._backend is None:
            desc = self._operator.desc
            raise ProgramError(
                f"Operator '{desc.name}' (uid {desc.uid}) sets a timer but its input is not keyed: call key_by first"
            )
        return self._backend

    def _checked(self, timestamp: Any) -> int:
        if type(timestamp) is int and MIN_TIMESTAMP <= timestamp <= MAX_TIMESTAMP:
            return int(timestamp)
        if isinstance(timestamp, bool) or not hasattr(timestamp, "__index__"):
            raise TimestampError(f"a timer needs an int of milliseconds, got {describe(timestamp)}")
        whole = int(timestamp.__index__())
        if not MIN_TIMESTAMP <= whole <= MAX_TIMESTAMP:
            raise TimestampError(f"the timer {whole} is out of range: it must fit in 64 bits")
        return whole


class Context(ProcessFunction.Context, KeyedProcessFunction.OnTimerContext):
    """The one context of an operator; its timestamp and key change from record to record."""

    def __init__(self, operator: Emitter, backend: KeyedBackend | None) -> None:
        self._operator = operator
        self._backend = backend
        self._timers = _Timers(operator, backend)
        self.stamp: int | None = None
        self.domain = TimeDomain.EVENT_TIME

    def timer_service(self) -> TimerService:
        """Clocks and timers of the current key."""
        return self._timers

    def timestamp(self) -> int | None:
        """The timestamp of the record, or of the timer that fires."""
        stamp: int | None = self.stamp
        return stamp

    def get_current_key(self) -> Key:
        """The current key, None on a stream that is not keyed."""
        return shown(self._backend.key) if self._backend is not None else None

    def time_domain(self) -> TimeDomain:
        """Whether the timer that fires is one of event time or of processing time."""
        return self.domain

    def output(self, output_tag: OutputTag, value: object) -> None:
        """Send a value to a side output, with the timestamp of the record."""
        self._operator.output(output_tag, value, self.stamp)


class ProcessOperator(Emitter):
    """A `ProcessFunction` on a stream that is not keyed, or a `CoProcessFunction` on two."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, ProcessSpec | BroadcastSpec)
        self._function: Any = desc.spec.function
        self._methods = desc.spec.methods
        self._context = Context(self, None)

    def open(self) -> None:
        """Open the function; it has no keyed state."""
        self._function.open(LiveRuntimeContext(self.task, self.desc, keyed=False))

    def close(self) -> None:
        """Close the function."""
        self._function.close()

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call the function for each record of the first input."""
        self.run(self._function, self._methods[0], self._context, values, timestamps)

    def entry(self, index: int) -> Entry:
        """Each input has a method of its own."""
        method = self._methods[index]
        return lambda values, timestamps, keys: self.run(self._function, method, self._context, values, timestamps)


class KeyedOperator(Emitter):
    """An operator with state and timers of keys: moves its clocks and fires timers that are due."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert task.backend is not None
        self._backend = task.backend

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        """Run timers; each is (timestamp, key, namespace), with its key made current."""
        raise NotImplementedError

    def watermark(self, timestamp: int) -> None:
        """Move the event-time clock, fire timers that are due and pass the watermark on."""
        if timestamp == MAX_WATERMARK and not self.task.settings.batch_mode:
            self.processing_time(self.task.clock.now_ms())
        self.current_watermark = timestamp
        self._fire(TimeDomain.EVENT_TIME, self._backend.due(EVENT, timestamp))
        if timestamp == MAX_WATERMARK:
            self._end_processing_time()
        self.forward_watermark(timestamp)

    def _end_processing_time(self) -> None:
        """Pending processing-time timers are dropped at the end of input; in BATCH mode they fire."""
        pending = self._backend.due(PROCESSING, MAX_TIMESTAMP)
        if self.task.settings.batch_mode:
            self._fire(TimeDomain.PROCESSING_TIME, pending)
            self._fire(TimeDomain.EVENT_TIME, self._backend.due(EVENT, MAX_WATERMARK))
            return
        for _ in pending:
            pass

    def processing_time(self, now_ms: int) -> None:
        """Fire processing-time timers that are due and pass on what they make."""
        if self._backend.earliest(PROCESSING) <= now_ms:
            self._fire(TimeDomain.PROCESSING_TIME, self._backend.due(PROCESSING, now_ms))
            self.flush()


class KeyedProcessOperator(KeyedOperator):
    """A `KeyedProcessFunction` or `KeyedCoProcessFunction`, with state and timers of the current key."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, KeyedProcessSpec | BroadcastSpec)
        self._function: Any = desc.spec.function
        self._methods = desc.spec.methods
        self._context = Context(self, task.backend)
        self._rolled: PagedReducingState[Record] | None = None
        self._only_last = False

    def open(self) -> None:
        """Open the function; a rolling function whose calls can be spared is taken note of."""
        self._function.open(LiveRuntimeContext(self.task, self.desc, keyed=True))
        if self.poison is None and isinstance(self._function, RollingFunction):
            self._rolled, self._only_last = self._function.rolled, self._function.only_last

    def close(self) -> None:
        """Close the function."""
        self._function.close()

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call the function for each record of the first input."""
        self._process(self._methods[0], values, timestamps, keys)

    def entry(self, index: int) -> Entry:
        """Each input has a method of its own."""
        return partial(self._process, self._methods[index])

    def _process(self, method: str, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        assert keys is not None, "a keyed operator got records without keys"
        if self._rolled is not None:
            self._roll(self._rolled, values, timestamps, keys)
        else:
            self._call_for_each(method, values, timestamps, keys)
            self.flush()

    def _call_for_each(self, method: str, values: Records, timestamps: Timestamps, keys: Sequence[Key]) -> None:
        """Call a method of the function for each record, with its key made current, and gather what it yields.

        This is the runtime's innermost loop, so what `take` does is written out for the commonest records.
        """
        call, context, limit = getattr(self._function, method), self._context, self._limit
        backend, pages = self._backend, self._backend.pages(keys)
        out, times = self._values, self._times
        value = result = context.stamp = stamp = None
        stamps = iter(timestamps) if timestamps is not None else None
        immutable: frozenset[type] = IMMUTABLE
        plain: type = int
        left, right = plain, plain
        try:
            for value, backend.key, backend.page in zip(values, keys, pages, strict=False):
                if stamps is not None:
                    context.stamp = stamp = next(stamps)
                result = call(value, context)
                if result is None:
                    continue
                several = False
                for record in result:
                    # a chunk has few records, but a single call may yield many
                    if several and len(out) >= limit:
                        self.flush_main()
                        out, times = self._values, self._times
                    several = True
                    # tuples of scalars are the commonest records and need no copy: no call is made for them, and a pair
                    # with the same types as the last one is not even looked through
                    if type(record) is tuple:
                        if len(record) == 2 and type(record[0]) is left and type(record[1]) is right:
                            out.append(record)
                            if stamps is not None:
                                times.append(stamp)
                            continue
                        for item in record:
                            if type(item) is not plain:
                                if type(item) not in immutable:
                                    self.take_one(record, stamp)
                                    break
                                plain = type(item)
                        else:
                            if len(record) == 2:
                                left, right = type(record[0]), type(record[1])
                            out.append(record)
                            if stamps is not None:
                                times.append(stamp)
                    else:
                        self.take_one(record, stamp)
        except Exception as error:
            raise self.failed(method, value, result, error) from error

    def _roll(
        self, state: PagedReducingState[Record], values: Records, timestamps: Timestamps, keys: Sequence[Key]
    ) -> None:
        """A rolling function: emit, for each record, the new state of its key."""
        rest = iter(values)
        try:
            results = state.fold_all(self._backend, rest, keys)
        except Exception as error:
            raise self.failed(self._methods[0], last_taken(values, rest), None, error) from error
        if not self._only_last:
            self.out.emit(results, timestamps)
            return
        backend = self._backend
        for key, page in dict(zip(keys, backend.pages(keys), strict=False)).items():
            backend.key, backend.page = key, page
            backend.register(EVENT, MAX_TIMESTAMP)

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        call, context, result, timestamp = self._function.on_timer, self._context, None, 0
        try:
            for timestamp, _, _ in due:
                context.domain, context.stamp = domain, timestamp
                result = call(timestamp, context)
                if result is not None:
                    self.take(result, timestamp if domain is TimeDomain.EVENT_TIME else None)
        except Exception as error:
            what = f"timer {timestamp} of key {describe(self._backend.key)}"
            raise self.failed("on_timer", what, result, error) from error
