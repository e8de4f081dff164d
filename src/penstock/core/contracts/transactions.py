"""The older ways to write an exactly-once or write-ahead sink, on the protocol of `core/contracts/sink.py`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic

from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.errors import SinkError
from penstock.core.functions.sink import RichSinkFunction, SinkFunction
from penstock.core.types.type_variables import IN, T

__all__ = ["CheckpointCommitter", "GenericWriteAheadSink", "TransactionCommitter", "TwoPhaseCommitSinkFunction"]


class TwoPhaseCommitSinkFunction(RichSinkFunction[IN], Generic[IN, T]):
    """A sink function whose records go into transactions, one for each subtask and batch that brings records.

    In a worker: `begin_transaction`, `invoke` for every record, `pre_commit` at the end of the batch. The transaction
    (a picklable handle) is kept in the job's state. Once the batch is durable `commit` is called on the driver, where
    `open` is not; after a restart `recover_and_commit`, perhaps for the second time: committing is idempotent.
    `abort` is called in a worker whose batch failed before `pre_commit`. What a batch had prepared that failed later is
    known to nobody: let such transactions time out in the target, or remove them in `abandon_older_than`.

    >>> from penstock.testing import local_job
    >>> from penstock.datastream import StreamExecutionEnvironment
    >>> class Printing(TwoPhaseCommitSinkFunction):
    ...     def begin_transaction(self):
    ...         return []
    ...     def invoke(self, transaction, value, context):
    ...         transaction.append(value)
    ...     def pre_commit(self, transaction):
    ...         transaction.append("end")
    ...     def commit(self, transaction):
    ...         print(transaction)
    >>> env = StreamExecutionEnvironment()
    >>> _ = env.from_collection(["a", "b"]).add_sink(Printing())
    >>> local_job(env).run()
    ['a', 'b', 'end']
    """

    @abstractmethod
    def begin_transaction(self) -> T:
        """Start a transaction; whatever names it must be picklable."""

    @abstractmethod
    def invoke(self, transaction: T, value: IN, context: SinkFunction.Context) -> None:  # type: ignore[override]
        """Called for every record: write it within the transaction."""

    @abstractmethod
    def pre_commit(self, transaction: T) -> None:
        """No record will follow: make sure that the transaction can be committed whatever happens, but do not yet."""

    @abstractmethod
    def commit(self, transaction: T) -> None:
        """On the driver, once the batch is durable. An error restarts the job, which commits again."""

    def recover_and_commit(self, transaction: T) -> None:
        """On the driver, after a restart: the transaction may have been committed before."""
        self.commit(transaction)

    def abort(self, transaction: T) -> None:
        """In a worker: the batch failed before `pre_commit`."""

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        """On the driver, when the job ends: remove prepared transactions that will never be committed."""


class TransactionCommitter(Committer):
    """Commits the transactions of a `TwoPhaseCommitSinkFunction`, on the driver."""

    def __init__(self, function: TwoPhaseCommitSinkFunction) -> None:
        self._function = function

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            self._function.commit(request.get_committable())

    def recover(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            self._function.recover_and_commit(request.get_committable())

    def abandon_older_than(self, age_ms: int, now_ms: int) -> None:
        self._function.abandon_older_than(age_ms, now_ms)


# -- write-ahead ---------------------------------------------------------------------------------------


class CheckpointCommitter(ABC):
    """Remembers, in the target or beside it, which checkpoints a write-ahead sink has sent.

    All on the driver. `set_job_id` and `set_operator_id` come first, then `create_resource` and `open`. Numbers of
    checkpoints grow within a job id; a job that starts from a savepoint has a new one.
    """

    job_id: str = ""
    operator_id: str = ""

    def set_job_id(self, job_id: str) -> None:
        """Under which name to remember."""
        self.job_id = job_id

    def set_operator_id(self, operator_id: str) -> None:
        """The sink's uid."""
        self.operator_id = operator_id

    def create_resource(self) -> None:
        """Create what checkpoints are remembered in, unless it is there already."""

    def open(self) -> None:
        """Get ready."""

    def close(self) -> None:
        """Release resources."""

    @abstractmethod
    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        """Remember that everything of this checkpoint has been sent."""

    @abstractmethod
    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        """Whether it has been."""


