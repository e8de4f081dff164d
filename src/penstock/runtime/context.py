"""What an operator knows of the task it runs in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.core.clock import Clock
from penstock.core.errors import ProgramError
from penstock.core.functions import RuntimeContext
from penstock.core.job import ChainedOperator, RuntimeSettings
from penstock.core.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.handles import (
    PagedAggregatingState,
    PagedListState,
    PagedMapState,
    PagedReducingState,
    PagedValueState,
)
from penstock.runtime.state.space import StateSpace

__all__ = ["LiveRuntimeContext", "TaskContext"]

_GETTERS = {
    "value": "get_state",
    "list": "get_list_state",
    "map": "get_map_state",
    "reducing": "get_reducing_state",
    "aggregating": "get_aggregating_state",
}


@dataclass(slots=True)
class TaskContext:
    """Shared by the operators of one subtask of one vertex."""

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
    new_run: bool = True


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

    def get_task_name(self) -> str:
        return self._task.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._task.subtask

    def get_attempt_number(self) -> int:
        return 0

    def get_task_name_with_subtasks(self) -> str:
        place = f"{self._task.subtask + 1}/{self._task.parallelism}"
        return f"{self._task.task_name} ({place})#{self.get_attempt_number()}"

    def in_batch_mode(self) -> bool:
        return self._task.settings.batch_mode

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._task.settings.job_parameters.get(key, default_value)

    def get_state(self, state_descriptor: ValueStateDescriptor) -> PagedValueState:
        return PagedValueState(*self._claim(state_descriptor, ValueStateDescriptor))

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> PagedListState:
        return PagedListState(*self._claim(state_descriptor, ListStateDescriptor))

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> PagedMapState:
        return PagedMapState(*self._claim(state_descriptor, MapStateDescriptor))

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> PagedReducingState:
        backend, name = self._claim(state_descriptor, ReducingStateDescriptor)
        function = state_descriptor.get_reduce_function()
        return PagedReducingState(backend, name, getattr(function, "reduce", function))

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> PagedAggregatingState:
        backend, name = self._claim(state_descriptor, AggregatingStateDescriptor)
        return PagedAggregatingState(backend, name, state_descriptor.get_agg_function())

    def get_any_state(self, state_descriptor: StateDescriptor) -> State:
        """The state that a descriptor of any kind names."""
        getter: Callable[[Any], State] = getattr(self, _GETTERS[state_descriptor.kind])
        return getter(state_descriptor)

    def _claim(self, descriptor: StateDescriptor, expected: type) -> tuple[StateSpace, str]:
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
        return space, f"{descriptor.kind}:{descriptor.name}"
