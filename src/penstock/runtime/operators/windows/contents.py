"""The contents of windows: one accumulator each, or their records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.core.functions.base import AggregateFunction, Function, ReduceFunction, RuntimeContext
from penstock.core.windows.evictors import Evictor, TimestampedValue
from penstock.core.windows.window import Window
from penstock.runtime.state.handles import PagedListState, PagedValueState
from penstock.runtime.state.namespaced import NamespaceSpace
from penstock.runtime.values import Accumulator, Namespace, Record, Records

__all__ = ["CONTENTS", "AccumulatorContents", "Combiner", "RecordContents"]


CONTENTS = "value:_contents@"
"""The table of accumulators, as the backend knows it."""


class Combiner:
    """A reduce function or an `AggregateFunction` as four plain calls."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self.create: Callable[[], Accumulator] | None = None
        self.result: Callable[[Accumulator], Record] | None = None
        if isinstance(given, AggregateFunction):
            self.create, self.result = given.create_accumulator, given.get_result
            self.merge: Callable[[Accumulator, Accumulator], Accumulator] = given.merge
            add = given.add
            self.add: Callable[[Accumulator, Record], Accumulator] = lambda accumulator, value: add(value, accumulator)
        else:
            self.add = self.merge = given.reduce if isinstance(given, ReduceFunction) else given

    def open(self, context: RuntimeContext) -> None:
        """Open the function, if it can be opened."""
        if isinstance(self._given, Function):
            self._given.open(context)

    def close(self) -> None:
        """Close the function, if it can be closed."""
        if isinstance(self._given, Function):
            self._given.close()

    def of(self, values: Iterable[Record]) -> Accumulator:
        """The accumulator of all values; None if there are none."""
        accumulator = None
        for index, value in enumerate(values):
            accumulator = self.first(value) if index == 0 else self.add(accumulator, value)
        return accumulator

    def first(self, value: Record) -> Accumulator:
        """The accumulator of a window's first value."""
        return value if self.create is None else self.add(self.create(), value)

    def finish(self, accumulator: Accumulator) -> Record:
        """The result of an accumulator."""
        return accumulator if self.result is None else self.result(accumulator)


class AccumulatorContents:
    """One accumulator per window. It is kept in a tuple of one, so that None can be an accumulator."""

    def __init__(self, space: NamespaceSpace, combiner: Combiner) -> None:
        self._space, self._combiner = space, combiner
        self._state: PagedValueState[tuple[Accumulator]] = PagedValueState(space, "value:_contents")

    def add(self, namespace: Namespace, value: Record, timestamp: int | None) -> None:
        """Add a value to the accumulator of a window."""
        self._space.key = namespace
        stored = self._state.value()
        combiner = self._combiner
        self._state.update((combiner.first(value) if stored is None else combiner.add(stored[0], value),))

    def show(self, namespace: object, window: Window) -> Sequence[Record] | None:
        """The values for the window function; None if the window is empty."""
        self._space.key = namespace
        stored = self._state.value()
        return None if stored is None else (self._combiner.finish(stored[0]),)

    def shown(self, namespace: object, window: Window) -> None:
        """Called when the window function has seen the contents."""

    def merge(self, target: object, sources: Iterable[Record]) -> None:
        """Merge the accumulators of several windows into the first."""
        found = []
        for namespace in (target, *sources):
            self._space.key = namespace
            stored = self._state.value()
            if stored is not None:
                found.append(stored[0])
            self._state.clear()
        if found:
            merged = found[0]
            for other in found[1:]:
                merged = self._combiner.merge(merged, other)
            self._space.key = target
            self._state.update((merged,))

    def clear(self, namespace: object) -> None:
        """Forget the contents of a window."""
        self._space.key = namespace
        self._state.clear()


class RecordContents:
    """The records of each window, in segments where they are many; with an evictor also their timestamps."""

    def __init__(
        self, space: NamespaceSpace, combiner: Combiner | None, evictor: Evictor | None, context: Evictor.EvictorContext
    ) -> None:
        self._space, self._combiner = space, combiner
        self._evictor, self._context = evictor, context
        self._state: PagedListState[Record] = PagedListState(space, "list:_contents")
        self._left: list[TimestampedValue] = []
        self._evicting = False

    def add(self, namespace: Namespace, value: Record, timestamp: int | None) -> None:
        """Append a record; with an evictor also its timestamp."""
        self._space.key = namespace
        self._state.add(value if self._evictor is None else (value, timestamp))

    def show(self, namespace: object, window: Window) -> Iterable[Record] | None:
        """The values for the window function, after the evictor's first turn; None if the window is empty."""
        self._space.key = namespace
        records = self._state.get()
        if self._evictor is None:
            return None if records == [] else records
        self._left = [TimestampedValue(*record) for record in records]
        self._evicting = bool(self._left)
        if not self._evicting:
            return None
        self._evictor.evict_before(self._left, len(self._left), window, self._context)
        values = [record.value for record in self._left]
        return values if self._combiner is None else self._combined(values)

    def _combined(self, values: Records) -> Sequence[Record] | None:
        assert self._combiner is not None
        return (self._combiner.finish(self._combiner.of(values)),) if values else None

    def shown(self, namespace: object, window: Window) -> None:
        """The function has seen it: the evictor's second turn, which may remove records."""
        if self._evictor is None or not self._evicting:
            return
        self._evictor.evict_after(self._left, len(self._left), window, self._context)
        self._space.key = namespace
        self._state.update([tuple(record) for record in self._left])
        self._left = []

    def merge(self, target: object, sources: Iterable[Record]) -> None:
        """Records move in pieces, so that none of the windows need fit into memory."""
        for namespace in sources:
            self._space.key = namespace
            records = self._state.get()
            self._space.key = target
            self._state.add_all(records)
            self._space.key = namespace
            self._state.clear()

    def clear(self, namespace: object) -> None:
        """Forget the contents of a window."""
        self._space.key = namespace
        self._state.clear()
