"""Functions of two inputs: connected streams and broadcast state (O3, S3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from penstock.core.functions import Function, KeyedProcessFunction, ProcessFunction, TimerService
from penstock.core.output_tag import OutputTag
from penstock.core.state import BroadcastState, MapStateDescriptor, ReadOnlyBroadcastState, State, StateDescriptor

__all__ = [
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
]


class CoMapFunction(Function):
    """One record in, one out, from either of two streams.

    >>> class Label(CoMapFunction):
    ...     def map1(self, value): return ("left", value)
    ...     def map2(self, value): return ("right", value)
    >>> Label().map2(3)
    ('right', 3)
    """

    @abstractmethod
    def map1(self, value: Any) -> Any: ...
    @abstractmethod
    def map2(self, value: Any) -> Any: ...


class CoFlatMapFunction(Function):
    """One record in, any number out, from either of two streams.

    >>> class Words(CoFlatMapFunction):
    ...     def flat_map1(self, value): yield from value.split()
    ...     def flat_map2(self, value): yield str(value)
    >>> list(Words().flat_map1("a b"))
    ['a', 'b']
    """

    @abstractmethod
    def flat_map1(self, value: Any) -> Iterable[Any] | None: ...
    @abstractmethod
    def flat_map2(self, value: Any) -> Iterable[Any] | None: ...


class CoProcessFunction(Function):
    """Sees the records of two streams, one at a time, with timestamp and clocks.

    The clock is the minimum over both inputs (T5).
    """

    class Context(ProcessFunction.Context):
        """Given to both methods; valid during the call only."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...
    @abstractmethod
    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...


class KeyedCoProcessFunction(Function):
    """Sees the records of two streams that are keyed alike; both share the key's state and timers."""

    class Context(KeyedProcessFunction.Context):
        """Given to both methods; valid during the call only."""

    class OnTimerContext(Context, KeyedProcessFunction.OnTimerContext):
        """Given to `on_timer`."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...
    @abstractmethod
    def process_element2(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key is due."""
        return None


class BaseBroadcastProcessFunction(Function):
    """What functions on a stream connected with a broadcast stream have in common."""

    class BaseContext(ABC):
        """Times and side outputs."""

        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def current_processing_time(self) -> int: ...
        @abstractmethod
        def current_watermark(self) -> int: ...
        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None: ...

    class Context(BaseContext):
        """For the broadcast side: may change the broadcast state.

        Every subtask sees every broadcast record and must come to the same state.
        """

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]: ...

    class ReadOnlyContext(BaseContext):
        """For the other side: may read the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]: ...


class BroadcastProcessFunction(BaseBroadcastProcessFunction):
    """Applies what one stream broadcasts to the records of another that is not keyed."""

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...
    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction):
    """Applies what one stream broadcasts to the records of a keyed one, which has keyed state and timers too."""

    class Context(BaseBroadcastProcessFunction.Context):
        """For the broadcast side."""

        @abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor, function: Callable[[Any, State], None]
        ) -> None:
            """Call `function(key, state)` for every key of this subtask that has that state."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext):
        """For the keyed side."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def get_current_key(self) -> Any: ...

    class OnTimerContext(ReadOnlyContext):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> int: ...

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...
    @abstractmethod
    def process_broadcast_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key is due."""
        return None
