"""Assigns timestamps and emits watermarks at record counts, never by the wall clock (T3, T9)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from penstock.core.errors import OperatorError, TimestampError
from penstock.core.job import ChainedOperator
from penstock.core.specs import TimestampsSpec
from penstock.core.time import MAX_TIMESTAMP, MAX_WATERMARK, MIN_TIMESTAMP
from penstock.core.watermark import BoundedOutOfOrderness, TimestampAssigner
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import describe, last_taken, user_failure
from penstock.runtime.operators.base import Operator, Poison, Timestamps

__all__ = ["TimestampsOperator"]


class TimestampsOperator(Operator):
    """Bounded out-of-orderness. Beside a source it starts anew each batch: batches combine by maximum."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, TimestampsSpec)
        # configuration
        strategy = desc.spec.strategy
        assigner = strategy.assigner
        self._extract = assigner.extract_timestamp if isinstance(assigner, TimestampAssigner) else assigner
        generator = strategy.generator
        self._delay_ms = generator.delay_ms if isinstance(generator, BoundedOutOfOrderness) else None
        settings = task.settings
        self._step = 1 if settings.per_record_watermarks else settings.watermark_records
        self._periodic = settings.periodic_watermarks or settings.per_record_watermarks
        # not checkpointed
        self._since = 0
        # checkpointed
        self._largest = MIN_TIMESTAMP
        self._emitted = MIN_TIMESTAMP

    def restore(self, state: Any) -> None:
        self._largest, self._emitted = state

    @property
    def sent_watermark(self) -> int:
        return MAX_WATERMARK if self.current_watermark == MAX_WATERMARK else self._emitted

    def snapshot(self) -> Any:
        return None if self._largest == MIN_TIMESTAMP else (self._largest, self._emitted)

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        try:
            stamped = self._assign(values, timestamps)
        except OperatorError:
            if self.poison is None:
                raise
            values, stamped = self._sift(self.poison, values, timestamps)
        if self._delay_ms is None or not self._periodic:
            self._largest = max(self._largest, max(stamped, default=MIN_TIMESTAMP))
            self.out.emit(values, stamped)
            return
        start = 0
        while start < len(values):
            stop = min(len(values), start + self._step - self._since)
            part = stamped[start:stop]
            self.out.emit(values[start:stop], part)
            self._largest = max(self._largest, max(part))
            self._since += stop - start
            if self._since >= self._step:
                self._mark()
            start = stop

    def _assign(self, values: list[Any], timestamps: Timestamps) -> list[int]:
        old = timestamps if timestamps is not None else [None] * len(values)
        if self._extract is None:
            stamped = list(old)
        else:
            rest = iter(values)
            try:
                stamped = list(map(self._extract, rest, old))
            except Exception as error:
                record = last_taken(values, rest)
                raise user_failure(self.desc.name, self.desc.uid, "The timestamp assigner", record, error) from error
        if set(map(type, stamped)) != {int} or min(stamped) < MIN_TIMESTAMP or max(stamped) >= MAX_TIMESTAMP:
            stamped = [self._checked(t, v) for t, v in zip(stamped, values, strict=True)]
        return stamped

    def _sift(self, poison: Poison, values: list[Any], timestamps: Timestamps) -> tuple[list[Any], list[int]]:
        """The records that can be given a timestamp; the others are put aside (F9)."""
        kept: list[tuple[Any, int]] = []
        for value, old in zip(values, timestamps or repeat(None), strict=False):
            try:
                kept.append((value, self._checked(self._extract(value, old) if self._extract else old, value)))
            except Exception as error:
                poison.take(value, old, error)
        return [value for value, _ in kept], [stamp for _, stamp in kept]

    def _checked(self, timestamp: Any, value: Any) -> int:
        index = getattr(timestamp, "__index__", None)
        if index is None or isinstance(timestamp, bool):
            found = f"{describe(timestamp)} ({type(timestamp).__name__})"
            hint = "return milliseconds since the epoch as an int"
            if timestamp is None and self._extract is None:
                hint = "the source attaches none: give the strategy a timestamp assigner"
            raise self._refused(value, found, hint)
        whole = int(index())
        if not MIN_TIMESTAMP <= whole < MAX_TIMESTAMP:
            raise self._refused(value, str(whole), "it must fit in 64 bits; is it in milliseconds?")
        return whole

    def _refused(self, value: Any, found: str, hint: str) -> TimestampError:
        return TimestampError(
            f"Operator '{self.desc.name}' (uid {self.desc.uid}) got the timestamp {found} for record "
            f"{describe(value)}: {hint}",
            self.desc.name,
            self.desc.uid,
        )

    def _mark(self) -> None:
        self._since = 0
        if self._delay_ms is None or self._largest == MIN_TIMESTAMP:
            return
        mark = max(MIN_TIMESTAMP, self._largest - self._delay_ms - 1)
        if mark > self._emitted:
            self._emitted = mark
            self.current_watermark = mark
            self.forward_watermark(mark)

    def end(self) -> None:
        if self._periodic:
            self._mark()

    def watermark(self, timestamp: int) -> None:
        """Watermarks from before are replaced by ours; only the end of the input passes."""
        if timestamp == MAX_WATERMARK:
            self._emitted = MAX_WATERMARK
            super().watermark(timestamp)
