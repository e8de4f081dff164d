"""Operator state: state of a subtask, not of a key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any

from penstock.core.functions.base import KeyedStateStore
from penstock.core.state.keyed import ListState, ListStateDescriptor

__all__ = [
    "CheckpointListener",
    "CheckpointedFunction",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "OperatorStateStore",
    "checkpoint_listener",
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
    def get_operator_state_store(self) -> OperatorStateStore:
        """Where the function gets the state of this subtask."""

    @abstractmethod
    def get_keyed_state_store(self) -> KeyedStateStore:
        """Where the function gets state of the current key, on a keyed stream."""


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


class CheckpointListener(ABC):
    """Mix this into a function that wants to know when a checkpoint is durable.

    A worker learns it at the start of the next batch: then the batch before is durable. So the last batch of a job is
    not heard of; and a batch that is tried again tells it again, perhaps to another instance.

    >>> class Listening(CheckpointListener):
    ...     def notify_checkpoint_complete(self, checkpoint_id):
    ...         print("durable:", checkpoint_id)
    >>> Listening().notify_checkpoint_complete(7)
    durable: 7
    """

    @abstractmethod
    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is durable; numbers are those of `FunctionSnapshotContext.get_checkpoint_id`."""


def checkpointed_function(spec: object) -> CheckpointedFunction | None:
    """The function with operator state in a spec, also inside functions of ours that wrap it."""
    function: CheckpointedFunction | None = _function_in(spec, CheckpointedFunction)
    return function


def checkpoint_listener(spec: object) -> CheckpointListener | None:
    """The function in a spec that listens for checkpoints, also inside functions of ours that wrap it."""
    function: CheckpointListener | None = _function_in(spec, CheckpointListener)
    return function


def _function_in(spec: object, kind: type) -> Any:
    if not is_dataclass(spec):
        return None
    found = (_inside(getattr(spec, field.name), kind, 4) for field in fields(spec))
    return next((function for function in found if function is not None), None)


def _inside(value: object, kind: type, depth: int) -> object:
    if isinstance(value, kind):
        return value
    held = getattr(value, "__dict__", {}) if depth else {}
    inner = held.get("_function", held.get("function"))
    return None if inner is None else _inside(inner, kind, depth - 1)
