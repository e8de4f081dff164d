"""Functions that users write, and the contexts they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from enum import Enum
from typing import Any

from penstock.core.accumulators import Accumulator
from penstock.core.metrics import MetricGroup
from penstock.core.output_tag import OutputTag
from penstock.core.state import (
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
from penstock.core.subscript import Subscriptable

__all__ = [
    "AggregateFunction",
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
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]: ...
    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]: ...
    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]: ...
    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]: ...
    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]: ...


class RuntimeContext(KeyedStateStore):
    """What a rich function may ask about where it runs (P6)."""

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


class Function(Subscriptable, ABC):
    """Base of user functions. `open` is called before the first record, `close` after the last."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare; state handles are got here."""

    def close(self) -> None:
        """Release what `open` took."""


class MapFunction(Function):
    """One record in, one out."""

    @abstractmethod
    def map(self, value: Any) -> Any: ...


class FlatMapFunction(Function):
    """One record in, any number out: yield them or return an iterable."""

    @abstractmethod
    def flat_map(self, value: Any) -> Iterable[Any] | None: ...


class FilterFunction(Function):
    """Keeps a record if it answers true."""

    @abstractmethod
    def filter(self, value: Any) -> bool: ...


class ReduceFunction(Function):
    """Combines two records of a key into one."""

    @abstractmethod
    def reduce(self, value1: Any, value2: Any) -> Any: ...


class AggregateFunction(Function):
    """Folds records into an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> Any: ...
    @abstractmethod
    def add(self, value: Any, accumulator: Any) -> Any: ...
    @abstractmethod
    def get_result(self, accumulator: Any) -> Any: ...
    @abstractmethod
    def merge(self, acc_a: Any, acc_b: Any) -> Any: ...


class KeySelector(Function):
    """Takes the key out of a record."""

    @abstractmethod
    def get_key(self, value: Any) -> Any: ...


class NullByteKeySelector(KeySelector):
    """The same key for every record."""

    def get_key(self, value: Any) -> Any:
        return 0


class Partitioner(Function):
    """Chooses the receiving subtask of a key."""

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int: ...


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


class ProcessFunction(Function):
    """Sees each record with its timestamp and the clocks; may emit to side outputs."""

    class Context(ABC):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None: ...

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...


class KeyedProcessFunction(Function):
    """Sees each record with its key's state, and may register timers for that key.

    Calls to `process_element` and `on_timer` of a subtask never overlap (S5).
    """

    class Context(ABC):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def get_current_key(self) -> Any: ...
        @abstractmethod
        def timer_service(self) -> TimerService: ...
        @abstractmethod
        def timestamp(self) -> int | None: ...
        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None: ...

    class OnTimerContext(Context):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain: ...

    @abstractmethod
    def process_element(self, value: Any, ctx: Any) -> Iterable[Any] | None: ...

    def on_timer(self, timestamp: int, ctx: Any) -> Iterable[Any] | None:
        """Called when a timer of the current key is due."""
        return None
