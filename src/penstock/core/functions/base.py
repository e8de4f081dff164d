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
    def get_state(self, state_descriptor: ValueStateDescriptor[T]) -> ValueState[T]:
        """The value state of this name. Call it in `open()`; the handle then follows the current key."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor[T]) -> ListState[T]:
        """The list state of this name. Call it in `open()`; the handle then follows the current key."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor[K, V]) -> MapState[K, V]:
        """The map state of this name. Call it in `open()`; the handle then follows the current key."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor[T]) -> ReducingState[T]:
        """The reducing state of this name. Call it in `open()`; the handle then follows the current key."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor[T, V, R]) -> AggregatingState[T, R]:
        """The aggregating state of this name. Call it in `open()`; the handle then follows the current key."""


class RuntimeContext(KeyedStateStore):
    """Tells a function where it runs, and gives it state, metrics and accumulators."""

    @abstractmethod
    def get_task_name(self) -> str:
        """The name of the operator, as `.name()` set it."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """How many subtasks the operator runs in."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """The largest parallelism that the job can be rescaled to."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """The number of this subtask, counted from 0."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """How often the job has been restarted before this run."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Name, number and count, for example `map (1/4)`."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A setting of the job by its name, or `default_value` if it is not set."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Where this function registers counters, gauges, meters and distributions."""

    @abstractmethod
    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator under a name of the job; the same name in other operators is merged with it."""

    @abstractmethod
    def get_accumulator(self, name: str) -> Any:
        """The accumulator that this function has added under this name."""

    def in_batch_mode(self) -> bool:
        """Whether the job runs in BATCH mode: the whole input is there, only final results count."""
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
    def map(self, value: IN) -> OUT:
        """Called for each record; returns the record that takes its place."""


class FlatMapFunction(Function, Generic[IN, OUT]):
    """One record in, any number out: yield them or return an iterable."""

    @abstractmethod
    def flat_map(self, value: IN) -> Iterable[OUT] | None:
        """Called for each record; returns or yields any number of records. None means none."""


class FilterFunction(Function, Generic[IN]):
    """Keeps a record if it answers true."""

    @abstractmethod
    def filter(self, value: IN) -> bool:
        """Called for each record; the record passes if this is true."""


class ReduceFunction(Function, Generic[T]):
    """Combines two records of a key into one."""

    @abstractmethod
    def reduce(self, value1: T, value2: T) -> T:
        """Combine the value so far with the next one into a value of the same type."""


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """Folds records into an accumulator."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """An empty accumulator; called when the first value of a key or window comes."""

    @abstractmethod
    def add(self, value: IN, accumulator: ACC) -> ACC:
        """Add a value to the accumulator and return the accumulator, which may be a new one."""

    @abstractmethod
    def get_result(self, accumulator: ACC) -> OUT:
        """What is emitted or read for an accumulator. Must not change the accumulator."""

    @abstractmethod
    def merge(self, acc_a: ACC, acc_b: ACC) -> ACC:
        """Combine two accumulators; called when windows merge, as sessions do."""


class KeySelector(Function, Generic[IN, OUT]):
    """Takes the key out of a record."""

    @abstractmethod
    def get_key(self, value: IN) -> OUT:
        """The key of a record. Must give the same key for the same record, always."""


class NullByteKeySelector(KeySelector[object, int]):
    """The same key for every record."""

    def get_key(self, value: object) -> int:
        return 0


class Partitioner(Function, Generic[KEY]):
    """Chooses the receiving subtask of a key."""

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int) -> int:
        """The number of the receiving subtask for a key, from 0 to `num_partitions` - 1."""


class TimeDomain(Enum):
    """Which clock a timer belongs to."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1


class TimerService(ABC):
    """The clocks, and timers of the current key."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """The processing time of the batch, in milliseconds. It stands still during a batch."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The event time that this subtask has reached, in milliseconds."""

    @abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Have `on_timer` called for the current key once processing time has reached `timestamp`.

        A timer exists once per key and timestamp.
        """

    @abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Have `on_timer` called for the current key once the watermark has reached `timestamp`.

        A timer exists once per key and timestamp.
        """

    @abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None:
        """Remove a timer of the current key; nothing happens if there is none."""

    @abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None:
        """Remove a timer of the current key; nothing happens if there is none."""


class ProcessFunction(Function, Generic[IN, OUT]):
    """Sees each record with its timestamp and the clocks; may emit to side outputs."""

    class Context(ABC):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Time as this subtask sees it. Without a key no timer can be registered."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The timestamp of the current record; None if the stream has no timestamps."""

        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None:
            """Emit a value to a side output, as `yield tag, value` does."""

    @abstractmethod
    def process_element(self, value: IN, ctx: ProcessFunction.Context) -> Emitted[OUT]:
        """Called for each record; yields results, and `(tag, value)` for a side output."""


class KeyedProcessFunction(Function, Generic[KEY, IN, OUT]):
    """Sees each record with its key's state, and may register timers for that key.

    Calls to `process_element` and `on_timer` of a subtask never overlap.
    """

    class Context(Subscriptable, ABC, Generic[CurrentKey]):
        """Given to `process_element`; valid during the call only."""

        @abstractmethod
        def get_current_key(self) -> CurrentKey:
            """The key of the current record or timer."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Time as this subtask sees it, and the timers of the current key."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The timestamp of the current record or timer; None if the stream has no timestamps."""

        @abstractmethod
        def output(self, output_tag: OutputTag[T], value: T) -> None:
            """Emit a value to a side output, as `yield tag, value` does."""

    class OnTimerContext(Context[CurrentKey]):
        """Given to `on_timer`."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Whether the timer that fires is one of event time or of processing time."""

    @abstractmethod
    def process_element(self, value: IN, ctx: KeyedProcessFunction.Context[KEY]) -> Emitted[OUT]:
        """Called for each record, with the state of its key at hand; yields results, and `(tag, value)` for a side
        output.
        """

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[KEY]) -> Emitted[OUT]:
        """Called when a timer of the current key is due."""
        return None
