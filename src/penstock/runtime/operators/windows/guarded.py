"""Guarded windows: records that a function raises on, and windows whose result cannot be made, are put aside.

A record that cannot be added leaves the accumulator as it is (its time counts for sessions, itself for count windows);
one that would be the first of its window makes no window. It is counted once, however many windows it belongs to.
Functions that merge accumulators, and triggers that raise on a timer, fail the job: there is no record to go on
without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from penstock.core.errors import PenstockError
from penstock.core.functions.base import AggregateFunction, Function, ReduceFunction, RuntimeContext
from penstock.core.program.job import ChainedOperator
from penstock.core.program.poison import FailedWindow
from penstock.core.program.specs import WindowSpec
from penstock.core.windows.window import TimeWindow, Window
from penstock.runtime.list_keys import shown as shown_key
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.poison import run_to_end
from penstock.runtime.values import Accumulator, Entries, Namespace, Record

__all__ = ["guarded", "guarded_functions"]

_EMPTY: object = object()


class _ResultError(Exception):
    """Carries the error of `get_result` to where the window is known."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class CarefulCombine(AggregateFunction):
    """A reduce or aggregate function whose failures are noted. Accumulators are the same as without it."""

    def __init__(self, function: object) -> None:
        self._function = function
        self._aggregate = function if isinstance(function, AggregateFunction) else None
        self._reduce: Any = function.reduce if isinstance(function, ReduceFunction) else function
        self._first = False
        self.failure: Exception | None = None

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the function, if it can be opened."""
        if isinstance(self._function, Function):
            self._function.open(runtime_context)

    def close(self) -> None:
        """Close the function, if it can be closed."""
        if isinstance(self._function, Function):
            self._function.close()

    def create_accumulator(self) -> Accumulator:
        """Called for the first record of a window, right before `add`."""
        if self._aggregate is None:
            return _EMPTY
        self._first = True
        return self._aggregate.create_accumulator()

    def add(self, value: Record, accumulator: Accumulator) -> Accumulator:
        """Add a value. A failure is noted and changes nothing, unless the value is the first of its window."""
        if accumulator is _EMPTY:
            return value
        first, self._first = self._first, False
        try:
            add = self._aggregate
            return add.add(value, accumulator) if add is not None else self._reduce(accumulator, value)
        except Exception as error:
            if first:
                raise
            self.failure = self.failure or error
            return accumulator

    def get_result(self, accumulator: Accumulator) -> Record:
        """The result; a failure is carried to where the window is known."""
        if self._aggregate is None:
            return accumulator
        try:
            return self._aggregate.get_result(accumulator)
        except Exception as error:
            raise _ResultError(error) from error

    def merge(self, acc_a: Accumulator, acc_b: Accumulator) -> Accumulator:
        """Merge two accumulators; a failure fails the job."""
        return self._aggregate.merge(acc_a, acc_b) if self._aggregate is not None else self._reduce(acc_a, acc_b)

    def take_failure(self) -> Exception | None:
        """The failure noted since the last call, if there was one."""
        failure, self.failure = self.failure, None
        return failure


def guarded_functions(desc: ChainedOperator) -> ChainedOperator:
    """The operator with a careful combining function, if it has one."""
    assert isinstance(desc.spec, WindowSpec)
    combine = desc.spec.combine
    return desc if combine is None else replace(desc, spec=replace(desc.spec, combine=CarefulCombine(combine)))


class WindowGuard(WindowOperator):
    """A mixin that comes before a window operator in the method resolution order."""

    def _element(self, value: object, stamp: int | None) -> None:
        with self._careful(value, stamp):
            super()._element(value, stamp)

    def _place(self, value: object, stamp: int | None, time_ms: int, outer: Entries, key: object) -> None:
        with self._careful(value, stamp):
            super()._place(value, stamp, time_ms, outer, key)  # type: ignore[misc]
        if not outer.get(key, True):
            del outer[key]  # made for the record that failed

    @contextmanager
    def _careful(self, value: Record, stamp: int | None) -> Iterator[None]:
        combine = self._spec.combine
        failure: Exception | None = None
        try:
            yield
        except PenstockError:
            raise  # an operator behind this one failed, or the program has a mistake
        except Exception as error:
            failure = error
        noted = combine.take_failure() if isinstance(combine, CarefulCombine) else None
        if (reason := failure or noted) is not None:
            self.put_aside(value, stamp, reason)

    def _give(self, namespace: Namespace, accumulator: Accumulator) -> None:
        try:
            super()._give(namespace, accumulator)  # type: ignore[misc]
        except _ResultError as failure:
            self._failed_window(TimeWindow(*namespace), failure.error)

    def _emit(self, window: Window, namespace: object) -> None:
        try:
            super()._emit(window, namespace)
        except _ResultError as failure:
            self._failed_window(window, failure.error)

    def _call(self, window: Window, shown: Iterable[Record]) -> Iterable[Record] | None:
        if self._function is None:
            return shown
        try:
            with self.holding_back() as made:
                result: Iterable[Record] | None = run_to_end(
                    super()._call(window, shown), self.task.settings.object_reuse, made
                )
                return result
        except Exception as error:
            self._failed_window(window, error)
            return None

    def _failed_window(self, window: Window, error: Exception) -> None:
        self.put_aside(FailedWindow(shown_key(self._backend.key), window), window.max_timestamp(), error)


@cache
def guarded(kind: Any) -> Any:
    """The guarded class of a window operator."""
    return type(f"Guarded{kind.__name__}", (WindowGuard, kind), {})
