"""What an operator knows of the task it runs in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from penstock.core.accumulators import Accumulator
from penstock.core.clock import Clock
from penstock.core.errors import ProgramError
from penstock.core.functions import ReduceFunction, RuntimeContext
from penstock.core.job import ChainedOperator, JobPlan, RuntimeSettings, Vertex
from penstock.core.metrics import MetricGroup
from penstock.core.state import (
    AggregatingState,
    AggregatingStateDescriptor,
    ListState,
    ListStateDescriptor,
    MapState,
    MapStateDescriptor,
    ReducingState,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueState,
    ValueStateDescriptor,
)
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.metrics import OperatorMetrics
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.handles import (
    PagedAggregatingState,
    PagedListState,
    PagedMapState,
    PagedReducingState,
    PagedValueState,
)
from penstock.runtime.state.space import StateSpace
from penstock.runtime.state.sweep import Lifetime, plain_name, stamped, timed_name, unstamped
from penstock.runtime.state.ttl import (
    TtlAggregatingState,
    TtlListState,
    TtlMapState,
    TtlReducingState,
    TtlValueState,
    lifetime,
)

__all__ = ["Lane", "LiveRuntimeContext", "TaskContext", "split_context"]

Lane = tuple[int, int] | None
"""What a watermark generator watches: a source split (number of the input edge, split), or None for all the rest."""

_GETTERS = {
    "value": "get_state",
    "list": "get_list_state",
    "map": "get_map_state",
    "reducing": "get_reducing_state",
    "aggregating": "get_aggregating_state",
}


@dataclass(slots=True)
class TaskContext:
    """Shared by the operators of one subtask of one vertex.

    `lanes` are those of the head of the chain; `lane` is that of the chunk being processed.
    """

    task_name: str
    subtask: int
    parallelism: int
    max_parallelism: int
    partition: int
    vertex_id: int
    settings: RuntimeSettings
    clock: Clock
    send: Callable[[ChunkRow], None]
    backend: KeyedBackend | None = None
    batch: BatchInfo = field(default_factory=lambda: BatchInfo("", 0, 0))
    attempt_id: str = ""
    attempt_number: int = 0
    new_run: bool = True
    head_uid: str = ""
    lanes: tuple[Lane, ...] = (None,)
    lane: Lane = None
    timeless: frozenset[str] = frozenset()
    reports: dict[str, OperatorMetrics] = field(default_factory=dict)

    def report(self, operator: ChainedOperator) -> OperatorMetrics:
        """The metrics of an operator of this subtask; they go to the driver at the end of every batch."""
        if operator.uid not in self.reports:
            self.reports[operator.uid] = OperatorMetrics(operator, self.task_name, self.subtask)
        return self.reports[operator.uid]


def split_context(
    plan: JobPlan, vertex: Vertex, split: int, clock: Clock, send: Callable[[ChunkRow], None]
) -> TaskContext:
    """What operators beside a source know: a split takes the place of a subtask, and there is no state."""
    return TaskContext(
        vertex.name,
        split,
        vertex.parallelism,
        plan.max_parallelism,
        split % plan.partitions,
        vertex.vertex_id,
        plan.settings,
        clock,
        send,
    )


class LiveRuntimeContext(RuntimeContext):
    """The `RuntimeContext` handed to `open`."""

    def __init__(
        self, task: TaskContext, operator: ChainedOperator, keyed: bool, space: StateSpace | None = None
    ) -> None:
        self._task = task
        self._operator = operator
        self._keyed = keyed
        self.space = task.backend if space is None else space
        self._kinds: dict[str, str] = {}
        self._timed: dict[str, bool] = {}

    def get_task_name(self) -> str:
        return self._task.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._task.subtask

    def get_attempt_number(self) -> int:
        return self._task.attempt_number

    def get_task_name_with_subtasks(self) -> str:
        place = f"{self._task.subtask + 1}/{self._task.parallelism}"
        return f"{self._task.task_name} ({place})#{self.get_attempt_number()}"

    def in_batch_mode(self) -> bool:
        return self._task.settings.batch_mode

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._task.settings.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        return self._task.report(self._operator).group

    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        self._task.report(self._operator).add_accumulator(name, accumulator)

    def get_accumulator(self, name: str) -> Any:
        return self._task.report(self._operator).accumulator(name)

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        backend, name, life = self._claim(state_descriptor, ValueStateDescriptor)
        return PagedValueState(backend, name) if life is None else TtlValueState(backend, name, life)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        backend, name, life = self._claim(state_descriptor, ListStateDescriptor)
        return PagedListState(backend, name) if life is None else TtlListState(backend, name, life)

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        backend, name, life = self._claim(state_descriptor, MapStateDescriptor)
        return PagedMapState(backend, name) if life is None else TtlMapState(backend, name, life)

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        backend, name, life = self._claim(state_descriptor, ReducingStateDescriptor)
        function = state_descriptor.get_reduce_function()
        reduce = function.reduce if isinstance(function, ReduceFunction) else function
        if life is not None:
            return TtlReducingState(backend, name, life, reduce)
        return PagedReducingState(backend, name, reduce)

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        backend, name, life = self._claim(state_descriptor, AggregatingStateDescriptor)
        function = state_descriptor.get_agg_function()
        if life is not None:
            return TtlAggregatingState(backend, name, life, function)
        return PagedAggregatingState(backend, name, function)

    def get_any_state(self, state_descriptor: StateDescriptor) -> State:
        """The state that a descriptor of any kind names."""
        getter: Callable[[Any], State] = getattr(self, _GETTERS[state_descriptor.kind])
        return getter(state_descriptor)

    def _claim(self, descriptor: StateDescriptor, expected: type) -> tuple[Any, str, Lifetime | None]:
        where = f"Operator '{self._operator.name}' (uid {self._operator.uid})"
        space = self.space
        if not self._keyed or space is None:
            raise ProgramError(
                f"{where} asks for keyed state {descriptor.name!r} but its input is not keyed: call key_by first"
            )
        if not isinstance(descriptor, expected):
            raise ProgramError(f"{where}: {type(descriptor).__name__} given where a {expected.__name__} is needed")
        known: Any = self._kinds.setdefault(descriptor.name, descriptor.kind)
        if known != descriptor.kind:
            raise ProgramError(
                f"{where} uses the state name {descriptor.name!r} for a {known} and for a {descriptor.kind} state: "
                "give each descriptor a name of its own"
            )
        if isinstance(space, KeyedBackend):
            return space, *self._table(space, descriptor, where)
        if descriptor.ttl_config is not None:
            raise ProgramError(
                f"{where}: state {descriptor.name!r} of a window cannot have a time to live: it goes with it"
            )
        return space, plain_name(descriptor.kind, descriptor.name), None

    def _table(self, backend: KeyedBackend, descriptor: StateDescriptor, where: str) -> tuple[str, Lifetime | None]:
        """The table of a state; one that gained or lost its TTL since the last run takes over the other's entries."""
        plain, timed = plain_name(descriptor.kind, descriptor.name), timed_name(descriptor.kind, descriptor.name)
        config = descriptor.ttl_config
        if self._timed.setdefault(descriptor.name, config is not None) != (config is not None):
            raise ProgramError(
                f"{where} uses the state {descriptor.name!r} with and without a time to live: "
                "use one descriptor for both"
            )
        if config is None:
            backend.adopt(timed, plain, partial(unstamped, backend))
            return plain, None
        life = lifetime(backend, timed, config, self._task.clock)
        backend.adopt(plain, timed, lambda stored: stamped(backend, stored, life))
        return timed, life
