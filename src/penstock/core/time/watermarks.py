"""Watermark strategies: where a record's timestamp comes from and how far time has come."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, overload

from penstock.core.config.compat import warn_once
from penstock.core.given import a_class_of, described
from penstock.core.time.spans import MAX_WATERMARK, Span, duration_of, is_span
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, T

__all__ = [
    "BoundedOutOfOrderness",
    "CustomGenerator",
    "IngestionTime",
    "NoWatermarks",
    "TimestampAssigner",
    "Watermark",
    "WatermarkGenerator",
    "WatermarkGeneratorSupplier",
    "WatermarkOutput",
    "WatermarkStrategy",
]


@dataclass(frozen=True, slots=True, order=True)
class Watermark:
    """No more records with a timestamp ≤ this one are expected.

    >>> Watermark(5) < Watermark.MAX_WATERMARK
    True
    """

    MAX_WATERMARK: ClassVar[Watermark]

    timestamp: int

    def get_timestamp(self) -> int:
        """The time up to which the stream is complete, in milliseconds."""
        return self.timestamp


Watermark.MAX_WATERMARK = Watermark(MAX_WATERMARK)


class TimestampAssigner(Subscriptable, ABC, Generic[IN]):
    """Reads a record's event time, in milliseconds since the epoch."""

    @abstractmethod
    def extract_timestamp(self, value: IN, record_timestamp: int | None) -> int:
        """`record_timestamp` is the one the record had before, None if it had none."""


class WatermarkOutput(ABC):
    """Given to a watermark generator, which reports through it on the split that it watches."""

    @abstractmethod
    def emit_watermark(self, watermark: Watermark) -> None:
        """Time has come this far; one that does not advance is dropped. The partition counts as active again."""

    @abstractmethod
    def mark_idle(self) -> None:
        """From now on the partition does not hold the clock back, until it is marked active or a watermark comes."""

    @abstractmethod
    def mark_active(self) -> None:
        """The partition counts again, once it has caught up."""


class WatermarkGenerator(Subscriptable, ABC, Generic[IN]):
    """Makes the watermarks of one source partition.

    Every partition has an instance of its own. The object is pickled with the job's state, so what it keeps in its
    attributes survives restarts; it must be picklable. Neither method may look at the wall clock.

    >>> class AtMarker(WatermarkGenerator):
    ...     def on_event(self, event, event_timestamp, output):
    ...         if event == "marker":
    ...             output.emit_watermark(Watermark(event_timestamp))
    >>> WatermarkStrategy.for_generator(AtMarker).stateless
    False
    """

    @abstractmethod
    def on_event(self, event: IN, event_timestamp: int, output: WatermarkOutput) -> None:
        """Called after each record; a watermark emitted here follows that record directly.

        `event_timestamp` is the smallest 64-bit number for a record without a timestamp.
        """

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Called after fixed numbers of records and at the end of every batch, also of one without records."""


class WatermarkGeneratorSupplier(ABC):
    """Makes generators, one for each source partition; a generator class or a function will do as well."""

    @dataclass(frozen=True, slots=True)
    class Context:
        """Where a generator will run. `partition` is the source split that it watches, None if it watches a subtask."""

        task_name: str
        subtask: int
        parallelism: int
        partition: int | None

    @abstractmethod
    def create_watermark_generator(self, context: WatermarkGeneratorSupplier.Context) -> WatermarkGenerator:
        """Called once for each source split; returns a generator of its own. Its attributes are kept with the state."""


@dataclass(frozen=True, slots=True)
class BoundedOutOfOrderness:
    """Watermark = largest timestamp seen − delay − 1. Parts of a stream combine by maximum."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class NoWatermarks:
    """Time does not advance until the input ends."""


@dataclass(frozen=True, slots=True)
class CustomGenerator:
    """The user's own generators."""

    make: Callable[[WatermarkGeneratorSupplier.Context], WatermarkGenerator]


@dataclass(frozen=True, slots=True)
class IngestionTime:
    """Stands for an assigner: the batch's processing time, the same for every attempt at the batch."""


