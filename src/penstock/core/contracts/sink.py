"""Sinks that users implement: the two-phase protocol.

A writer runs in a subtask. At every checkpoint it *prepares*: whatever it has taken so far becomes
committables, kept in the job's state. Once the checkpoint is durable the committer *commits* them,
on the driver; after a failure the same committables may be committed again, so committing is idempotent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic

from penstock.core.contracts.guarantees import Guarantee
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_variables import IN, T, T_co

__all__ = [
    "CommitRequest",
    "Committer",
    "DeliveryGuarantee",
    "Sink",
    "SinkWriter",
    "SupportsCommitter",
    "WriterInitContext",
    "asked_guarantee",
]


@dataclass(frozen=True, slots=True)
class WriterInitContext:
    """Where a writer runs. `attempt_id` is unlike that of every other attempt, so names made of it never clash.

    `processing_time_ms` is the time of the batch: the same for all its records, and when the batch's task is repeated.
    `generation` is the same for as long as batches are numbered on; a job that starts from a savepoint counts anew, in
    a new one. So batches are told apart by (uid, generation, batch, subtask), also by who sees several jobs' batches.
    """

    subtask_index: int
    parallelism: int
    batch_id: int
    attempt_id: str
    processing_time_ms: int = 0
    uid: str = ""
    generation: str = ""


class SinkWriter(Subscriptable, ABC, Generic[IN]):
    """Takes records of one subtask, between two checkpoints."""

    @abstractmethod
    def write(self, value: IN, timestamp: int | None) -> None:
        """Take one record."""

    def write_all(self, values: Sequence[IN], timestamps: Sequence[int | None] | None) -> None:
        """Take many; override where a batch is cheaper."""
        for i, value in enumerate(values):
            self.write(value, timestamps[i] if timestamps is not None else None)

    def flush(self) -> None:
        """Make sure everything taken is out of memory; called before `prepare_commit`."""

    def prepare_commit(self) -> list[Any]:
        """Committables (picklable) for what was taken since the last call. Nothing may be visible yet."""
        return []

    def close(self) -> None:
        """Release resources; also called when the attempt is given up."""


class CommitRequest(Subscriptable, Generic[T_co]):
    """One committable on its way to be committed."""

    def __init__(self, committable: T_co) -> None:
        self._committable = committable

    def get_committable(self) -> T_co:
        """What the writer prepared."""
        return self._committable


class Committer(Subscriptable, ABC, Generic[T]):
    """Makes prepared work visible. `commit` is idempotent: after a failure it is asked again."""

    @abstractmethod
    def commit(self, requests: Sequence[CommitRequest[T]]) -> None:
        """Called with all that one batch has prepared for the sink, once the batch is durable."""

    def recover(self, requests: Sequence[CommitRequest[T]]) -> None:
        """After a restart, with what the last durable batch had prepared: it may have been committed before."""
        self.commit(requests)

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """Clean up what attempts that lost have left behind, if it is older than `age_ms`."""

    def close(self) -> None:
        """Release resources."""


class Sink(Subscriptable, ABC, Generic[IN]):
    """Describes a sink; picklable.

    >>> class Shout(Sink):
    ...     idempotent = True  # an upsert, say: being given a record twice does no harm
    ...     def create_writer(self, context):
    ...         raise NotImplementedError
    >>> Shout().delivery_guarantee is None
    True
    """

    idempotent: bool = False
    """Whether being given a record again, after a failure, changes nothing: then the path is exactly-once."""
    write_ahead: bool = False
    """Whether its committer may make the same work visible twice after a failure: then it is at-least-once."""
    delivery_guarantee: DeliveryGuarantee | None = None
    """What the user asks of the path to this sink; more than it can give is refused when the job is planned."""

    @abstractmethod
    def create_writer(self, context: WriterInitContext) -> SinkWriter[IN]:
        """Called once in each subtask before the first record."""


class SupportsCommitter(ABC):
    """A sink whose writers prepare committables."""

    @abstractmethod
    def create_committer(self) -> Committer:
        """Called on the driver when the job starts; the committer commits what all subtasks prepared."""


class DeliveryGuarantee(Enum):
    """The guarantee that a program asks of a sink, under PyFlink's names and values.

    >>> DeliveryGuarantee.EXACTLY_ONCE.name
    'EXACTLY_ONCE'
    """

    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


def asked_guarantee(sink: object) -> Guarantee | None:
    """The guarantee that a sink's `delivery_guarantee` asks for; None if it asks for nothing.

    >>> class Careful:
    ...     delivery_guarantee = DeliveryGuarantee.AT_LEAST_ONCE
    >>> asked_guarantee(Careful())
    <Guarantee.AT_LEAST_ONCE: 1>
    """
    asked = getattr(sink, "delivery_guarantee", None)
    return Guarantee[asked.name] if asked not in (None, DeliveryGuarantee.NONE) else None
