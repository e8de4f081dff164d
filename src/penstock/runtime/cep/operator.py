"""The pattern operator: puts events in order, matches them key by key, keeps everything in keyed state."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import repeat
from typing import Any

from penstock.core.cep.conditions import IterativeCondition, parts
from penstock.core.cep.functions import PatternProcessFunction, TimedOutPartialMatchHandler
from penstock.core.cep.patterns import NotStep, Step
from penstock.core.errors import TimestampError
from penstock.core.functions.base import TimeDomain
from penstock.core.program.job import ChainedOperator
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import PatternMatchSpec
from penstock.runtime.cep.nfa import NEVER, Found, Matching, Nfa
from penstock.runtime.cep.store import StateEvents
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import describe, user_failure
from penstock.runtime.operators.process import KeyedOperator
from penstock.runtime.poison import run_to_end
from penstock.runtime.state.backend import EVENT, PROCESSING
from penstock.runtime.state.handles import PagedMapState, PagedValueState
from penstock.runtime.state.page import Timer
from penstock.runtime.values import Keys, Record, Records, Timestamps

__all__ = ["CepOperator"]


class _Context(PatternProcessFunction.Context):
    """The one context of a match function."""

    def __init__(self, operator: CepOperator) -> None:
        self._operator = operator
        self.stamp = 0

    def timestamp(self) -> int:
        return self.stamp

    def current_processing_time(self) -> int:
        return self._operator.task.clock.now_ms()

    def output(self, output_tag: OutputTag, value: object) -> None:
        self._operator.output(output_tag, value, self.stamp)


class CepOperator(KeyedOperator):
    """In event time events wait until the watermark has passed them; in processing time they are matched at once."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, PatternMatchSpec)
        spec = self._spec = desc.spec
        # configuration
        self._function: Any = spec.function
        self._handles_timeouts = isinstance(spec.function, TimedOutPartialMatchHandler)
        self._domain = EVENT if spec.event_time else PROCESSING
        self._order = _order(spec.comparator)
        self._conditions = _conditions(spec.pattern.steps)
        # not checkpointed
        self._nfa = Nfa(spec.pattern, task.clock.now_ms)
        self._context = _Context(self)
        # checkpointed
        backend = self._backend
        # (timestamp, how many events came before it) -> event
        self._waiting: PagedMapState[tuple[int, int], Record] = PagedMapState(backend, "cep:waiting")
        # (the earliest timestamp, how many events came)
        self._first: PagedValueState[tuple[int, int]] = PagedValueState(backend, "cep:first")
        self._under_way: PagedValueState[tuple[Any, ...]] = PagedValueState(backend, "cep:matching")
        self._events: PagedMapState[int, Record] = PagedMapState(backend, "cep:events")

    def open(self) -> None:
        """Open the conditions, each once, and the match function."""
        context = LiveRuntimeContext(self.task, self.desc, keyed=False)
        for condition in self._conditions:
            condition.open(context)
        self._function.open(context)

    def close(self) -> None:
        """Close the match function and the conditions."""
        self._function.close()
        for condition in self._conditions:
            condition.close()

    # -- records ------------------------------------------------------------------------------------

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Take records of many keys: in event time they wait for the watermark, else they are matched at once."""
        assert keys is not None, "a pattern operator got records without keys"
        backend, pages = self._backend, self._backend.pages(keys)
        take = self._wait if self._spec.event_time else self._match_now
        for value, stamp, key, page in zip(values, timestamps or repeat(None), keys, pages, strict=False):
            backend.key, backend.page = key, page
            take(value, stamp)
        self.flush()

    def _wait(self, value: Record, stamp: int | None) -> None:
        """Keep an event until the watermark has passed it; a late one goes to the late tag or is counted."""
        if stamp is None:
            raise TimestampError(
                f"Operator '{self.desc.name}' (uid {self.desc.uid}) matches in event time, but record "
                f"{describe(value)} has no timestamp: call assign_timestamps_and_watermarks() before, "
                "or in_processing_time() on the pattern stream",
                self.desc.name,
                self.desc.uid,
            )
        if stamp <= self.current_watermark:
            self._late(value, stamp)
            return
        first, count = self._first.value() or (NEVER, 0)
        self._waiting.put((stamp, count), value)
        self._first.keep((min(first, stamp), count + 1))
        if stamp < first:
            self._backend.register(EVENT, stamp)

    def _late(self, value: Record, stamp: int) -> None:
        if self._spec.late_tag is not None:
            self.output(self._spec.late_tag, value, stamp)
        else:
            self.task.metrics_of(self.desc).group.counter("numLateRecordsDropped").inc()

    def _match_now(self, value: object, stamp: int | None) -> None:
        now_ms = self.task.clock.now_ms()
        self._match([(now_ms, value)], now_ms)

    # -- matching -----------------------------------------------------------------------------------

    def _match(self, events: Iterable[tuple[int, Any]], until_ms: int) -> None:
        """Match events of the current key, given in order, then time out partial matches up to `until_ms`."""
        nfa, store, timed = self._nfa, StateEvents(self._events), self._nfa.timed
        stored = self._under_way.value()
        matching = Matching.new(store) if stored is None else Matching.thawed(store, stored)
        for stamp, value in events:
            if timed:
                self._report(nfa.advance(matching, stamp))
            if found := self._taken(matching, value, stamp):
                self._report(found)
        if timed:
            self._report(nfa.advance(matching, until_ms))
        frozen = matching.frozen()
        if frozen is not None:
            self._under_way.keep(frozen)  # numbers only
        elif stored is not None:
            self._under_way.clear()
        store.save()
        if timed and (deadline := nfa.deadline(matching)) < NEVER:
            self._backend.register(self._domain, deadline)

    def _taken(self, matching: Matching, value: object, stamp: int) -> list[Found]:
        try:
            return self._nfa.process(matching, value, stamp)
        except Exception as error:
            if self.poison is None:
                raise user_failure(self.desc.name, self.desc.uid, "A condition", value, error) from error
            self.put_aside(value, stamp, error)
            return []

    def _report(self, found: Iterable[Found]) -> None:
        for timed_out, events, stamp in found:
            if not timed_out:
                self._call(self._function.process_match, "process_match", events, stamp)
            elif self._handles_timeouts:
                self._call(self._function.process_timed_out_match, "process_timed_out_match", events, stamp)

    def _call(self, call: Callable[..., Any], name: str, events: dict[str, Records], stamp: int) -> None:
        self._context.stamp = stamp
        if self.poison is not None:
            self.take(self._guarded(call, events, stamp), stamp)
            return
        result = None
        try:
            result = call(events, self._context)
            if result is not None:
                self.take(result, stamp)
        except Exception as error:
            raise self.failed(name, events, result, error) from error

    def _guarded(self, call: Callable[..., Any], events: dict[str, Records], stamp: int) -> Iterable[Record]:
        """Everything that a match function yields, or nothing if it raises."""
        try:
            with self.holding_back() as made:
                return run_to_end(call(events, self._context), self.task.settings.object_reuse, made) or ()
        except Exception as error:
            self.put_aside(events, stamp, error)
            return ()

    # -- time ---------------------------------------------------------------------------------------

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        for timestamp, _, _ in due:
            if domain is TimeDomain.PROCESSING_TIME:
                self._match((), timestamp)
            else:
                self._pass(self.current_watermark)

    def _pass(self, watermark: int) -> None:
        """Match the events of the current key that the watermark has passed, and time out partial matches."""
        waiting = sorted(self._waiting.keys())
        count = bisect_left(waiting, (watermark + 1,))
        ready = [(stamp, self._waiting.get((stamp, number))) for stamp, number in waiting[:count]]
        if count == len(waiting):
            self._waiting.clear()
            self._first.clear()
        else:
            self._leave(waiting[:count], waiting[count][0])
        if self._order is not None:
            ready.sort(key=self._order)
        self._match(ready, watermark)

    def _leave(self, gone: list[tuple[int, int]], first: int) -> None:
        """Remove events that have been matched; `first` is the timestamp of the earliest that still waits."""
        for key in gone:
            self._waiting.remove(key)
        self._first.keep((first, self._first.value()[1]))
        self._backend.register(EVENT, first)


def _order(comparator: Any) -> Callable[[Any], Any] | None:
    """A sort key: by timestamp, then by the comparator; None if events keep the order in which they came."""
    if comparator is None:
        return None
    key = cmp_to_key(getattr(comparator, "compare", comparator))
    return lambda event: (event[0], key(event[1]))


def _conditions(steps: Sequence[Step | NotStep]) -> list[IterativeCondition]:
    """Every condition of a pattern, once."""
    found: dict[int, IterativeCondition] = {}
    for step in steps:
        inner = _conditions(step.body) + parts(step.until) if isinstance(step, Step) else []
        found.update({id(c): c for c in [*parts(step.where), *inner]})
    return list(found.values())
