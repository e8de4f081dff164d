"""Streams partitioned by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from penstock.api.data_stream import DataStream
from penstock.api.transformation import TransformationInput
from penstock.api.wrap import Accumulate, KeyedTransform, RollingReduce, WithKey, as_call
from penstock.core.errors import ProgramError
from penstock.core.functions.base import Function, KeyedProcessFunction, ReduceFunction
from penstock.core.given import instance_of
from penstock.core.program.partition import Custom, Exchange, Global, Hash
from penstock.core.program.specs import CollectSpec, KeyedProcessSpec
from penstock.core.time.spans import Span
from penstock.core.types.row import Row
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import K_co, R, Win
from penstock.core.windows.assigners import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.core.windows.window import CountWindow, TimeWindow, WindowAssigner

if TYPE_CHECKING:
    from penstock.api.collect import CloseableIterator
    from penstock.api.interval_join import IntervalJoin
    from penstock.api.regular_join import RegularJoin
    from penstock.api.windowed_stream import WindowedStream

T_co = TypeVar("T_co", covariant=True)

__all__ = ["KeyedStream"]


_PARTITIONING: dict[type[Exchange], str] = {Custom: "partition_custom", Global: "global_"}
"""Calls that are not named as their exchange is."""


class KeyedStream(Subscriptable, DataStream[T_co], Generic[T_co, K_co]):
    """A stream partitioned by key: operators on it have state and timers per key."""

    def _exchanged(self, exchange: Exchange) -> tuple[TransformationInput, ...]:
        """A key's records are where its state is, so that nothing but another `key_by` may send them elsewhere."""
        if not isinstance(exchange, Hash):
            call = _PARTITIONING.get(type(exchange), type(exchange).__name__.lower())
            raise ProgramError(
                f"{call}() cannot override the partitioning of a stream that was keyed after "
                f"'{self._inputs[0].source.name}': call it before key_by(), or on the result of an operator"
            )
        return super()._exchanged(exchange)

    # A keyed stream is a stream, as in PyFlink, but takes other functions and collects other records.
    def process(  # type: ignore[override]
        self, func: KeyedProcessFunction[K_co, T_co, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """See each record with its key's state and timers."""
        function = instance_of(func, KeyedProcessFunction, "process() on a keyed stream")
        return self._add("KeyedProcess", KeyedProcessSpec(function))._typed(output_type)

    def reduce(self, func: Callable[[T_co, T_co], T_co] | ReduceFunction[T_co]) -> DataStream[T_co]:
        """Combine each record with what its key has come to so far, and emit that."""
        return self._add("Reduce", KeyedProcessSpec(RollingReduce(func)))._typed(self.get_type())

    def window(self, window_assigner: WindowAssigner[T_co, Win]) -> WindowedStream[T_co, K_co, Win]:
        """Windows of each key."""
        from penstock.api.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream[T_co, K_co, CountWindow]:
        """Windows of `size` records of a key; with `slide`, one that begins every so many records."""
        assigner = CountSlidingWindowAssigner(size, slide) if slide else CountTumblingWindowAssigner(size)
        return self.window(assigner)

    def time_window(self, size: Span, slide: Span | None = None) -> WindowedStream[T_co, K_co, TimeWindow]:
        """The older name of tumbling and sliding event-time windows."""
        if slide is None:
            return self.window(TumblingEventTimeWindows.of(size))
        return self.window(SlidingEventTimeWindows.of(size, slide))

    def interval_join(self, other_stream: KeyedStream[R, Any]) -> IntervalJoin[T_co, R]:
        """Pairs of records of a key whose timestamps lie in a certain distance."""
        from penstock.api.interval_join import IntervalJoin

        return IntervalJoin(self, other_stream)

    def regular_join(self, other_stream: KeyedStream[R, Any]) -> RegularJoin[T_co, R]:
        """All pairs of records of a key, as a database joins two tables."""
        from penstock.api.regular_join import RegularJoin

        return RegularJoin(self, other_stream)

    def sum(self, position_to_sum: int | str = 0) -> DataStream[T_co]:
        """The rolling sum of a field of each key."""
        return self._accumulate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream[T_co]:
        """The rolling minimum of a field; the other fields are those of the key's first record."""
        return self._accumulate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream[T_co]:
        """The rolling maximum of a field; the other fields are those of the key's first record."""
        return self._accumulate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream[T_co]:
        """The record with the smallest field so far; of equal ones the first."""
        return self._accumulate("min_by", position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream[T_co]:
        """The record with the largest field so far; of equal ones the first."""
        return self._accumulate("max_by", position_to_max_by)

    @overload  # type: ignore[override]
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator[Row]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[Row]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[Row]: ...
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[Row] | list[Row]:
        """Run the job and iterate over this stream's records, each in a row with its key: `Row(f0=key, f1=value)`."""
        plain: DataStream[T_co] = DataStream(
            self._env, tuple(TransformationInput(f.source, f.tag) for f in self._inputs)
        )
        exchange = self._inputs[0].exchange
        assert isinstance(exchange, Hash)
        name = self._env._next_name()
        plain._add_sink("Collect", CollectSpec(name, False, shape=WithKey(exchange.selector)))
        return self._env._collect(name, job_execution_name, limit)

    def _accumulate(self, operation: str, position: int | str) -> DataStream[T_co]:
        rolled: Callable[[T_co, T_co], T_co] = Accumulate(operation, position)
        return self.reduce(rolled)

    def _transform(self, operation: str, name: str, func: object) -> DataStream[Any]:
        if isinstance(func, Function):
            as_call(operation, func)
            return self._add(name, KeyedProcessSpec(KeyedTransform(operation, func)))
        return super()._transform(operation, name, func)
