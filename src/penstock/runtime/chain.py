"""The live operators of one subtask: built, wired, opened, run through a batch, reported on and closed in one place.

Subtasks of a source (one for each split, `source_task.py`) and subtasks of all later levels (`task.py`) share it, so
that an operator goes through the same life wherever it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.core.program.job import JobPlan, Vertex
from penstock.core.time.clock import Stopwatch
from penstock.runtime.chunk import BatchInfo
from penstock.runtime.codec import loads
from penstock.runtime.context import TaskContext
from penstock.runtime.failures import NO_RECORD, user_failure
from penstock.runtime.metrics import Report
from penstock.runtime.operator_state import FunctionState
from penstock.runtime.operators.base import Fan, Operator, Output
from penstock.runtime.operators.coercion import coerced_output
from penstock.runtime.state.page import NO_TIMER
from penstock.runtime.writer import EdgeWriter

__all__ = ["OperatorChain"]


class OperatorChain:
    """The operators of a vertex in one subtask, connected with each other and with the edges that leave the vertex.

    Order of calls: `open` once; per batch `begin`, records and watermarks through `head`, `end`, `flush`, `report`;
    `close` once at the end of its life. `sender` is the subtask, or the split of a source.
    """

    def __init__(
        self, plan: JobPlan, vertex: Vertex, sender: int, context: TaskContext, operators: list[Operator]
    ) -> None:
        self._vertex, self._sender = vertex, sender
        self.context = context
        self.operators = operators
        self.head = operators[0]
        self.writers = _wired(plan, vertex, sender, context, operators)
        self.busy = Stopwatch()

    def open(self, states: Sequence[bytes | None] = (), functions: Mapping[int, FunctionState] | None = None) -> None:
        """Open every operator, each after its own state and operator state have been restored.

        `states` are the operators' own snapshots, `functions` the operator state of their functions, by their place in
        the chain; a chain beside a source has neither. An operator stands at the watermark that the one before it sent.
        """
        for index, op in enumerate(self.operators):
            if states and (blob := states[index]) is not None:
                op.restore(loads(blob))
            if functions and index in functions:
                functions[index].initialize()
            for _, target in op.desc.consumers:
                self.operators[target].current_watermark = op.sent_watermark
            _open(op)

    def begin(self, info: BatchInfo) -> None:
        """Start a batch: called once, before its first record."""
        self.context.batch = info
        for writer in self.writers:
            writer.begin(info.batch_id)
        for op in self.operators:
            op.begin()

    def end(self) -> None:
        """End a batch: operators emit what they still hold back. Called after the last record."""
        for op in self.operators:
            op.end()

    def flush(self) -> None:
        """Send the contents of the edges' buffers: called last, nothing may be emitted after it."""
        for writer in self.writers:
            writer.flush()

    def report(self, records_in: int, next_timer_ms: int = NO_TIMER) -> Report:
        """The figures of the batch, for the driver. Called once a batch, at its end: counters start from 0 again."""
        vertex = self._vertex
        return {
            "vertex": vertex.vertex_id,
            "name": vertex.name,
            "subtask": self._sender,
            "time_ms": self.context.batch.processing_time_ms,
            "in": records_in,
            "out": sum(writer.records for writer in self.writers),
            "busy_ms": self.busy.take_ms(),
            "next_timer_ms": next_timer_ms,
            "operators": [metrics.drain() for metrics in self.context.metrics.values()],
        }

    def close(self) -> None:
        """Release what the operators hold."""
        for op in self.operators:
            op.close()


def _open(op: Operator) -> None:
    try:
        op.open()
    except Exception as error:
        raise user_failure(op.desc.name, op.desc.uid, "open()", NO_RECORD, error) from error


def _wired(
    plan: JobPlan, vertex: Vertex, sender: int, context: TaskContext, operators: list[Operator]
) -> list[EdgeWriter]:
    """Connect operators with each other and with the edges that leave the chain; the writers of these edges."""
    writers = []
    outputs: dict[tuple[int, str | None], list[Output]] = {}
    for index, op in enumerate(vertex.operators):
        for tag, target in op.consumers:
            outputs.setdefault((index, tag), []).append(operators[target])
    for edge in vertex.out_edges:
        op = vertex.operators[edge.operator]
        writer = EdgeWriter(plan, edge, sender, op.name, op.uid, context.send)
        writer.poison = operators[edge.operator].poison
        writers.append(writer)
        outputs.setdefault((edge.operator, edge.tag), []).append(writer)
    for (index, tag), found in outputs.items():
        output = found[0] if len(found) == 1 else Fan(found, not plan.settings.object_reuse)
        output = coerced_output(vertex.operators[index], tag, output)
        if tag is None:
            operators[index].out = output
        else:
            operators[index].sides[tag] = output
    return writers
