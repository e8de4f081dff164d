"""Live watermark generators: each watches one watermark channel, that is a source split or the rest of the input."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Protocol

from penstock.core.errors import ProgramError
from penstock.core.time.spans import MAX_WATERMARK, MIN_TIMESTAMP, MIN_WATERMARK
from penstock.core.time.watermarks import (
    BoundedOutOfOrderness,
    CustomGenerator,
    NoWatermarks,
    Watermark,
    WatermarkGenerator,
    WatermarkGeneratorSupplier,
    WatermarkOutput,
)
from penstock.runtime.chunk import ACTIVE, IDLE, Mark
from penstock.runtime.context import TaskContext, WatermarkChannel
from penstock.runtime.failures import NO_RECORD, describe, user_failure
from penstock.runtime.values import Record, Timestamps

__all__ = ["Generator", "make_generator"]


class Generator(Protocol):
    """A live generator of any kind, as the timestamps operator uses it."""

    def see(self, values: Sequence[Record], timestamps: Timestamps, start: int, stop: int) -> list[Mark]:
        """Called with records from `start` to `stop`: returns the marks to send between them, each after its record."""

    def periodic(self) -> list[int]:
        """Called after a number of records and at the end of a batch: returns the marks to send now."""

    def snapshot(self) -> object:
        """The state of the generator, None if it has none."""

    def restore(self, state: Any) -> None:
        """Take over a snapshot."""


def make_generator(
    generator: BoundedOutOfOrderness | NoWatermarks | CustomGenerator,
    task: TaskContext,
    channel: WatermarkChannel,
    operator: str,
    uid: str,
) -> Generator:
    """The live generator of one channel."""
    if isinstance(generator, CustomGenerator):
        context = WatermarkGeneratorSupplier.Context(
            task.task_name, task.subtask, task.parallelism, None if channel is None else channel[1]
        )
        return _Custom(generator.make, context, operator, uid)
    return _Bounded(generator.delay_ms) if isinstance(generator, BoundedOutOfOrderness) else _Silent()


class _Silent:
    """A generator that emits nothing."""

    def see(self, values: Sequence[Record], timestamps: Timestamps, start: int, stop: int) -> list[Mark]:
        return []

    def periodic(self) -> list[int]:
        return []

    def snapshot(self) -> object:
        return None

    def restore(self, state: object) -> None:
        """There is no state."""


class _Bounded(_Silent):
    """Emits the largest timestamp − delay − 1."""

    def __init__(self, delay_ms: int) -> None:
        self._delay_ms = delay_ms
        self._largest = MIN_TIMESTAMP

    def see(self, values: Sequence[Record], timestamps: Timestamps, start: int, stop: int) -> list[Mark]:
        if timestamps is not None:
            part = timestamps if stop - start == len(timestamps) else timestamps[start:stop]
            self._largest = max(self._largest, _largest(part))
        return []

    def periodic(self) -> list[int]:
        if self._largest == MIN_TIMESTAMP:
            return []
        return [max(MIN_WATERMARK, self._largest - self._delay_ms - 1)]

    def snapshot(self) -> object:
        return None if self._largest == MIN_TIMESTAMP else self._largest

    def restore(self, state: Any) -> None:
        self._largest = state


def _largest(timestamps: Sequence[Any]) -> int:
    """The largest timestamp; records without one are passed over."""
    try:
        largest: int = max(MIN_TIMESTAMP, max(timestamps))
        return largest
    except TypeError:
        return max((t for t in timestamps if t is not None), default=MIN_TIMESTAMP)


class _Output(WatermarkOutput):
    """Gathers the watermarks and idleness that a generator emits in one call."""

    def __init__(self) -> None:
        self.marks: list[int] = []

    def emit_watermark(self, watermark: Watermark) -> None:
        if not isinstance(watermark, Watermark):
            raise TypeError(f"emit_watermark takes a Watermark, got {describe(watermark)}")
        timestamp = watermark.timestamp
        if type(timestamp) is not int or not MIN_WATERMARK <= timestamp <= MAX_WATERMARK:
            raise TypeError(f"a watermark is an int of milliseconds that fits in 64 bits, got {describe(timestamp)}")
        self.marks.append(timestamp)

    def mark_idle(self) -> None:
        self.marks.append(IDLE)

    def mark_active(self) -> None:
        self.marks.append(ACTIVE)


class _Custom:
    """The user's own generator."""

    def __init__(
        self,
        make: Callable[[WatermarkGeneratorSupplier.Context], WatermarkGenerator],
        context: WatermarkGeneratorSupplier.Context,
        operator: str,
        uid: str,
    ) -> None:
        self._operator, self._uid = operator, uid
        self._output = _Output()
        self._generator = self._made(make, context)
        self.snapshot()

    def _made(self, make: Callable[..., Any], context: WatermarkGeneratorSupplier.Context) -> WatermarkGenerator:
        try:
            made = make(context)
        except Exception as error:
            raise self._failed("The watermark generator supplier", NO_RECORD, error) from error
        if not isinstance(made, WatermarkGenerator):
            raise ProgramError(
                f"The watermark generator supplier of operator '{self._operator}' (uid {self._uid}) made "
                f"{describe(made)} ({type(made).__name__}): it must make a WatermarkGenerator"
            )
        return made

    def see(self, values: Sequence[Record], timestamps: Timestamps, start: int, stop: int) -> list[Mark]:
        call, output, said = self._generator.on_event, self._output, self._output.marks
        marks: list[Mark] = []
        for place, value in enumerate(islice(values, start, stop), start):
            stamp = timestamps[place] if timestamps is not None else None
            try:
                call(value, MIN_TIMESTAMP if stamp is None else stamp, output)
            except Exception as error:
                raise self._failed("on_event of the watermark generator", value, error) from error
            if said:
                marks.extend((place + 1, mark) for mark in said)
                said.clear()
        return marks

    def periodic(self) -> list[int]:
        try:
            self._generator.on_periodic_emit(self._output)
        except Exception as error:
            raise self._failed("on_periodic_emit of the watermark generator", NO_RECORD, error) from error
        said = list(self._output.marks)
        self._output.marks.clear()
        return said

    def snapshot(self) -> bytes:
        try:
            return _dumps(self._generator)
        except Exception as error:
            raise ProgramError(
                f"The watermark generator {type(self._generator).__name__} of operator '{self._operator}' (uid "
                f"{self._uid}) cannot be pickled ({type(error).__name__}: {error}), so it would not survive a "
                "restart: keep plain data in it instead of handles, locks or lambdas"
            ) from error

    def restore(self, state: bytes) -> None:
        self._generator = _loads(state, type(self._generator))

    def _failed(self, doing: str, record: object, error: Exception) -> Exception:
        return user_failure(self._operator, self._uid, doing, record, error)


# -- a generator's class comes from the program: it need not be importable, and a newer one takes over the state ------


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, cls: type) -> None:
        super().__init__(file, 5)
        self._cls = cls

    def persistent_id(self, obj: object) -> object:
        return "class" if obj is self._cls else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, cls: type) -> None:
        super().__init__(file)
        self._cls = cls

    def persistent_load(self, pid: object) -> object:
        return self._cls


def _dumps(generator: WatermarkGenerator) -> bytes:
    file = io.BytesIO()
    _Pickler(file, type(generator)).dump(generator)
    return file.getvalue()


def _loads(data: bytes, cls: type) -> Any:
    return _Unpickler(io.BytesIO(data), cls).load()
