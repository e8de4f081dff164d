"""Level 0: reading a split of a source through the stateless chain beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.core.clock import Clock, Stopwatch
from penstock.core.job import ChainedOperator, JobPlan, Vertex
from penstock.core.source import IDLE, Lag, MarkedBatch, Position, ReadBatch
from penstock.core.source_function import FunctionSource
from penstock.core.specs import SourceSpec, TimestampsSpec
from penstock.core.time import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chunk import DRIVER, METRICS, NOTICE, BatchInfo, ChunkRow
from penstock.runtime.codec import dumps
from penstock.runtime.context import TaskContext, split_context
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.live import run_to_end
from penstock.runtime.operators.base import Operator, Timestamps
from penstock.runtime.operators.factory import build_operator
from penstock.runtime.operators.shaped import Shape, source_shape
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.task import wire_chain
from penstock.runtime.writer import EdgeWriter

__all__ = ["read_split"]


class _Head(Operator):
    """Stands for the source at the head of its chain: passes everything on."""

    def process(self, values: list[Any], timestamps: Timestamps, keys: Sequence[Any] | None) -> None:
        self.out.emit(values, timestamps)


def read_split(
    plan: JobPlan,
    vertex: Vertex,
    split: int,
    start: Position,
    end: Position | None,
    clock: Clock,
    info: BatchInfo,
    held: Iterable[ReadBatch] | None = None,
    lag: Lag | None = None,
) -> Iterator[ChunkRow]:
    """Rows made of the records between two positions; +∞ at the end if the split ends there (T4).

    A source vertex has one subtask for each split. `held`: the records, where the source cannot be asked for them.
    `lag`: what is left to read behind `end`, for the metrics.
    """
    rows: list[ChunkRow] = []
    operators, writers = _chain(plan, vertex, split, clock, info, rows.append)
    for op in operators:
        _open(op)
        op.begin()
    for writer in writers:
        writer.begin(info.batch_id)
    batches = iter(held) if held is not None else _batches(plan, vertex, split, start, end, clock)
    count, size, busy, shape = 0, 0, Stopwatch(), source_shape(vertex.operators[0])
    while (batch := _next(batches, vertex)) is not None:
        count += len(batch[0])
        with busy:
            _feed(operators[0], batch if shape is None else _shaped(shape, batch))
        size += sum(len(row.payload) for row in rows)
        yield from rows
        rows.clear()
    for op in operators:
        op.end()
    if end is None or (end.ended and not start.ended):
        operators[0].watermark(MAX_WATERMARK)
    for writer in writers:
        writer.flush()
    size += sum(len(row.payload) for row in rows)
    yield from rows
    yield from _notices(plan, vertex, split, end, operators[0].task)
    report = _report(vertex, split, info, operators[0].task, count, sum(w.records for w in writers), busy)
    report |= {"bytes": size, "lag_records": lag and lag.records, "lag_ms": lag and lag.ms}
    yield ChunkRow(split % plan.partitions, DRIVER, 0, 0, METRICS, dumps([report]))
    for op in operators:
        op.close()


def _notices(
    plan: JobPlan, vertex: Vertex, split: int, end: Position | None, context: TaskContext
) -> Iterator[ChunkRow]:
    """What the source noticed when it planned the batch: told when the batch is durable, and counted."""
    source = vertex.operators[0]
    for notice in vertex.source.notices(end) if end is not None else ():
        if notice.counted_as is not None:
            context.report(source).group.counter(notice.counted_as).inc()
        yield ChunkRow(split % plan.partitions, DRIVER, 0, 0, NOTICE, dumps((source.name, source.uid, notice.text)))


def _report(
    vertex: Vertex, split: int, info: BatchInfo, context: TaskContext, count: int, out: int, busy: Stopwatch
) -> dict[str, Any]:
    """What the batch did, for the driver (G6); a split has no clock and no state."""
    return {
        "vertex": vertex.vertex_id,
        "name": vertex.name,
        "subtask": split,
        "time_ms": info.processing_time_ms,
        "in": count,
        "out": out,
        "busy_ms": busy.take_ms(),
        "next_timer_ms": NO_TIMER,
        "operators": [metrics.drain() for metrics in context.reports.values()],
    }


def _batches(
    plan: JobPlan, vertex: Vertex, split: int, start: Position, end: Position | None, clock: Clock
) -> Iterator[ReadBatch]:
    if isinstance(vertex.source, FunctionSource):
        return run_to_end(plan, vertex, split, clock)
    return vertex.source.read(split, vertex.parallelism, start, end)


def _shaped(shape: Shape, batch: ReadBatch) -> ReadBatch:
    """The batch with its records in their declared form: timestamp assigners see them so."""
    values = shape(batch[0])
    return batch._replace(values=values) if isinstance(batch, MarkedBatch) else (values, batch[1])


def _feed(head: Operator, batch: ReadBatch) -> None:
    """Records, with the source's own watermarks exactly where they stand (T8)."""
    values, times = batch[0], batch[1]
    if not isinstance(batch, MarkedBatch):
        head.process(values, times, None)
        return
    position = 0
    for place, mark in [*batch.marks, (len(values), MIN_WATERMARK)]:
        if place > position:
            head.process(values[position:place], times[position:place] if times is not None else None, None)
            position = place
        if mark > MAX_WATERMARK:
            head.status(mark == IDLE)
        elif mark > head.current_watermark:
            head.watermark(mark)


def _chain(
    plan: JobPlan, vertex: Vertex, split: int, clock: Clock, info: BatchInfo, send: Callable[[ChunkRow], None]
) -> tuple[list[Operator], list[EdgeWriter]]:
    context = split_context(plan, vertex, split, clock, send)
    context.batch = info
    operators = [_head(vertex.operators[0], context)] + [build_operator(op, context) for op in vertex.operators[1:]]
    return operators, wire_chain(plan, vertex, split, context, operators)


def _head(desc: ChainedOperator, context: TaskContext) -> Operator:
    """Stands for the source: assigns timestamps and makes watermarks if it has a strategy, else passes records on."""
    spec = desc.spec
    assert isinstance(spec, SourceSpec)
    if spec.strategy is None:
        return _Head(desc, context)
    return build_operator(replace(desc, spec=TimestampsSpec(spec.strategy)), context)


def _open(op: Operator) -> None:
    try:
        op.open()
    except Exception as error:
        raise user_failure(op.desc.name, op.desc.uid, "open()", NO_RECORD, error) from error


def _next(batches: Iterator[ReadBatch], vertex: Vertex) -> ReadBatch | None:
    try:
        return next(batches, None)
    except Exception as error:
        op = vertex.operators[0]
        raise user_failure(op.name, op.uid, "Reading", NO_RECORD, error) from error
