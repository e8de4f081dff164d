"""`map`, `flat_map` and `filter`: stateless, whole lists at a time."""

from __future__ import annotations

from itertools import compress

from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import TransformSpec
from penstock.runtime.codec import IMMUTABLE, detach
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.failures import last_taken, not_iterable, user_failure
from penstock.runtime.operators.base import Operator
from penstock.runtime.values import Keys, Records, Timestamps

__all__ = ["FilterOperator", "FlatMapOperator", "MapOperator"]


class _Transform(Operator):
    """Base: calls a function for each record. How far the input iterator got tells which record failed."""

    doing = "The function"

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, TransformSpec)
        self.call = desc.spec.call
        self._rich = desc.spec.rich
        self._reuse = task.settings.object_reuse

    def open(self) -> None:
        if self._rich is not None:
            self._rich.open(LiveRuntimeContext(self.task, self.desc, keyed=False))

    def close(self) -> None:
        if self._rich is not None:
            self._rich.close()

    def failed(self, values: Records, rest: object, error: Exception) -> Exception:
        return user_failure(self.desc.name, self.desc.uid, self.doing, last_taken(values, rest), error)


class MapOperator(_Transform):
    """A `map`: one result for each record."""

    doing = "The map function"

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call for each record and pass the results on, with the same timestamps."""
        call, rest = self.call, iter(values)
        try:
            if self._reuse:
                out = list(map(call, rest))
            else:
                out = [r if type(r := call(v)) in IMMUTABLE else detach(r) for v in rest]
        except Exception as error:
            raise self.failed(values, rest, error) from error
        self.out.emit(out, timestamps)


class FilterOperator(_Transform):
    """Keeps the records for which the function returns true."""

    doing = "The filter function"

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Pass on the records, with their timestamps, that the function keeps."""
        call, rest = self.call, iter(values)
        try:
            if timestamps is None:
                kept = [v for v in rest if call(v)]
            else:
                chosen = [bool(call(v)) for v in rest]
                kept = list(compress(values, chosen))
                timestamps = list(compress(timestamps, chosen))
        except Exception as error:
            raise self.failed(values, rest, error) from error
        if kept:
            self.out.emit(kept, timestamps)


class FlatMapOperator(_Transform):
    """A `flat_map`: any number of results for each record."""

    doing = "The flat_map function"

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Call for each record; results have the timestamp of the record they were made of."""
        rest = iter(values)
        limit = self.task.settings.chunk_records
        out: Records = []
        sizes: list[int | None] = []
        try:
            for index, value in enumerate(rest):
                before = len(out)
                self._call_one(value, out)
                if timestamps is not None:
                    sizes.extend([timestamps[index]] * (len(out) - before))
                if len(out) >= limit:
                    self.out.emit(out, sizes if timestamps is not None else None)
                    out, sizes = [], []
        except Exception as error:
            raise self.failed(values, rest, error) from error
        if out:
            self.out.emit(out, sizes if timestamps is not None else None)

    def _call_one(self, value: object, out: Records) -> None:
        result = self.call(value)
        if result is None:
            return
        try:
            made = iter(result)
        except TypeError:
            raise not_iterable(self.desc.name, self.desc.uid, self.doing, value, result) from None
        if self._reuse:
            out.extend(made)
        else:
            out.extend([r if type(r) in IMMUTABLE else detach(r) for r in made])
