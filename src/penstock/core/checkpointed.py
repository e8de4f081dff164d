"""Operator state: state of a subtask, not of a key (S3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any

from penstock.core.functions import KeyedStateStore
from penstock.core.state import ListState, ListStateDescriptor

__all__ = [
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "OperatorStateStore",
    "checkpointed_function",
]


class OperatorStateStore(ABC):
    """Lists that belong to a subtask. Their items are what is redistributed when the parallelism changes."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list whose items go back to who wrote them, or are dealt out in turn at another parallelism."""

    @abstractmethod
    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A list of which every subtask gets all items of all subtasks when the job is restored."""

    @abstractmethod
    def get_registered_state_names(self) -> set[str]:
        """Names asked for so far."""


class FunctionInitializationContext(ABC):
    """Given to `initialize_state`."""

    @abstractmethod
    def is_restored(self) -> bool:
        """Whether the subtask goes on from a checkpoint, rather than starting anew."""

    @abstractmethod
    def get_operator_state_store(self) -> OperatorStateStore: ...
    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore: ...


class FunctionSnapshotContext(ABC):
    """Given to `snapshot_state`."""

    @abstractmethod
    def get_checkpoint_id(self) -> int:
        """Numbers the checkpoints of a job, from 1."""

    @abstractmethod
    def get_checkpoint_timestamp(self) -> int:
        """Processing time at which the checkpoint's batch began."""


class CheckpointedFunction(ABC):
    """Mix this into a function that keeps operator state.

    `initialize_state` is called before `open`, also when a subtask is built again in another worker;
    `snapshot_state` at the end of every batch, since every batch is a checkpoint. State is written only
    where it changed.

    >>> class Counting(CheckpointedFunction):
    ...     def initialize_state(self, context):
    ...         self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("seen"))
    ...         self.seen = sum(self.state.get())
    ...     def snapshot_state(self, context):
    ...         self.state.update([self.seen])
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get state and take over what it holds."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Put into state what must survive."""


def checkpointed_function(spec: Any) -> CheckpointedFunction | None:
    """The function with operator state in a spec, also inside functions of ours that wrap it."""
    if not is_dataclass(spec):
        return None
    found = (_inside(getattr(spec, field.name), 4) for field in fields(spec))
    return next((function for function in found if function is not None), None)


def _inside(value: Any, depth: int) -> CheckpointedFunction | None:
    if isinstance(value, CheckpointedFunction):
        return value
    held = getattr(value, "__dict__", {}) if depth else {}
    inner = held.get("_function", held.get("function"))
    return None if inner is None else _inside(inner, depth - 1)
