"""Sinks: the two-phase protocol's worker side, and what goes back to the driver."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from penstock.core.job import ChainedOperator
from penstock.core.sink import SinkWriter, WriterInitContext
from penstock.core.specs import CollectSpec, SinkSpec
from penstock.runtime.chunk import COLLECTED, COMMITTABLES, DRIVER, PENDING, ChunkRow, Payload, encode_payload
from penstock.runtime.codec import dumps
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import user_failure
from penstock.runtime.operators.base import Operator, Poison, Timestamps

__all__ = ["CollectOperator", "SinkOperator"]


class SinkOperator(Operator):
    """Writes between checkpoints and keeps the batch's committables in state.

    The winning state names the winning transactions: after a restart the first batch sends the
    committables of the last durable one back to the driver, which commits them again, idempotently.
    """

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, SinkSpec)
        # configuration
        self._sink = desc.spec.sink
        # not checkpointed
        self._writer: SinkWriter | None = None
        # checkpointed
        self._committables: list[Any] = []

    def restore(self, state: Any) -> None:
        self._committables = state

    def snapshot(self) -> Any:
        return self._committables or None

    def begin(self) -> None:
        if self.task.new_run and self._committables:
            self._send(PENDING)
        self._committables = []

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        if self.poison is not None:
            self._write_guarded(self.poison, values, timestamps)
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

    def _write_guarded(self, poison: Poison, values: list[Any], timestamps: Timestamps) -> None:
        """One by one: who knows what a writer has taken of many when it raises (F9)."""
        writer = self._open_writer()
        for value, stamp in zip(values, timestamps or repeat(None), strict=False):
            try:
                writer.write_all([value], None if stamp is None else [stamp])
            except Exception as error:
                poison.take(value, stamp, error)

    def _open_writer(self) -> SinkWriter:
        if self._writer is None:
            task = self.task
            self._writer = self._sink.create_writer(
                WriterInitContext(
                    task.subtask,
                    task.parallelism,
                    task.batch.batch_id,
                    task.attempt_id,
                    task.batch.processing_time_ms,
                )
            )
        return self._writer

    def end(self) -> None:
        if self._writer is not None:
            self._writer.flush()
            self._committables = list(self._writer.prepare_commit())
            self._writer.close()
            self._writer = None
        if self._committables:
            self._send(COMMITTABLES)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _send(self, kind: int) -> None:
        payload = dumps((self.desc.uid, self.task.subtask, self._committables))
        self.task.send(ChunkRow(self.task.partition, DRIVER, self.task.vertex_id, 0, kind, payload))


class CollectOperator(Operator):
    """Sends records to the driver, where they are printed or iterated over."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        assert isinstance(desc.spec, CollectSpec)
        self._name = desc.spec.name
        self._sent = 0

    def begin(self) -> None:
        self._sent = 0

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        payload = encode_payload(
            Payload(values, None, [self._name, self.task.subtask, self.task.parallelism], []),
            self.desc.name,
            self.desc.uid,
        )
        self.task.send(ChunkRow(self.task.partition, DRIVER, self.task.vertex_id, self._sent, COLLECTED, payload))
        self._sent += 1
