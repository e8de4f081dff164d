"""Functions that users write, and the contexts they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import Enum
from typing import Any, Generic

from penstock.core.accumulators import Accumulator
from penstock.core.metrics import MetricGroup
from penstock.core.program.output_tag import OutputTag
from penstock.core.state.keyed import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import ACC, IN, KEY, OUT, CurrentKey, K, R, T, V

__all__ = [
    "AggregateFunction",
    "Emitted",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStateStore",
    "MapFunction",
    "NullByteKeySelector",
    "Partitioner",
    "ProcessFunction",
    "ReduceFunction",
    "RuntimeContext",
    "TimeDomain",
    "TimerService",
]


class KeyedStateStore(ABC):
    """Access to state of the current key."""

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]: ...
    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]: ...
    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]: ...
    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]: ...
    @abstractmethod
    def get_aggregating_state(
        self, state_descriptor: AggregatingStateDescriptor[T, V, R]
    ) -> AggregatingState[T, R]: ...


class RuntimeContext(KeyedStateStore):
    """Tells a function where it runs, and gives it state, metrics and accumulators (P6)."""

    @abstractmethod
    def get_task_name(self) -> str: ...
    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int: ...
    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int: ...
    @abstractmethod
    def get_index_of_this_subtask(self) -> int: ...
    @abstractmethod
    def get_attempt_number(self) -> int: ...
    @abstractmethod
    def get_task_name_with_subtasks(self) -> str: ...
    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str: ...
    @abstractmethod
    def get_metrics_group(self) -> MetricGroup: ...
    @abstractmethod
    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator under a name of the job; the same name in other operators is merged with it."""

    @abstractmethod
    def get_accumulator(self, name: str) -> Any: ...

    def in_batch_mode(self) -> bool:
        """Whether the job runs in BATCH mode (P5): the whole input is there, only final results count."""
        return False


Emitted = Iterable[OUT | tuple[OutputTag[Any], object]] | None
"""What a process function may return or yield: records, and `(tag, record)` for a side output."""


class Function(Subscriptable, ABC):
    """Base of user functions. `open` is called before the first record, `close` after the last."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare; state handles are got here."""

    def close(self) -> None:
        """Release what `open` took."""


class MapFunction(Function, Generic[IN, OUT]):
    """One record in, one out."""

    @abstractmethod
    def map(self, value: IN) -> OUT: ...


class FlatMapFunction(Function, Generic[IN, OUT]):
    """One record in, any number out: yield them or return an iterable."""

    @abstractmethod
    def flat_map(self, value: IN) -> Iterable[OUT] | None: ...


class FilterFunction(Function, Generic[IN]):
    """Keeps a record if it answers true."""

    @abstractmethod
    def filter(self, value: IN) -> bool: ...


class ReduceFunction(Function, Generic[T]):
    """Combines two records of a key into one."""

    @abstractmethod
    def reduce(self, value1: T, value2: T) -> T: ...


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """Folds records into an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> ACC: ...
    @abstractmethod
    def add(self, value: IN, accumulator: ACC) -> ACC: ...
    @abstractmethod
    def get_result(self, accumulator: ACC) -> OUT: ...
    @abstractmethod
    def merge(self, acc_a: ACC, acc_b: ACC) -> ACC: ...


class KeySelector(Function, Generic[IN, OUT]):
    """Takes the key out of a record."""

    @abstractmethod
    def get_key(self, value: IN) -> OUT: ...


class NullByteKeySelector(KeySelector[object, int]):
    """The same key for every record."""

    def get_key(self, value: object) -> int:
        return 0


class Partitioner(Function, Generic[KEY]):
    """Chooses the receiving subtask of a key."""

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int) -> int: ...


class TimeDomain(Enum):
    """Which clock a timer belongs to."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1


class TimerService(ABC):
    """The clocks, and timers of the current key."""

    @abstractmethod
    def current_processing_time(self) -> int: ...
    @abstractmethod
    def current_watermark(self) -> int: ...
    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None: ...
    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None: ...
    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None: ...
    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None: ...


class ProcessFunction(Function, Generic[IN, OUT]):
    """Sees each record with its timestamp and the clocks; may emit to side outputs."""

    class Context(ABC):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None: ...

    @abstractmethod
    def process_element(self, value: IN, ctx: ProcessFunction.Context) -> Emitted[OUT]: ...


class KeyedProcessFunction(Function, Generic[KEY, IN, OUT]):
    """Sees each record with its key's state, and may register timers for that key.

    Calls to `process_element` and `on_timer` of a subtask never overlap (S5).
    """

    class Context(Subscriptable, ABC, Generic[CurrentKey]):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def get_current_key(self) -> CurrentKey: ...
        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None: ...

    class OnTimerContext(Context[CurrentKey]):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain: ...

    @abstractmethod
    def process_element(self, value: IN, ctx: KeyedProcessFunction.Context[KEY]) -> Emitted[OUT]: ...

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None
