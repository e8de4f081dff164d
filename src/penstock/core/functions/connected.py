"""Functions of two inputs: connected streams and broadcast state (O3, S3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic

from penstock.core.functions.base import Emitted, Function, KeyedProcessFunction, ProcessFunction, TimerService
from penstock.core.program.output_tag import OutputTag
from penstock.core.state.keyed import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState, State, StateDescriptor
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN1, IN2, KEY, OUT, CurrentKey, K, T, V

__all__ = [
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
]


class CoMapFunction(Function, Generic[IN1, IN2, OUT]):
    """One record in, one out, from either of two streams.

    >>> class Label(CoMapFunction):
    ...     def map1(self, value): return ("left", value)
    ...     def map2(self, value): return ("right", value)
    >>> Label().map2(3)
    ('right', 3)
    """

    @abstractmethod
    def map1(self, value: IN1) -> OUT: ...
    @abstractmethod
    def map2(self, value: IN2) -> OUT: ...


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """One record in, any number out, from either of two streams.

    >>> class Words(CoFlatMapFunction):
    ...     def flat_map1(self, value): yield from value.split()
    ...     def flat_map2(self, value): yield str(value)
    >>> list(Words().flat_map1("a b"))
    ['a', 'b']
    """

    @abstractmethod
    def flat_map1(self, value: IN1) -> Iterable[OUT] | None: ...
    @abstractmethod
    def flat_map2(self, value: IN2) -> Iterable[OUT] | None: ...


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """Sees the records of two streams, one at a time, with timestamp and clocks.

    The clock is the minimum over both inputs (T5).
    """

    class Context(ProcessFunction.Context):
        """Given to both methods; valid during the call only."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: CoProcessFunction.Context) -> Emitted[OUT]: ...
    @abstractmethod
    def process_element2(self, value: IN2, ctx: CoProcessFunction.Context) -> Emitted[OUT]: ...


class KeyedCoProcessFunction(Function, Generic[KEY, IN1, IN2, OUT]):
    """Sees the records of two streams that are keyed alike; both share the key's state and timers."""

    class Context(KeyedProcessFunction.Context[CurrentKey]):
        """Given to both methods; valid during the call only."""

    class OnTimerContext(Context[CurrentKey], KeyedProcessFunction.OnTimerContext[CurrentKey]):
        """Given to `on_timer`."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: KeyedCoProcessFunction.Context[KEY]) -> Emitted[OUT]: ...
    @abstractmethod
    def process_element2(self, value: IN2, ctx: KeyedCoProcessFunction.Context[KEY]) -> Emitted[OUT]: ...

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None


class BaseBroadcastProcessFunction(Function):
    """Base of the functions on a stream that is connected with a broadcast stream."""

    class BaseContext(ABC):
        """Times and side outputs."""

        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def current_processing_time(self) -> int: ...
        @abstractmethod
        def current_watermark(self) -> int: ...
        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None: ...

    class Context(BaseContext):
        """For the broadcast side: may change the broadcast state.

        Every subtask sees every broadcast record and must come to the same state.
        """

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]: ...

    class ReadOnlyContext(BaseContext):
        """For the other side: may read the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> ReadOnlyBroadcastState[K, V]: ...


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Applies what one stream broadcasts to the records of another that is not keyed."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Emitted[OUT]: ...
    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Emitted[OUT]: ...


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """Applies what one stream broadcasts to the records of a keyed one, which has keyed state and timers too."""

    class Context(BaseBroadcastProcessFunction.Context):
        """For the broadcast side."""

        @abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor, function: Callable[[Any, State], None]
        ) -> None:
            """Call `function(key, state)` for every key of this subtask that has that state."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, Subscriptable, Generic[CurrentKey]):
        """For the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def get_current_key(self) -> CurrentKey: ...

    class OnTimerContext(ReadOnlyContext[CurrentKey]):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> int: ...

    @abstractmethod
    def process_element(self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[KEY]) -> Emitted[OUT]: ...
    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context) -> Emitted[OUT]: ...

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None
