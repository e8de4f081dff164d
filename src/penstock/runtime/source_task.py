"""The source task: reads one split of a source through the stateless chain beside it. This is level 0 of a job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from penstock.core.contracts.source import IDLE, Lag, MarkedBatch, Position, ReadBatch
from penstock.core.functions.source import FunctionSource
from penstock.core.program.job import ChainedOperator, JobPlan, Vertex
from penstock.core.program.specs import SourceSpec, TimestampsSpec
from penstock.core.time.clock import Clock
from penstock.core.time.spans import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain import OperatorChain
from penstock.runtime.chunk import DRIVER, METRICS, NOTICE, BatchInfo, ChunkRow
from penstock.runtime.codec import dumps
from penstock.runtime.context import TaskContext, split_context
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.coercion import source_coercion
from penstock.runtime.operators.factory import build_operator
from penstock.runtime.source_function_runner import run_to_end
from penstock.runtime.values import Keys, Records, Timestamps

__all__ = ["SourceTask", "read_split"]


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
    """The rows made of the records of a split between two positions.

    Hosts call it once for each split and batch. `end` is None where the split is read to its end. `held`: the records
    themselves, where the source cannot be asked for them. `lag`: how much is left to read behind `end`, for the
    metrics. A split that ends here ends with the watermark +∞.
    """
    batches = iter(held) if held is not None else _batches(plan, vertex, split, start, end, clock)
    task = SourceTask(plan, vertex, split, clock, info)
    yield from task.run(batches, ended=end is None or (end.ended and not start.ended))
    yield from task.finish(end, lag)


class SourceTask:
    """One split of a source in one batch: a source vertex has a subtask for each split, and no state.

    Order of calls: `run`, `finish`. A new task is built for every batch.
    """

    def __init__(self, plan: JobPlan, vertex: Vertex, split: int, clock: Clock, info: BatchInfo) -> None:
        self._vertex, self._info = vertex, info
        self._source = vertex.operators[0]
        self._partition = split % plan.partitions
        self._coercion = source_coercion(self._source)
        self._rows: list[ChunkRow] = []
        context = split_context(plan, vertex, split, clock, self._rows.append)
        context.batch = info
        operators = [_head(self._source, context), *(build_operator(op, context) for op in vertex.operators[1:])]
        self._chain = OperatorChain(plan, vertex, split, context, operators)
        self._records = self._bytes = 0

    def run(self, batches: Iterator[ReadBatch], ended: bool) -> Iterator[ChunkRow]:
        """Read all batches through the chain; with `ended`, the stream of this split ends behind them."""
        chain = self._chain
        chain.open()
        chain.begin(self._info)
        while (batch := self._next(batches)) is not None:
            self._records += len(batch[0])
            with chain.busy:
                _feed(chain.head, self._coerced(batch))
            yield from self._drain()
        chain.end()
        if ended:
            chain.head.watermark(MAX_WATERMARK)
        chain.flush()
        yield from self._drain()

    def finish(self, end: Position | None, lag: Lag | None) -> Iterator[ChunkRow]:
        """The rows for the driver: notices of the source and the report of the batch. Closes the operators."""
        yield from self._notices(end)
        report = self._chain.report(self._records)
        report |= {"bytes": self._bytes, "lag_records": lag and lag.records, "lag_ms": lag and lag.ms}
        yield self._to_driver(METRICS, [report])
        self._chain.close()

    def _notices(self, end: Position | None) -> Iterator[ChunkRow]:
        """Notices that the source made when it planned the batch: counted here, shown when the batch is durable."""
        source = self._source
        for notice in self._vertex.source.notices(end) if end is not None else ():
            if notice.counted_as is not None:
                self._chain.context.metrics_of(source).group.counter(notice.counted_as).inc()
            yield self._to_driver(NOTICE, (source.name, source.uid, notice.text))

    def _to_driver(self, kind: int, content: object) -> ChunkRow:
        return ChunkRow(self._partition, DRIVER, 0, 0, kind, dumps(content))

    def _drain(self) -> Iterator[ChunkRow]:
        self._bytes += sum(len(row.payload) for row in self._rows)
        yield from self._rows
        self._rows.clear()

    def _next(self, batches: Iterator[ReadBatch]) -> ReadBatch | None:
        try:
            return next(batches, None)
        except Exception as error:
            raise user_failure(self._source.name, self._source.uid, "Reading", NO_RECORD, error) from error

    def _coerced(self, batch: ReadBatch) -> ReadBatch:
        """The batch with its records in their declared form, since timestamp assigners must see them so."""
        if self._coercion is None:
            return batch
        values = self._coercion(batch[0])
        return batch._replace(values=values) if isinstance(batch, MarkedBatch) else (values, batch[1])


class _Head(Operator):
    """Takes the place of the source at the head of its chain: passes everything on."""

    def process(self, values: Records, timestamps: Timestamps, keys: Keys) -> None:
        self.out.emit(values, timestamps)


def _head(desc: ChainedOperator, context: TaskContext) -> Operator:
    """The operator in the source's place: it assigns timestamps and makes watermarks if the source has a strategy."""
    spec = desc.spec
    assert isinstance(spec, SourceSpec)
    if spec.strategy is None:
        return _Head(desc, context)
    return build_operator(replace(desc, spec=TimestampsSpec(spec.strategy)), context)


def _batches(
    plan: JobPlan, vertex: Vertex, split: int, start: Position, end: Position | None, clock: Clock
) -> Iterator[ReadBatch]:
    if isinstance(vertex.source, FunctionSource):
        return run_to_end(plan, vertex, split, clock)
    return vertex.source.read(split, vertex.split_count, start, end)


def _feed(head: Operator, batch: ReadBatch) -> None:
    """Give the head the records, with the source's own watermarks exactly where they stand."""
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