@dataclass(frozen=True, slots=True)
class WatermarkStrategy(Subscriptable, Generic[IN]):
    """How a stream tells event time.

    >>> from penstock.common import Duration
    >>> WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5)).generator
    BoundedOutOfOrderness(delay_ms=5000)
    """

    generator: BoundedOutOfOrderness | NoWatermarks | CustomGenerator
    assigner: TimestampAssigner[IN] | Callable[[IN, int | None], int] | IngestionTime | None = None
    idle_timeout_ms: int | None = None

    @property
    def stateless(self) -> bool:
        """Whether batches combine by maximum, so that nothing has to be remembered between them."""
        return not isinstance(self.generator, CustomGenerator) and self.idle_timeout_ms is None

    @property
    def without_effect(self) -> bool:
        """Whether it neither assigns timestamps, nor makes watermarks, nor notices idleness."""
        return isinstance(self.generator, NoWatermarks) and self.assigner is None and self.idle_timeout_ms is None

    @overload
    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner[T]) -> WatermarkStrategy[T]: ...
    @overload
    def with_timestamp_assigner(self, timestamp_assigner: Callable[[IN, int | None], int]) -> WatermarkStrategy[IN]: ...
    def with_timestamp_assigner(
        self, timestamp_assigner: TimestampAssigner[Any] | Callable[[Any, int | None], int]
    ) -> WatermarkStrategy[Any]:
        """Take timestamps from records; without one, the source's own are used."""
        is_class = a_class_of(timestamp_assigner, TimestampAssigner)
        if is_class or not (isinstance(timestamp_assigner, TimestampAssigner) or callable(timestamp_assigner)):
            raise TypeError(
                "with_timestamp_assigner takes a TimestampAssigner or a function (value, record_timestamp) -> int, "
                f"got {described(timestamp_assigner)}"
            )
        if isinstance(self.assigner, IngestionTime):
            raise ValueError(
                "for_ingestion_time() takes timestamps from the clock: for timestamps of the records' own use "
                "for_monotonous_timestamps() or for_bounded_out_of_orderness(...)"
            )
        return WatermarkStrategy(self.generator, timestamp_assigner, self.idle_timeout_ms)

    def with_idleness(self, idle_timeout: Span) -> WatermarkStrategy[IN]:
        """A partition without records for this long, by processing time, does not hold the clock back."""
        timeout_ms = _positive(idle_timeout, "with_idleness: the idle timeout")
        return replace(self, idle_timeout_ms=timeout_ms)

    def with_watermark_alignment(
        self, watermark_group: str, max_allowed_watermark_drift: Span, update_interval: Span | None = None
    ) -> WatermarkStrategy[IN]:
        """Accepted; no source is paused."""
        if not isinstance(watermark_group, str):
            raise TypeError(f"with_watermark_alignment: the group is a string, got {type(watermark_group).__name__}")
        _positive(max_allowed_watermark_drift, "with_watermark_alignment: the allowed drift")
        if update_interval is not None:
            _positive(update_interval, "with_watermark_alignment: the update interval")
        warn_once("WatermarkStrategy.with_watermark_alignment")
        return self

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy[IN]:
        """For timestamps that never fall within a source split."""
        return WatermarkStrategy(BoundedOutOfOrderness(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Span) -> WatermarkStrategy[IN]:
        """For records that are at most so much older than the newest one before them."""
        if not is_span(max_out_of_orderness):
            raise TypeError(
                "for_bounded_out_of_orderness: the delay is a Duration or a timedelta, got "
                f"{type(max_out_of_orderness).__name__}"
            )
        delay_ms = duration_of(max_out_of_orderness).to_milliseconds()
        if delay_ms < 0:
            raise ValueError(f"The out-of-orderness must not be negative, got {delay_ms} ms")
        return WatermarkStrategy(BoundedOutOfOrderness(delay_ms))

    @staticmethod
    def for_generator(
        generator_supplier: WatermarkGeneratorSupplier
        | Callable[[], WatermarkGenerator]
        | Callable[[WatermarkGeneratorSupplier.Context], WatermarkGenerator],
    ) -> WatermarkStrategy[IN]:
        """Watermarks by generators of your own, one for each source partition.

        The supplier is a generator class, a function without parameters or with one (the context), or a
        `WatermarkGeneratorSupplier`.
        """
        return WatermarkStrategy(CustomGenerator(_maker(generator_supplier)))

    @staticmethod
    def for_ingestion_time() -> WatermarkStrategy[IN]:
        """Timestamps from the clock when records entered: all records of a batch get the batch's processing time.

        A task that is run again gives the same ones. If the driver's clock is set back, records are late until it
        has caught up.
        """
        return WatermarkStrategy(BoundedOutOfOrderness(0), IngestionTime())

    @staticmethod
    def no_watermarks() -> WatermarkStrategy[IN]:
        """Timestamps without watermarks: event time stands still until the input ends."""
        return WatermarkStrategy(NoWatermarks())


class _WithoutContext:
    """A supplier that does not want to know where its generators will run."""

    def __init__(self, make: Callable[[], WatermarkGenerator]) -> None:
        self._make = make

    def __call__(self, context: WatermarkGeneratorSupplier.Context) -> WatermarkGenerator:
        return self._make()


def _maker(supplier: object) -> Callable[[WatermarkGeneratorSupplier.Context], WatermarkGenerator]:
    if isinstance(supplier, WatermarkGeneratorSupplier):
        return supplier.create_watermark_generator
    if isinstance(supplier, WatermarkGenerator):
        raise TypeError(
            f"for_generator takes what makes generators, since every source partition needs one of its own: pass the "
            f"class {type(supplier).__name__} or a function that creates it, not an instance"
        )
    if not callable(supplier):
        raise TypeError(
            "for_generator takes a WatermarkGenerator class, a function that creates one, or a "
            f"WatermarkGeneratorSupplier, got {type(supplier).__name__}"
        )
    return supplier if _parameters(supplier) else _WithoutContext(supplier)


def _parameters(supplier: Callable[..., object]) -> int:
    """How many arguments it must be given; one is the context."""
    try:
        known = inspect.signature(supplier).parameters.values()
    except ValueError:  # a builtin that does not say
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in known if p.default is p.empty and p.kind in (*positional, inspect.Parameter.KEYWORD_ONLY)]
    if len(needed) > 1 or any(p.kind not in positional for p in needed):
        raise TypeError(
            f"for_generator: {getattr(supplier, '__name__', supplier)} wants {', '.join(p.name for p in needed)}; "
            "a supplier is called without arguments or with the context alone. Wrap it in a lambda"
        )
    return len(needed)


def _positive(span: Any, what: str) -> int:
    if not is_span(span):
        raise TypeError(f"{what} is a Duration or a timedelta, got {type(span).__name__}")
    span_ms = duration_of(span).to_milliseconds()
    if span_ms <= 0:
        raise ValueError(f"{what} must be positive, got {span_ms} ms")
    return span_ms
