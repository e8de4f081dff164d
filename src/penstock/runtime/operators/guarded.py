"""Guarded operators of single records and process functions: they go on without records that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from penstock.core.program.job import ChainedOperator
from penstock.core.program.poison import FailedTimer
from penstock.core.program.specs import TransformSpec
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.process import Emitter
from penstock.runtime.operators.transform import FilterOperator, FlatMapOperator
from penstock.runtime.poison import run_to_end
from penstock.runtime.values import Keys, Record, Records, Timestamps

__all__ = ["FunctionGuard", "GuardedFilter", "GuardedFlatMap"]

METHODS = ("process_element", "process_element1", "process_element2", "process_broadcast_element")


class GuardedFlatMap(FlatMapOperator):
    """A guarded `map` or `flat_map`."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, TransformSpec)
        self._plain, self.call = self.call, self._careful
        self._one = desc.spec.kind == "map"
        self._stamps: Iterator[int | None] = repeat(None)

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call for each record; the timestamps go along for records that are put aside."""
        self._stamps = iter(timestamps) if timestamps is not None else repeat(None)
        super().process(values, timestamps, keys)

    def _careful(self, value: object) -> object:
        stamp = next(self._stamps)
        try:
            made = self._plain(value)
            return run_to_end((made,) if self._one else made, self._reuse, [])
        except Exception as error:
            self.put_aside(value, stamp, error)
            return None


class GuardedFilter(FilterOperator):
    """A guarded `filter`."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._plain, self.call = self.call, self._careful
        self._stamps: Iterator[int | None] = repeat(None)

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call for each record; the timestamps go along for records that are put aside."""
        self._stamps = iter(timestamps) if timestamps is not None else repeat(None)
        super().process(values, timestamps, keys)

    def _careful(self, value: object) -> bool:
        stamp = next(self._stamps)
        try:
            return bool(self._plain(value))
        except Exception as error:
            self.put_aside(value, stamp, error)
            return False


class FunctionGuard:
    """Guards a process function: its calls are run to their end before anything of them is taken."""

    def __init__(self, function: Any) -> None:
        self.operator: Emitter | None = None
        for name in METHODS:
            call = getattr(function, name, None)
            if call is not None:
                setattr(function, name, self._careful(call, lambda value, ctx: value))
        timer = getattr(function, "on_timer", None)
        if timer is not None:
            function.on_timer = self._careful(timer, lambda stamp, ctx: FailedTimer(ctx.get_current_key(), stamp))

    def _careful(self, call: Callable[..., Any], record: Callable[[Any, Any], Any]) -> Callable[..., object]:
        """The guarded call; `record` makes the value that is put aside if it fails."""

        def careful(value: Record, ctx: Any) -> Any:
            operator = self.operator
            assert operator is not None
            try:
                with operator.holding_back() as made:
                    return run_to_end(call(value, ctx), operator.task.settings.object_reuse, made)
            except Exception as error:
                operator.put_aside(record(value, ctx), ctx.timestamp(), error)
                return None

        return careful
