"""The context of a task, which its operators share, and the runtime context that user functions get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from penstock.core.accumulators import Accumulator
from penstock.core.errors import ProgramError
from penstock.core.functions.base import RuntimeContext
from penstock.core.metrics import MetricGroup
from penstock.core.program.job import ChainedOperator, JobPlan, RuntimeSettings, Vertex
from penstock.core.state.keyed import (
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
from penstock.core.time.clock import Clock
from penstock.runtime.chunk import BatchInfo, ChunkRow
from penstock.runtime.metrics import OperatorMetrics
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.registry import STATE_KINDS
from penstock.runtime.state.space import StateSpace
from penstock.runtime.state.sweep import Lifetime, stamped, unstamped
from penstock.runtime.state.tables import plain_table, timed_table
from penstock.runtime.state.ttl import lifetime

__all__ = ["LiveRuntimeContext", "TaskContext", "WatermarkChannel", "split_context"]

WatermarkChannel = tuple[int, int] | None
"""The part of a subtask's input that has a watermark generator of its own: a source split, as (number of the input
edge, split), or None for everything else."""


@dataclass(slots=True)
class TaskContext:
    """Shared by the operators of one subtask of one vertex.

    `watermark_channels` are those of the head of the chain; `watermark_channel` is that of the chunk being processed.
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
    watermark_channels: tuple[WatermarkChannel, ...] = (None,)
    watermark_channel: WatermarkChannel = None
    timeless: frozenset[str] = frozenset()
    metrics: dict[str, OperatorMetrics] = field(default_factory=dict)

    def metrics_of(self, operator: ChainedOperator) -> OperatorMetrics:
        """The metrics of an operator of this subtask; they go to the driver at the end of every batch."""
        if operator.uid not in self.metrics:
            self.metrics[operator.uid] = OperatorMetrics(operator, self.task_name, self.subtask)
        return self.metrics[operator.uid]


def split_context(
    plan: JobPlan, vertex: Vertex, split: int, clock: Clock, send: Callable[[ChunkRow], None]
) -> TaskContext:
    """The context of operators beside a source: a split takes the place of a subtask, and there is no state."""
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
        """The name of the vertex: the names of its operators."""
        return self._task.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        """The parallelism of the vertex."""
        return self._task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """The number of key groups."""
        return self._task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """Which subtask this is, from 0."""
        return self._task.subtask

    def get_attempt_number(self) -> int:
        """How often the job has been restarted."""
        return self._task.attempt_number

    def get_task_name_with_subtasks(self) -> str:
        """The name of the vertex with subtask, parallelism and attempt, as Flink writes it."""
        place = f"{self._task.subtask + 1}/{self._task.parallelism}"
        return f"{self._task.task_name} ({place})#{self.get_attempt_number()}"

    def in_batch_mode(self) -> bool:
        """Whether the job runs in BATCH mode."""
        return self._task.settings.batch_mode

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A job parameter, or a default."""
        return self._task.settings.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        """The metrics of this operator in this subtask."""
        return self._task.metrics_of(self._operator).group

    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator; the driver merges those of the same name."""
        self._task.metrics_of(self._operator).add_accumulator(name, accumulator)

    def get_accumulator(self, name: str) -> Any:
        """An accumulator that this operator has added."""
        return self._task.metrics_of(self._operator).accumulator(name)

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """A handle of a value state."""
        return cast("ValueState[Any]", self._handle(state_descriptor, ValueStateDescriptor))

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A handle of a list state."""
        return cast("ListState[Any]", self._handle(state_descriptor, ListStateDescriptor))

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """A handle of a map state."""
        return cast("MapState[Any, Any]", self._handle(state_descriptor, MapStateDescriptor))

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """A handle of a reducing state."""
        return cast("ReducingState[Any]", self._handle(state_descriptor, ReducingStateDescriptor))

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        """A handle of an aggregating state."""
        return cast("AggregatingState[Any, Any]", self._handle(state_descriptor, AggregatingStateDescriptor))

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
        """The state that a descriptor of any kind names."""
        return self._handle(state_descriptor, STATE_KINDS[state_descriptor.kind].descriptor)

    def _handle(self, descriptor: StateDescriptor, expected: type[StateDescriptor]) -> State:
        """A live handle of the state that a descriptor names, if the operator may have such a state."""
        space = self._space_for(descriptor, expected)
        kind = STATE_KINDS[expected.kind]
        if not isinstance(space, KeyedBackend):
            return kind.plain(space, plain_table(descriptor.kind, descriptor.name), descriptor)
        table, life = self._table(space, descriptor)
        if life is None:
            return kind.plain(space, table, descriptor)
        assert kind.timed is not None
        return kind.timed(space, table, life, descriptor)

    @property
    def _where(self) -> str:
        return f"Operator '{self._operator.name}' (uid {self._operator.uid})"

    def _space_for(self, descriptor: StateDescriptor, expected: type[StateDescriptor]) -> StateSpace:
        """The space that keeps the state; refuses states that a program must not ask for."""
        where, space = self._where, self.space
        if not self._keyed or space is None:
            raise ProgramError(
                f"{where} asks for keyed state {descriptor.name!r} but its input is not keyed: call key_by first"
            )
        if not isinstance(descriptor, expected):
            raise ProgramError(f"{where}: {type(descriptor).__name__} given where a {expected.__name__} is needed")
        known = self._kinds.setdefault(descriptor.name, descriptor.kind)
        if known != descriptor.kind:
            raise ProgramError(
                f"{where} uses the state name {descriptor.name!r} for a {known} and for a {descriptor.kind} state: "
                "give each descriptor a name of its own"
            )
        if descriptor.ttl_config is not None:
            self._check_timed(descriptor, space)
        return space

    def _check_timed(self, descriptor: StateDescriptor, space: StateSpace) -> None:
        if not isinstance(space, KeyedBackend):
            raise ProgramError(
                f"{self._where}: state {descriptor.name!r} of a window cannot have a time to live: it goes with it"
            )
        if STATE_KINDS[descriptor.kind].timed is None:
            raise ProgramError(
                f"{self._where}: the {descriptor.kind} state {descriptor.name!r} cannot have a time to live: "
                "keep a value state beside it"
            )

    def _table(self, backend: KeyedBackend, descriptor: StateDescriptor) -> tuple[str, Lifetime | None]:
        """The table of a state. A state that gained or lost its time to live since the last run takes over its old
        entries."""
        plain, timed = plain_table(descriptor.kind, descriptor.name), timed_table(descriptor.kind, descriptor.name)
        config = descriptor.ttl_config
        if self._timed.setdefault(descriptor.name, config is not None) != (config is not None):
            raise ProgramError(
                f"{self._where} uses the state {descriptor.name!r} with and without a time to live: "
                "use one descriptor for both"
            )
        if config is None:
            backend.adopt(timed, plain, partial(unstamped, backend))
            return plain, None
        life = lifetime(backend, timed, config, self._task.clock)
        backend.adopt(plain, timed, lambda stored: stamped(backend, stored, life))
        return timed, life
