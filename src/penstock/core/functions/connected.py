"""Functions of two inputs: connected streams and broadcast state."""

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
    def map1(self, value: IN1) -> OUT:
        """Called for each record of the first input; returns the record that takes its place."""

    @abstractmethod
    def map2(self, value: IN2) -> OUT:
        """Called for each record of the second input; returns the record that takes its place."""


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """One record in, any number out, from either of two streams.

    >>> class Words(CoFlatMapFunction):
    ...     def flat_map1(self, value): yield from value.split()
    ...     def flat_map2(self, value): yield str(value)
    >>> list(Words().flat_map1("a b"))
    ['a', 'b']
    """

    @abstractmethod
    def flat_map1(self, value: IN1) -> Iterable[OUT] | None:
        """Called for each record of the first input; returns or yields any number of records."""

    @abstractmethod
    def flat_map2(self, value: IN2) -> Iterable[OUT] | None:
        """Called for each record of the second input; returns or yields any number of records."""


class CoProcessFunction(Function, Generic[IN1, IN2, OUT]):
    """Sees the records of two streams, one at a time, with timestamp and clocks.

    The clock is the minimum over both inputs.
    """

    class Context(ProcessFunction.Context):
        """Given to both methods; valid during the call only."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: CoProcessFunction.Context) -> Emitted[OUT]:
        """Called for each record of the first input; yields results, and `(tag, value)` for a side output."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: CoProcessFunction.Context) -> Emitted[OUT]:
        """Called for each record of the second input; yields results, and `(tag, value)` for a side output."""


class KeyedCoProcessFunction(Function, Generic[KEY, IN1, IN2, OUT]):
    """Sees the records of two streams that are keyed alike; both share the key's state and timers."""

    class Context(KeyedProcessFunction.Context[CurrentKey]):
        """Given to both methods; valid during the call only."""

    class OnTimerContext(Context[CurrentKey], KeyedProcessFunction.OnTimerContext[CurrentKey]):
        """Given to `on_timer`."""

    @abstractmethod
    def process_element1(self, value: IN1, ctx: KeyedCoProcessFunction.Context[KEY]) -> Emitted[OUT]:
        """Called for each record of the first input, with the state of its key at hand."""

    @abstractmethod
    def process_element2(self, value: IN2, ctx: KeyedCoProcessFunction.Context[KEY]) -> Emitted[OUT]:
        """Called for each record of the second input, with the state of its key at hand."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None


class BaseBroadcastProcessFunction(Function):
    """Base of the functions on a stream that is connected with a broadcast stream."""

    class BaseContext(ABC):
        """Times and side outputs."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The timestamp of the current record; None if its stream has no timestamps."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The processing time of the batch, in milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """The event time that this subtask has reached, in milliseconds."""

        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None:
            """Emit a value to a side output, as `yield tag, value` does."""

    class Context(BaseContext):
        """For the broadcast side: may change the broadcast state.

        Every subtask sees every broadcast record and must come to the same state.
        """

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> BroadcastState[K, V]:
            """The broadcast state of this name, to read and to write."""

    class ReadOnlyContext(BaseContext):
        """For the other side: may read the broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor[K, V]) -> ReadOnlyBroadcastState[K, V]:
            """The broadcast state of this name, to read only: subtasks would disagree about what one of them wrote."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Applies what one stream broadcasts to the records of another that is not keyed."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Emitted[OUT]:
        """Called for each record of the stream that is not broadcast; may read the broadcast state."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Emitted[OUT]:
        """Called in every subtask for each broadcast record; may change the broadcast state, and must change it alike
        everywhere.
        """


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
        def timer_service(self) -> TimerService:
            """Time as this subtask sees it, and the timers of the current key."""

        @abstractmethod
        def get_current_key(self) -> CurrentKey:
            """The key of the current record or timer."""

    class OnTimerContext(ReadOnlyContext[CurrentKey]):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> int:
            """Whether the timer that fires is one of event time or of processing time."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext[KEY]) -> Emitted[OUT]:
        """Called for each record of the keyed stream, with the state of its key; may read the broadcast state."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context) -> Emitted[OUT]:
        """Called in every subtask for each broadcast record; may change the broadcast state, and must change it alike
        everywhere.
        """

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None
