"""Windows of keyed streams, and of streams that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, overload

from penstock.api.data_stream import DataStream
from penstock.api.keyed_stream import KeyedStream
from penstock.api.wrap import as_call
from penstock.core.errors import ProgramError
from penstock.core.functions.base import (
    AggregateFunction,
    Emitted,
    Function,
    NullByteKeySelector,
    ReduceFunction,
    RuntimeContext,
)
from penstock.core.functions.window import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.core.given import described
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.specs import WindowSpec
from penstock.core.time.spans import Span, whole_ms
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import ACC, K, R, T, V, Win
from penstock.core.windows.evictors import Evictor
from penstock.core.windows.triggers import Trigger
from penstock.core.windows.window import MergingWindowAssigner, WindowAssigner

if TYPE_CHECKING:
    from penstock.api.environment import StreamExecutionEnvironment

__all__ = ["AllWindowedStream", "WindowedStream"]


_OnWindows = WindowFunction[Any, Any, Any, Any] | ProcessWindowFunction[Any, Any, Any, Any]


class _Windowed(Generic[T, Win]):
    """Settings that both kinds share, and how they add an operator. `_keyed` is the stream whose windows they are."""

    _parallelism: int | None = None
    _apply_type: type = WindowFunction
    _process_type: type = ProcessWindowFunction

    def __init__(self, keyed_stream: KeyedStream[T, Any], window_assigner: WindowAssigner[T, Win]) -> None:
        if not isinstance(window_assigner, WindowAssigner):
            raise TypeError(f"window() takes a WindowAssigner, got {described(window_assigner)}")
        self._keyed = keyed_stream
        env = keyed_stream.get_execution_environment()
        self._spec = WindowSpec(window_assigner, window_assigner.get_default_trigger(env))

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """The environment that the stream belongs to."""
        return self._keyed.get_execution_environment()

    def get_input_type(self) -> TypeInformation[object]:
        """The type hint of the records in the windows."""
        return self._keyed.get_type()

    def trigger(self, trigger: Trigger[T, Win]) -> Self:
        """When windows fire, instead of the assigner's own trigger."""
        if not isinstance(trigger, Trigger):
            raise TypeError(f"trigger() takes a Trigger, got {described(trigger)}")
        assigner = self._spec.assigner
        if isinstance(assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise ProgramError(
                f"{assigner!r} merges windows, which {type(trigger).__name__} cannot: it has no on_merge()"
            )
        return self._with(trigger=trigger)

    def evictor(self, evictor: Evictor[T, Win]) -> Self:
        """Which records the function is not shown. All records of a window are kept then."""
        if not isinstance(evictor, Evictor):
            raise TypeError(f"evictor() takes an Evictor, got {described(evictor)}")
        return self._with(evictor=evictor)

    def allowed_lateness(self, time_ms: int | Span) -> Self:
        """For how long after its end a window takes late records in and fires again."""
        lateness_ms = whole_ms(time_ms)
        if not isinstance(lateness_ms, int):
            raise TypeError(f"allowed_lateness() takes milliseconds or a span of time, got {time_ms!r:.100}")
        if lateness_ms < 0:
            raise ProgramError(f"allowed_lateness() must not be negative, got {lateness_ms} ms")
        return self._with(lateness_ms=lateness_ms)

    def side_output_late_data(self, output_tag: OutputTag[T]) -> Self:
        """Where records go that come after all their windows have ended; without it they are dropped and counted."""
        if not isinstance(output_tag, OutputTag):
            raise TypeError(f"side_output_late_data() takes an OutputTag, got {type(output_tag).__name__}")
        return self._with(late_tag=output_tag)

    def _with(self, **changes: Any) -> Self:
        self._spec = replace(self._spec, **changes)
        return self

    # -- operators ----------------------------------------------------------------------------------

    def _reduced(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: Function | None,
        output_type: TypeInformation[object] | None,
    ) -> DataStream[object]:
        as_call("reduce", reduce_function)
        return self._add(reduce_function, self._function(window_function, "reduce()"), output_type)

    def _aggregated(
        self,
        aggregate_function: AggregateFunction[T, ACC, V],
        window_function: Function | None,
        output_type: TypeInformation[object] | None,
    ) -> DataStream[object]:
        if not isinstance(aggregate_function, AggregateFunction):
            raise TypeError(f"aggregate() takes an AggregateFunction, got {described(aggregate_function)}")
        return self._add(aggregate_function, self._function(window_function, "aggregate()"), output_type)

    def _applied(self, window_function: Function, output_type: TypeInformation[object] | None) -> DataStream[Any]:
        if not isinstance(window_function, self._apply_type):
            raise TypeError(f"apply() takes a {self._apply_type.__name__}, got {described(window_function)}")
        return self._add(None, self._function(window_function, "apply()"), output_type)

    def _processed(self, process_function: Function, output_type: TypeInformation[object] | None) -> DataStream[Any]:
        if not isinstance(process_function, self._process_type):
            raise TypeError(f"process() takes a {self._process_type.__name__}, got {described(process_function)}")
        return self._add(None, self._function(process_function, "process()"), output_type)

    def _function(self, given: Function | None, where: str) -> _OnWindows | None:
        """The function on windows of a key that runs what was given; `where` names the call in a refusal."""
        if given is not None and not isinstance(given, self._apply_type | self._process_type):
            raise TypeError(
                f"{where} takes a {self._apply_type.__name__} or a {self._process_type.__name__}, "
                f"got {described(given)}"
            )
        return self._by_key(given)

    def _by_key(self, function: Any) -> _OnWindows | None:
        """The function as it is called with a key."""
        kept: _OnWindows | None = function
        return kept

    def _add(
        self,
        combine: Callable[[T, T], T] | Function | None,
        function: _OnWindows | None,
        output_type: TypeInformation[object] | None,
    ) -> DataStream[Any]:
        name = type(self._spec.assigner).__name__
        stream = self._keyed._add(name, replace(self._spec, combine=combine, function=function))._typed(output_type)
        return stream if self._parallelism is None else stream.set_parallelism(self._parallelism)


class WindowedStream(_Windowed[T, Win], Generic[T, K, Win]):
    """The windows of each key."""

    def __init__(self, keyed_stream: KeyedStream[T, K], window_assigner: WindowAssigner[T, Win]) -> None:
        super().__init__(keyed_stream, window_assigner)

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[T]: ...
    @overload
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: WindowFunction[T, R, K, Win] | ProcessWindowFunction[T, R, K, Win],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: Function | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[Any]:
        """Reduce each window to one record as records come in; `window_function` is given that one."""
        return self._reduced(reduce_function, window_function, output_type)

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, R],
        window_function: None = None,
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, V],
        window_function: WindowFunction[V, R, K, Win] | ProcessWindowFunction[V, R, K, Win],
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, V],
        window_function: Function | None = None,
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[Any]:
        """Fold each window into an accumulator as records come in; `window_function` is given its result."""
        return self._aggregated(aggregate_function, window_function, output_type)

    def apply(
        self, window_function: WindowFunction[T, R, K, Win], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """Give the function all records of a window."""
        return self._applied(window_function, output_type)

    def process(
        self,
        process_window_function: ProcessWindowFunction[T, R, K, Win],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Give the function all records of a window, with times, state and side outputs."""
        return self._processed(process_window_function, output_type)


class AllWindowedStream(_Windowed[T, Win]):
    """Windows of everything: as if all records had one key, hence in one subtask."""

    _parallelism = 1
    _apply_type = AllWindowFunction
    _process_type = ProcessAllWindowFunction

    def __init__(self, data_stream: DataStream[T], window_assigner: WindowAssigner[T, Win]) -> None:
        super().__init__(data_stream.key_by(NullByteKeySelector()), window_assigner)

    def _by_key(self, function: Any) -> _OnWindows | None:
        if isinstance(function, AllWindowFunction):
            return _AllApply(function)
        return None if function is None else _AllProcess(function)

    @overload
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[T]: ...
    @overload
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: AllWindowFunction[T, R, Win] | ProcessAllWindowFunction[T, R, Win],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def reduce(
        self,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        window_function: Function | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[Any]:
        """Reduce each window to one record as records come in; `window_function` is given that one."""
        return self._reduced(reduce_function, window_function, output_type)

    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, R],
        window_function: None = None,
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    @overload
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, V],
        window_function: AllWindowFunction[V, R, Win] | ProcessAllWindowFunction[V, R, Win],
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]: ...
    def aggregate(
        self,
        aggregate_function: AggregateFunction[T, ACC, V],
        window_function: Function | None = None,
        accumulator_type: TypeInformation[ACC] | None = None,
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[Any]:
        """Fold each window into an accumulator as records come in; `window_function` is given its result."""
        return self._aggregated(aggregate_function, window_function, output_type)

    def apply(
        self, window_function: AllWindowFunction[T, R, Win], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """Give the function all records of a window."""
        return self._applied(window_function, output_type)

    def process(
        self,
        process_window_function: ProcessAllWindowFunction[T, R, Win],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Give the function all records of a window, with times, state and side outputs."""
        return self._processed(process_window_function, output_type)


class _Wrapping(Function):
    """Holds the user's function under the name by which operator state finds it."""

    _function: Function

    def open(self, runtime_context: RuntimeContext) -> None:
        self._function.open(runtime_context)

    def close(self) -> None:
        self._function.close()


class _AllApply(_Wrapping, WindowFunction[T, R, object, Win]):
    """An `AllWindowFunction`, which is not told the key."""

    def __init__(self, function: AllWindowFunction[T, R, Win]) -> None:
        self._function: AllWindowFunction[T, R, Win] = function

    def apply(self, key: object, window: Win, inputs: Iterable[T]) -> Emitted[R]:
        return self._function.apply(window, inputs)


class _AllProcess(_Wrapping, ProcessWindowFunction[T, R, object, Win]):
    """A `ProcessAllWindowFunction`, which is not told the key."""

    def __init__(self, function: ProcessAllWindowFunction[T, R, Win]) -> None:
        self._function: ProcessAllWindowFunction[T, R, Win] = function

    def process(self, key: object, context: Any, elements: Iterable[T]) -> Emitted[R]:
        return self._function.process(context, elements)

    def clear(self, context: Any) -> None:
        self._function.clear(context)
