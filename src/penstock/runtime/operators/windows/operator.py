"""The window operator: assigner, trigger, evictor, function, lateness; one for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.functions.base import TimeDomain
from penstock.core.functions.window import ProcessWindowFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import WindowSpec
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.core.windows.triggers import TriggerResult
from penstock.core.windows.window import MergingWindowAssigner, Window
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import describe, not_iterable, user_failure
from penstock.runtime.list_keys import shown as shown_key
from penstock.runtime.operators.process import KeyedOperator
from penstock.runtime.operators.windows.contents import AccumulatorContents, Combiner, RecordContents
from penstock.runtime.operators.windows.contexts import FunctionContext, WindowContext
from penstock.runtime.operators.windows.merging import IdentitySet, MergingSet, pack, unpack
from penstock.runtime.state.backend import EVENT, PROCESSING
from penstock.runtime.state.namespaced import NamespaceSpace
from penstock.runtime.state.page import Timer
from penstock.runtime.values import Keys, Namespace, Record, Records, Timestamps

__all__ = ["COUNTERS", "WindowOperator"]

COUNTERS = {"fired": "numWindowsFired", "late": "numLateRecords", "dropped": "numLateRecordsDropped"}
"""What the operator counts, and under which name it is found in the metrics."""


class WindowOperator(KeyedOperator):
    """Any assigner, trigger, evictor and function.

    `fired`, `late` and `dropped` count since the operator was built; the metrics get the difference of each batch.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, WindowSpec)
        spec = self._spec = desc.spec
        # configuration
        self._assigner, self._trigger = spec.assigner, spec.trigger
        self._function: Any = spec.function
        self._event_time = spec.assigner.is_event_time()
        self._domain = EVENT if self._event_time else PROCESSING
        self._lateness_ms = spec.lateness_ms if self._event_time else 0
        self._combiner = Combiner(spec.combine) if spec.combine is not None else None
        # not checkpointed
        self.fired = self.late = self.dropped = 0
        group = task.metrics_of(desc).group
        self._counters = {name: group.counter(metric) for name, metric in COUNTERS.items()}
        backend = self._backend
        space = NamespaceSpace(backend)
        self._keyed = LiveRuntimeContext(task, desc, keyed=True)
        windowed = LiveRuntimeContext(task, desc, keyed=True, space=space)
        merging = isinstance(spec.assigner, MergingWindowAssigner)
        self._context = WindowContext(self, backend, self._keyed, windowed)
        self._shown = FunctionContext(self, self._keyed, windowed, merging)
        # checkpointed
        self._set = (
            MergingSet(spec.assigner, backend) if isinstance(spec.assigner, MergingWindowAssigner) else IdentitySet()
        )
        self._contents: AccumulatorContents | RecordContents
        if self._combiner is not None and spec.evictor is None:
            self._contents = AccumulatorContents(space, self._combiner)
        else:
            self._contents = RecordContents(space, self._combiner, spec.evictor, self._context)

    def open(self) -> None:
        """Open the combining function and the window function."""
        if self._combiner is not None:
            self._combiner.open(self._keyed)
        if self._function is not None:
            self._function.open(self._keyed)

    def close(self) -> None:
        """Close the combining function and the window function."""
        if self._combiner is not None:
            self._combiner.close()
        if self._function is not None:
            self._function.close()

    def end(self) -> None:
        """Add the counts of the batch to the metrics."""
        for name, counter in self._counters.items():
            counter.inc(getattr(self, name) - counter.get_count())

    # -- records ------------------------------------------------------------------------------------

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Take records of many keys into their windows, and fire windows as the trigger says."""
        assert keys is not None, "a window operator got records without keys"
        backend, pages = self._backend, self._backend.pages(keys)
        value = None
        try:
            for value, stamp, key, page in zip(values, timestamps or repeat(None), keys, pages, strict=False):
                backend.key, backend.page = key, page
                self._element(value, stamp)
        except Exception as error:
            raise user_failure(self.desc.name, self.desc.uid, "A window function", value, error) from error
        self.flush()

    def _element(self, value: Record, stamp: Any) -> None:
        windows = self._assigner.assign_windows(value, stamp, self._context)
        skipped = bool(windows) or self._is_overdue(stamp)
        for window in windows:
            actual = self._set.add(window, self._merge)
            if self._is_late(actual):
                self._set.retire(actual)
                continue
            skipped = False
            self._into(actual, value, stamp)
        if skipped:
            self._too_late(value, stamp)

    def _is_overdue(self, stamp: int | None) -> bool:
        """Whether a record that belongs to no window is late for any window that could have ended with it."""
        return self._event_time and stamp is not None and stamp + self._lateness_ms <= self.current_watermark

    def _into(self, window: Window, value: Record, stamp: Any) -> None:
        namespace = self._set.state_namespace(window)
        self._contents.add(namespace, value, stamp)
        self._context.namespace = pack(window)
        self._act(self._trigger.on_element(value, stamp, window, self._context), window, namespace)
        self._register_cleanup(window)

    def _too_late(self, value: object, stamp: int | None) -> None:
        """Drop a late record: all its windows are past their cleanup, or it has none and the clock has passed it.

        It goes to the side output if there is one, and is counted in any case.
        """
        self.late += 1
        if self._spec.late_tag is None:
            self.dropped += 1
        else:
            self.output(self._spec.late_tag, value, stamp)

    def _act(self, result: TriggerResult, window: Window, namespace: object) -> None:
        if result is TriggerResult.CONTINUE:
            return
        if result.is_fire():
            self._emit(window, namespace)
        if result.is_purge():
            self._contents.clear(namespace)

    def _emit(self, window: Window, namespace: Namespace) -> None:
        shown = self._contents.show(namespace, window)
        if shown is not None:
            self.fired += 1
            result = self._call(window, shown)
            if result is not None:
                self.take(self._iterable(result, window), window.max_timestamp())
        self._contents.shown(namespace, window)

    def _iterable(self, result: object, window: Window) -> Iterable[Record]:
        if not hasattr(result, "__iter__"):
            raise not_iterable(self.desc.name, self.desc.uid, "A window function", window, result)
        made: Iterable[Record] = result
        return made

    def _call(self, window: Window, shown: Iterable[Record]) -> Iterable[Record] | None:
        function = self._function
        if function is None:
            return shown
        if isinstance(function, ProcessWindowFunction):
            self._shown.namespace = pack(window)
            return function.process(shown_key(self._backend.key), self._shown, shown)
        result: Iterable[Record] | None = function.apply(shown_key(self._backend.key), window, shown)
        return result

    # -- time ---------------------------------------------------------------------------------------

    def processing_time(self, now_ms: int) -> None:
        """A timer is due once its millisecond is over: records that come within end − 1 still belong to the window."""
        super().processing_time(now_ms - 1)

    def _fire(self, domain: TimeDomain, due: Iterator[Timer]) -> None:
        timestamp = 0
        try:
            for timestamp, _, namespace in due:
                self._timer(domain, timestamp, unpack(namespace))
        except Exception as error:
            what = f"timer {timestamp} of key {describe(self._backend.key)}"
            raise user_failure(self.desc.name, self.desc.uid, "A window function", what, error) from error

    def _timer(self, domain: TimeDomain, timestamp: int, window: Window) -> None:
        namespace = self._set.state_namespace(window)
        if namespace is None:
            return
        self._context.namespace = pack(window)
        if domain == TimeDomain.EVENT_TIME:
            result = self._trigger.on_event_time(timestamp, window, self._context)
        else:
            result = self._trigger.on_processing_time(timestamp, window, self._context)
        self._act(result, window, namespace)
        if (domain == TimeDomain.EVENT_TIME) == self._event_time and timestamp == self._cleanup(window):
            self._end(window, namespace)

    def _end(self, window: Window, namespace: object) -> None:
        self._contents.clear(namespace)
        self._context.namespace = pack(window)
        self._trigger.clear(window, self._context)
        if isinstance(self._function, ProcessWindowFunction):
            self._shown.namespace = pack(window)
            self._function.clear(self._shown)
        self._set.retire(window)

    def _cleanup(self, window: Window) -> int:
        last: int = window.max_timestamp()
        return min(last + self._lateness_ms, MAX_TIMESTAMP)

    def _is_late(self, window: Window) -> bool:
        return self._event_time and self._cleanup(window) <= self.current_watermark

    def _register_cleanup(self, window: Window) -> None:
        cleanup = self._cleanup(window)
        if cleanup != MAX_TIMESTAMP or self._event_time:
            self._backend.register(self._domain, cleanup, pack(window))

    # -- windows that grow together -------------------------------------------------------------------

    def _merge(self, into: Window, members: Records, namespace: object, others: Records) -> None:
        if self._is_late(into):
            raise ProgramError(
                f"Operator '{self.desc.name}' (uid {self.desc.uid}): windows {members} merge into {into}, which the "
                f"watermark {self.current_watermark} has passed already: an assigner must not make windows end earlier"
            )
        context = self._context
        context.namespace, context.merged = pack(into), members
        self._trigger.on_merge(into, context)
        for window in members:
            context.namespace = pack(window)
            self._trigger.clear(window, context)
            self._backend.delete(self._domain, self._cleanup(window), pack(window))
        self._contents.merge(namespace, others)
