"""Sink operators: the worker's side of the two-phase commit, and records collected for the driver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.core.contracts.sink import SinkWriter, WriterInitContext
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import CollectSpec, SinkSpec
from penstock.runtime.chunk import COLLECTED, COMMITTABLES, DRIVER, PENDING, ChunkRow, Collected, encode_collected
from penstock.runtime.codec import dumps
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import NO_RECORD, last_taken, user_failure
from penstock.runtime.operators.base import Operator
from penstock.runtime.values import Keys, Records, Timestamps

__all__ = ["CollectOperator", "SinkOperator", "committables"]


class SinkOperator(Operator):
    """Writes between checkpoints and keeps the batch's committables in state.

    The winning state names the winning transactions: after a restart the first batch sends the committables of the last
    durable one back to the driver, which commits them again, idempotently. If the number of a batch is not higher than
    that of the last prepared one, batches are counted from the start again, and a new generation begins.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        # not checkpointed
        self._writer: SinkWriter | None = None
        # checkpointed
        self._committables: Records = []
        self._generation = ""
        self._last_batch = -1

    def restore(self, state: Any) -> None:
        """Take over the committables of the last durable batch, with their generation."""
        if isinstance(state, list):  # from a savepoint, or from before there were generations
            state = (state, "", -1)
        self._committables, self._generation, self._last_batch = state

    def snapshot(self) -> object:
        """The committables of this batch; None until the sink has prepared anything."""
        return (self._committables, self._generation, self._last_batch) if self._generation else None

    def begin(self) -> None:
        """In the first batch of a run, send what the last durable batch had prepared to the driver again."""
        if self.task.new_run and self._committables:
            self._send(PENDING)
        self._committables = []
        if self._generation and self.task.batch.batch_id <= self._last_batch:
            self._generation, self._last_batch = self.task.batch.run_id, -1

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Write records; a guarded sink is given them one by one."""
        if self.poison is not None:
            # a writer that raises on many records does not say which of them it has taken
            self.poison.one_by_one(values, timestamps, partial(_write_one, self._open_writer()))
            return
        try:
            self._open_writer().write_all(values, timestamps)
        except Exception as error:
            raise user_failure(
                self.desc.name,
                self.desc.uid,
                "The sink writer",
                values[0] if len(values) == 1 else values,
                error,
            ) from error

    def _open_writer(self) -> SinkWriter:
        if self._writer is None:
            task = self.task
            context = WriterInitContext(
                task.subtask,
                task.parallelism,
                task.batch.batch_id,
                task.attempt_id,
                task.batch.processing_time_ms,
                self.desc.uid,
                self._generation or task.batch.run_id,
            )
            self._writer = self.create_writer(context)
        return self._writer

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        """A writer for this batch."""
        assert isinstance(self.desc.spec, SinkSpec)
        return self.desc.spec.sink.create_writer(context)

    def end(self) -> None:
        """Prepare the commit, and send the committables to the driver."""
        if self._writer is not None:
            try:
                self._committables = self._prepare(self._writer)
            except Exception as error:
                raise user_failure(self.desc.name, self.desc.uid, "Preparing a commit", NO_RECORD, error) from error
            self._writer = None
        if self._committables:
            self._generation = self._generation or self.task.batch.run_id
            self._last_batch = self.task.batch.batch_id
            self._send(COMMITTABLES)

    @staticmethod
    def _prepare(writer: SinkWriter) -> Records:
        writer.flush()
        prepared = list(writer.prepare_commit())
        writer.close()
        return prepared

    def close(self) -> None:
        """Close a writer that a failed batch left open."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _send(self, kind: int) -> None:
        payload = dumps((self.desc.uid, self.task.subtask, self._committables))
        self.task.send(ChunkRow(self.task.partition, DRIVER, self.task.vertex_id, 0, kind, payload))


def _write_one(writer: SinkWriter, value: object, stamp: int | None) -> None:
    writer.write_all([value], None if stamp is None else [stamp])


def committables(state: Any) -> Records:
    """The committables in a sink's state."""
    found: Records = state if isinstance(state, list) else state[0]
    return found


class CollectOperator(Operator):
    """Sends records to the driver, where they are printed or iterated over."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, CollectSpec)
        self._name, self._shape = desc.spec.name, desc.spec.shape
        self._sent = 0

    def begin(self) -> None:
        """Number the rows of a batch from 0."""
        self._sent = 0

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        """Send records to the driver in one row."""
        if self._shape is not None:
            values = self._shaped(self._shape, values)
        collected = Collected(self._name, self.task.subtask, self.task.parallelism, values)
        payload = encode_collected(collected, self.desc.name, self.desc.uid)
        self.task.send(ChunkRow(self.task.partition, DRIVER, self.task.vertex_id, self._sent, COLLECTED, payload))
        self._sent += 1

    def _shaped(self, shape: Callable[[Any], object], values: Records) -> Records:
        rest = iter(values)
        try:
            return list(map(shape, rest))
        except Exception as error:
            record = last_taken(values, rest)
            raise user_failure(self.desc.name, self.desc.uid, "The key selector", record, error) from error