@dataclass(frozen=True, slots=True)
class _Logged:
    """The committable: the records of one subtask and batch."""

    generation: str
    uid: str
    subtask: int
    checkpoint_id: int
    timestamp: int
    values: list[object]


class GenericWriteAheadSink(Sink[IN], SupportsCommitter):
    """Records wait in the job's state until their batch is durable, and are then sent, on the driver.

    At-least-once: who dies between `send_values` and the committer's note sends the batch again; nothing is sent
    that could still be rolled back.

    >>> class Remember(CheckpointCommitter):
    ...     done = set()
    ...     def commit_checkpoint(self, subtask_idx, checkpoint_id):
    ...         self.done.add((self.job_id, subtask_idx, checkpoint_id))
    ...     def is_checkpoint_committed(self, subtask_idx, checkpoint_id):
    ...         return (self.job_id, subtask_idx, checkpoint_id) in self.done
    >>> class Printing(GenericWriteAheadSink):
    ...     def send_values(self, values, checkpoint_id, timestamp):
    ...         print(checkpoint_id, list(values))
    ...         return True
    >>> from penstock.testing import local_job
    >>> from penstock.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment()
    >>> _ = env.from_collection(["a", "b", "c"]).sink_to(Printing(Remember()))
    >>> local_job(env).run([2])
    1 ['a', 'b']
    2 ['c']
    """

    write_ahead = True

    def __init__(self, committer: CheckpointCommitter) -> None:
        self.checkpoint_committer = committer

    @abstractmethod
    def send_values(self, values: Iterable[IN], checkpoint_id: int, timestamp: int) -> bool:
        """Send records to the target; `timestamp` is their batch's processing time.

        False, or an error, restarts the job, which sends them again.
        """

    def create_writer(self, context: WriterInitContext) -> SinkWriter[IN]:
        return _LogWriter(context)

    def create_committer(self) -> Committer:
        return _LogCommitter(self)


class _LogWriter(SinkWriter[object]):
    def __init__(self, context: WriterInitContext) -> None:
        self._context = context
        self._values: list[object] = []

    def write(self, value: object, timestamp: int | None) -> None:
        self._values.append(value)

    def write_all(self, values: Sequence[object], timestamps: Sequence[int | None] | None) -> None:
        self._values.extend(values)

    def prepare_commit(self) -> list[_Logged]:
        at, values = self._context, self._values
        logged = _Logged(at.generation, at.uid, at.subtask_index, at.batch_id + 1, at.processing_time_ms, values)
        return [logged] if values else []


class _LogCommitter(Committer):
    """Sends what is not sent yet. There is a checkpoint committer for each generation, so for each job id."""

    def __init__(self, sink: GenericWriteAheadSink[Any]) -> None:
        self._sink = sink
        self._open: dict[str, CheckpointCommitter] = {}

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            self._send(request.get_committable())

    def _send(self, logged: _Logged) -> None:
        committer = self._committer(logged)
        if committer.is_checkpoint_committed(logged.subtask, logged.checkpoint_id):
            return
        if not self._sink.send_values(logged.values, logged.checkpoint_id, logged.timestamp):
            raise SinkError(
                f"{type(self._sink).__name__} (uid {logged.uid}) could not send the {len(logged.values)} record(s) of "
                f"checkpoint {logged.checkpoint_id}: send_values returned False. They are sent again after a restart"
            )
        committer.commit_checkpoint(logged.subtask, logged.checkpoint_id)

    def _committer(self, logged: _Logged) -> CheckpointCommitter:
        if logged.generation not in self._open:
            committer = deepcopy(self._sink.checkpoint_committer)
            committer.set_job_id(logged.generation)
            committer.set_operator_id(logged.uid)
            committer.create_resource()
            committer.open()
            self._open[logged.generation] = committer
        return self._open[logged.generation]

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
