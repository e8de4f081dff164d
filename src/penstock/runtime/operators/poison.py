"""Poison records: an operator that is guarded goes on without the record its function raised on (F9).

Whatever the failing call has yielded is dropped; changes it made to state stay. A timer, a window that fires and a
match have no record of their own: `FailedTimer`, `FailedWindow` and the match's events stand for it. Mistakes in the
program, which every record would meet, fail the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

from penstock.core.errors import ConfigurationError, ProgramError
from penstock.core.job import ChainedOperator
from penstock.core.poison import FailedTimer
from penstock.core.specs import TransformSpec
from penstock.runtime.codec import fix
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.base import Operator, Poison, Timestamps
from penstock.runtime.operators.process import Emitter
from penstock.runtime.operators.transform import FilterOperator, FlatMapOperator

__all__ = ["FunctionGuard", "GuardedFilter", "GuardedFlatMap", "held_back", "poisoned", "taken"]

METHODS = ("process_element", "process_element1", "process_element2", "process_broadcast_element")


class GuardedFlatMap(FlatMapOperator):
    """A guarded `map` or `flat_map`."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, TransformSpec)
        self._plain, self.call = self.call, self._careful
        self._one = desc.spec.kind == "map"
        self._stamps: Iterator[Any] = repeat(None)

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        self._stamps = iter(timestamps) if timestamps is not None else repeat(None)
        super().process(values, timestamps, keys)

    def _careful(self, value: Any) -> Any:
        stamp = next(self._stamps)
        try:
            made = self._plain(value)
            return taken((made,) if self._one else made, self._reuse, [])
        except Exception as error:
            poisoned(self.poison, value, stamp, error)
            return None


class GuardedFilter(FilterOperator):
    """A guarded `filter`."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._plain, self.call = self.call, self._careful
        self._stamps: Iterator[Any] = repeat(None)

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        self._stamps = iter(timestamps) if timestamps is not None else repeat(None)
        super().process(values, timestamps, keys)

    def _careful(self, value: Any) -> bool:
        stamp = next(self._stamps)
        try:
            return bool(self._plain(value))
        except Exception as error:
            poisoned(self.poison, value, stamp, error)
            return False


class FunctionGuard:
    """Guards a process function: its calls are run to their end before anything of them is taken."""

    def __init__(self, function: Any) -> None:
        self.operator: Operator | None = None
        for name in METHODS:
            call = getattr(function, name, None)
            if call is not None:
                setattr(function, name, self._careful(call, lambda value, ctx: value))
        timer = getattr(function, "on_timer", None)
        if timer is not None:
            function.on_timer = self._careful(timer, lambda stamp, ctx: FailedTimer(ctx.get_current_key(), stamp))

    def _careful(self, call: Callable[..., Any], record: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        """The call, with what stands for its record if it fails."""

        def careful(value: Any, ctx: Any) -> Any:
            operator = self.operator
            assert operator is not None
            try:
                with held_back(operator) as made:
                    return taken(call(value, ctx), operator.task.settings.object_reuse, made)
            except Exception as error:
                poisoned(operator.poison, record(value, ctx), ctx.timestamp(), error)
                return None

        return careful


@contextmanager
def held_back(operator: Operator) -> Iterator[list[Any]]:
    """What the call makes: side outputs given to the context meanwhile are put among what it yields."""
    made: list[Any] = []
    if isinstance(operator, Emitter):
        operator.held = made
    try:
        yield made
    finally:
        if isinstance(operator, Emitter):
            operator.held = None


def taken(result: Any, reuse: bool, made: list[Any]) -> Any:
    """Everything a call yields, each record fixed when it comes; what is not iterable is left to who complains."""
    if result is not None and not hasattr(result, "__iter__"):
        return result
    for record in () if result is None else result:
        made.append(record if reuse else fix(record))  # noqa: PERF401 - the call may put records there itself
    return made


def poisoned(poison: Poison | None, value: Any, stamp: Any, error: Exception) -> None:
    """Put a record aside, unless the error is a mistake in the program."""
    if poison is None or isinstance(error, (ProgramError, ConfigurationError)):
        raise error
    poison.take(value, stamp, error)
