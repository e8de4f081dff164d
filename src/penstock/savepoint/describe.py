"""A plan and its subtasks' roots, as notes for the metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from penstock.core.job import JobPlan, Vertex
from penstock.core.source import Position
from penstock.core.time import MIN_WATERMARK
from penstock.runtime.chunk import channel_edge_sender
from penstock.runtime.codec import loads
from penstock.runtime.task import VertexTask, store_prefix
from penstock.runtime.valve import ValveState
from penstock.savepoint.metadata import ChannelNote, ClockNote, EdgeNote, OperatorNote, SourceNote, VertexNote

__all__ = ["Positions", "edge_notes", "operator_notes", "source_notes", "uids_of", "vertex_notes"]

Positions = Mapping[str, Mapping[int, Position]]
"""Where each source stands, by uid and split."""


def uids_of(plan: JobPlan) -> dict[bytes, str]:
    """The uids of a plan by their prefix in state stores."""
    return {store_prefix(op.uid): op.uid for v in plan.vertices for op in v.operators}


def operator_notes(plan: JobPlan, counts: Mapping[tuple[str, str], int]) -> tuple[OperatorNote, ...]:
    """Every operator with what it keeps; `counts`: blobs by uid and kind."""
    return tuple(
        OperatorNote(
            op.uid,
            op.name,
            vertex.uid,
            type(op.spec).__name__,
            vertex.parallelism,
            op.spec.is_keyed,
            {kind: count for (uid, kind), count in sorted(counts.items()) if uid == op.uid},
        )
        for vertex in plan.vertices
        for op in vertex.operators
    )


def edge_notes(plan: JobPlan, vertex: Vertex) -> tuple[EdgeNote, ...]:
    """The inputs of a vertex; those alike are told apart by their order."""
    seen: Counter[tuple[str, str | None, int]] = Counter()
    notes = []
    for edge in vertex.in_edges:
        sender, tag = _sender(plan, edge.edge_id)
        alike = (sender, tag, edge.input)
        notes.append(EdgeNote(edge.edge_id, sender, tag, edge.input, seen[alike]))
        seen[alike] += 1
    return tuple(notes)


def _sender(plan: JobPlan, edge_id: int) -> tuple[str, str | None]:
    return next((v.uid, e.tag) for v in plan.vertices for e in v.out_edges if e.edge_id == edge_id)


def vertex_notes(plan: JobPlan, roots: Mapping[bytes, bytes]) -> tuple[VertexNote, ...]:
    """Every chain behind the sources, with the clocks that its subtasks' roots tell."""
    return tuple(
        VertexNote(v.uid, edge_notes(plan, v), tuple(_clocks(v, roots))) for v in plan.vertices if not v.is_source
    )


def _clocks(vertex: Vertex, roots: Mapping[bytes, bytes]) -> Iterator[ClockNote]:
    for subtask in range(vertex.parallelism):
        root = roots.get(VertexTask.root_name(vertex, subtask))
        yield ClockNote(MIN_WATERMARK) if root is None else _clock(loads(root)["valve"])


def _clock(valve: ValveState) -> ClockNote:
    marks, idle, ended, clock = valve
    return ClockNote(
        clock,
        tuple(
            ChannelNote(*channel_edge_sender(c), mark, "ended" if c in ended else "idle" if c in idle else "active")
            for c, mark in sorted(marks.items())
        ),
    )


def source_notes(plan: JobPlan, positions: Positions) -> tuple[SourceNote, ...]:
    """Every source with the position of each of its splits."""
    return tuple(
        SourceNote(
            v.uid,
            v.operators[0].name,
            type(v.source).__name__,
            tuple(positions.get(v.uid, {}).get(s) or v.source.initial(s, v.parallelism) for s in range(v.parallelism)),
        )
        for v in plan.sources
    )
