"""The stage task: runs all vertices of one level in one partition."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from penstock.core.program.job import JobPlan
from penstock.core.time.clock import Clock
from penstock.runtime.chunk import CONTROL, CONTROL_SEQ, DRIVER, METRICS, RESTORE, BatchInfo, ChunkRow, sort_key
from penstock.runtime.codec import dumps, loads
from penstock.runtime.local_classes import enter_job
from penstock.runtime.metrics import Report
from penstock.runtime.operator_state import RunStart
from penstock.runtime.savepoint_restorer import SavepointRestorer
from penstock.runtime.state.store import StateStore
from penstock.runtime.task import VertexTask
from penstock.runtime.task_root import TaskRoot, root_key

__all__ = ["StageTask", "control_row", "control_rows", "sorted_rows"]


class StageTask:
    """Runs the rows meant for its level and passes rows for later levels on, undecoded.

    A host may keep it between batches; its live tasks are used again only if the store names the attempt that made
    them. `start` is None where the host cannot read union lists.
    """

    def __init__(self, plan: JobPlan, level: int, partition: int, clock: Clock, start: RunStart | None = None) -> None:
        self._start = start
        self._plan, self._level, self._partition, self._clock = plan, level, partition, clock
        self._hosted = [(v, s) for v in plan.at_level(level) if (s := plan.subtask_at(v, partition)) is not None]
        self._tasks: dict[int, VertexTask] = {}
        self._out: list[ChunkRow] = []
        self._info: BatchInfo | None = None

    def run(self, rows: Iterable[ChunkRow], store: StateStore) -> Iterator[ChunkRow]:
        """Run one batch of rows, given in order; at its end everything is written to the store."""
        enter_job(self._plan)
        try:
            self._info = None
            restorer = SavepointRestorer()
            for row in rows:
                if row.target == DRIVER or (row.kind != CONTROL and self._plan.vertex(row.target).level > self._level):
                    yield row
                    continue
                if row.kind == RESTORE:
                    restorer.take(row, store)
                    continue
                if row.kind == CONTROL:
                    yield from self._control(row, restorer, store)
                else:
                    task = self._tasks[row.target]
                    with task.busy:
                        task.process(row)
                yield from self._drain()
            yield from self._finish()
        except BaseException:
            self.close()
            raise

    def _attach(self, store: StateStore) -> None:
        roots = store.get_many([root_key(v, s) for v, s in self._hosted])
        for (vertex, subtask), root in zip(self._hosted, roots, strict=True):
            kept = self._tasks.get(vertex.vertex_id)
            if kept is not None and root is not None and TaskRoot.decode(root).nonce == kept.nonce:
                kept.attach(store)
                continue
            if kept is not None:
                kept.close()
            self._tasks[vertex.vertex_id] = VertexTask(
                self._plan, vertex, subtask, store, self._clock, self._out.append, root, self._start
            )

    def _control(self, row: ChunkRow, restorer: SavepointRestorer, store: StateStore) -> Iterator[ChunkRow]:
        level, info = loads(row.payload)
        if level != self._level:
            yield row
            return
        if self._info is not None:
            return  # every source sends control rows: only the first one starts the batch
        self._info = info
        restorer.finish(store)
        self._attach(store)
        for task in self._tasks.values():
            with task.busy:
                task.begin(info)

    def _finish(self) -> Iterator[ChunkRow]:
        assert self._info is not None, "a stage got no control row"
        for task in self._tasks.values():
            with task.busy:
                task.end()
            yield from self._drain()
        yield ChunkRow(self._partition, DRIVER, 0, 0, METRICS, dumps(self._metrics()))

    def _metrics(self) -> list[Report]:
        return [task.report() for task in self._tasks.values()]

    def _drain(self) -> Iterator[ChunkRow]:
        if self._out:
            yield from self._out
            self._out.clear()

    def close(self) -> None:
        """Close and forget the live tasks."""
        for task in self._tasks.values():
            task.close()
        self._tasks.clear()
        self._out.clear()

    @property
    def tasks(self) -> dict[int, VertexTask]:
        """The live tasks by vertex; for tests."""
        return self._tasks


def control_row(partition: int, level: int, info: BatchInfo) -> ChunkRow:
    """The row that starts a batch for one partition of one level."""
    return ChunkRow(partition, 0, 0, CONTROL_SEQ, CONTROL, dumps((level, info)))


def control_rows(plan: JobPlan, info: BatchInfo) -> Iterator[ChunkRow]:
    """The rows that start a batch everywhere."""
    for level in range(1, plan.stage_count + 1):
        for partition in range(plan.partitions):
            yield control_row(partition, level, info)


def sorted_rows(rows: Iterable[ChunkRow], budget_bytes: int) -> Iterator[ChunkRow]:
    """Sort rows into the order in which they are run. Payloads beyond the memory budget wait in a temporary file."""
    held: list[tuple[ChunkRow, int]] = []
    size, spill = 0, None
    for row in rows:
        size += len(row.payload)
        if size > budget_bytes and spill is None:
            spill = tempfile.TemporaryFile()  # noqa: SIM115 - closed once all rows are out
        held.append(_place(row, spill))
    held.sort(key=lambda pair: sort_key(pair[0]))
    for row, length in held:
        yield row if length < 0 else _fetch(row, length, spill)
    if spill is not None:
        spill.close()


def _place(row: ChunkRow, spill: Any) -> tuple[ChunkRow, int]:
    if spill is None:
        return row, -1
    offset = spill.seek(0, os.SEEK_END)
    spill.write(row.payload)
    return row._replace(payload=offset.to_bytes(8, "big")), len(row.payload)


def _fetch(row: ChunkRow, length: int, spill: BinaryIO | None) -> ChunkRow:
    assert spill is not None
    spill.seek(int.from_bytes(row.payload, "big"))
    return row._replace(payload=spill.read(length))
