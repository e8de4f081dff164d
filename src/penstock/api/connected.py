"""Two streams as the inputs of one operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Generic, overload

from penstock.api.data_stream import DataStream
from penstock.api.keyed_stream import KeyedStream
from penstock.api.transformation import TransformationInput
from penstock.api.wrap import CoTransform
from penstock.core.errors import ProgramError
from penstock.core.functions.base import Function, KeySelector
from penstock.core.functions.connected import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from penstock.core.given import described
from penstock.core.program.specs import BroadcastSpec, KeyedProcessSpec, OperatorSpec, ProcessSpec
from penstock.core.state.keyed import MapStateDescriptor
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import K, R, T, V

__all__ = ["BroadcastConnectedStream", "BroadcastStream", "ConnectedStreams", "add_to_both", "connect"]

_BOTH = ("process_element1", "process_element2")


@overload
def connect(first: DataStream[T], second: DataStream[V]) -> ConnectedStreams[T, V]: ...
@overload
def connect(first: DataStream[T], second: BroadcastStream[V]) -> BroadcastConnectedStream[T, V]: ...
@overload
def connect(
    first: DataStream[T], second: DataStream[V] | BroadcastStream[V]
) -> ConnectedStreams[T, V] | BroadcastConnectedStream[T, V]: ...
def connect(
    first: DataStream[T], second: DataStream[V] | BroadcastStream[V]
) -> ConnectedStreams[T, V] | BroadcastConnectedStream[T, V]:
    """Called by `DataStream.connect`; the other stream decides whether broadcast state comes with it."""
    if isinstance(second, BroadcastStream):
        return BroadcastConnectedStream(first, second, second.broadcast_state_descriptors)
    if not isinstance(second, DataStream):
        raise TypeError(f"connect() takes a DataStream or a BroadcastStream, got {type(second).__name__}")
    return ConnectedStreams(first, second)


def _as_input(stream: DataStream[object], index: int) -> tuple[TransformationInput, ...]:
    return tuple(replace(read, input=index) for read in stream._inputs)


def add_to_both(
    first: DataStream[object], second: DataStream[object], name: str, spec: OperatorSpec
) -> DataStream[Any]:
    env = first.get_execution_environment()
    if second.get_execution_environment() is not env:
        raise ProgramError("connect() joins two streams of one environment; these belong to different ones")
    return DataStream(
        env, (TransformationInput(env._add_transformation(name, spec, (*_as_input(first, 0), *_as_input(second, 1)))),)
    )


class ConnectedStreams(Generic[T, V]):
    """Two streams, of different types perhaps, that one operator sees; keyed alike they share state per key."""

    def __init__(self, stream1: DataStream[T], stream2: DataStream[V]) -> None:
        self.stream1, self.stream2 = stream1, stream2

    def key_by(
        self,
        key_selector1: Callable[[T], K] | KeySelector[T, K],
        key_selector2: Callable[[V], K] | KeySelector[V, K],
        key_type: TypeInformation[object] | None = None,
    ) -> ConnectedStreams[T, V]:
        """Key both streams; equal keys of either meet in the same subtask."""
        return ConnectedStreams(
            self.stream1.key_by(key_selector1, key_type), self.stream2.key_by(key_selector2, key_type)
        )

    def map(self, func: CoMapFunction[T, V, R], output_type: TypeInformation[object] | None = None) -> DataStream[R]:
        """One record in, one out."""
        if not isinstance(func, CoMapFunction):
            raise TypeError(f"map() on connected streams takes a CoMapFunction, got {described(func)}")
        return self._process("Co-Map", CoTransform(func))._typed(output_type)

    def flat_map(
        self, func: CoFlatMapFunction[T, V, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """One record in, any number out."""
        if not isinstance(func, CoFlatMapFunction):
            raise TypeError(f"flat_map() on connected streams takes a CoFlatMapFunction, got {described(func)}")
        return self._process("Co-Flat Map", CoTransform(func))._typed(output_type)

    def process(
        self,
        func: CoProcessFunction[T, V, R] | KeyedCoProcessFunction[Any, T, V, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """See the records of both, with timestamp and clocks; keyed, with state and timers."""
        wanted: type[Function] = KeyedCoProcessFunction if self._is_keyed_stream() else CoProcessFunction
        if not isinstance(func, wanted):
            keyed = "keyed" if self._is_keyed_stream() else "not keyed"
            raise TypeError(
                f"process() on connected streams that are {keyed} takes a {wanted.__name__}, got {described(func)}"
            )
        return self._process("Co-Process", func)._typed(output_type)

    def _process(self, name: str, function: Function) -> DataStream[Any]:
        if self._is_keyed_stream():
            return add_to_both(self.stream1, self.stream2, f"Keyed {name}", KeyedProcessSpec(function, _BOTH))
        return add_to_both(self.stream1, self.stream2, name, ProcessSpec(function, _BOTH))

    def _is_keyed_stream(self) -> bool:
        keyed = [isinstance(s, KeyedStream) for s in (self.stream1, self.stream2)]
        if any(keyed) and not all(keyed):
            raise ProgramError(
                "connect() of a keyed and a plain stream: key both, with key_by on each or with "
                "key_by(selector1, selector2) on the connected streams, or neither"
            )
        return all(keyed)


class BroadcastStream(Generic[T]):
    """A stream whose records go to every subtask, with the maps it may fill; made by `broadcast(descriptor, …)`."""

    def __init__(
        self, input_stream: DataStream[T], broadcast_state_descriptors: Iterable[MapStateDescriptor[Any, Any]]
    ) -> None:
        self.input_stream = input_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)
        for descriptor in self.broadcast_state_descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise TypeError(f"broadcast() takes MapStateDescriptors, got {type(descriptor).__name__}")


class BroadcastConnectedStream(Generic[T, V]):
    """A stream, keyed or not, together with a broadcast one."""

    def __init__(
        self,
        non_broadcast_stream: DataStream[T],
        broadcast_stream: BroadcastStream[V],
        broadcast_state_descriptors: Iterable[MapStateDescriptor[Any, Any]],
    ) -> None:
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)

    def process(
        self,
        func: BroadcastProcessFunction[T, V, R] | KeyedBroadcastProcessFunction[Any, T, V, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """Apply what is broadcast to the records of the other stream."""
        keyed = isinstance(self.non_broadcast_stream, KeyedStream)
        wanted: type[Function] = KeyedBroadcastProcessFunction if keyed else BroadcastProcessFunction
        if not isinstance(func, wanted):
            raise TypeError(
                f"process() on a {'keyed' if keyed else 'plain'} stream connected with a broadcast one takes a "
                f"{wanted.__name__}, got {described(func)}"
            )
        names = tuple(d.get_name() for d in self.broadcast_state_descriptors)
        name = "Keyed-Co-Process-Broadcast" if keyed else "Co-Process-Broadcast"
        spec = BroadcastSpec(func, names, keyed)
        return add_to_both(self.non_broadcast_stream, self.broadcast_stream.input_stream, name, spec)._typed(
            output_type
        )
