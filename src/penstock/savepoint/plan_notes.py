"""Describes a plan, and the state of its subtasks, in the notes of which the metadata consists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from penstock.core.contracts.source import Position
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.program.specs import IntervalJoinSpec, OperatorSpec, WindowSpec
from penstock.core.time.spans import MIN_WATERMARK
from penstock.runtime.chunk import channel_edge_sender
from penstock.runtime.codec import loads
from penstock.runtime.operators.interval_join import IntervalJoinOperator
from penstock.runtime.operators.windows.choose import window_class
from penstock.runtime.state.store_keys import StoreKeys, uid_hash
from penstock.runtime.valve import ValveState
from penstock.savepoint.metadata import (
    ChannelNote,
    ClockNote,
    EdgeNote,
    OperatorNote,
    PlanNotes,
    SourceNote,
    VertexNote,
)

__all__ = ["Positions", "contents_of", "edge_notes", "filled", "form_of", "notes_of", "uids_of"]

Positions = Mapping[str, Mapping[int, Position]]
"""Where each source stands, by its uid and the number of the split."""


def notes_of(plan: JobPlan) -> PlanNotes:
    """The notes of a plan that has not run: no blobs, no clocks, sources at their beginning."""
    return PlanNotes(
        plan.name,
        plan.max_parallelism,
        tuple(
            OperatorNote(
                op.uid,
                op.name,
                v.uid,
                type(op.spec).__name__,
                v.parallelism,
                op.spec.is_keyed,
                form_of(op.spec),
                contents=contents_of(op.spec),
                mark=str(op.mark) if op.mark is not None else "",
            )
            for v in plan.vertices
            for op in v.operators
        ),
        tuple(VertexNote(v.uid, edge_notes(plan, v), ()) for v in plan.vertices if not v.is_source),
        tuple(map(_source, plan.sources)),
    )


def form_of(spec: OperatorSpec) -> str:
    """How an operator lays out its state, if its kind has several ways (windows, interval joins); else empty."""
    if isinstance(spec, IntervalJoinSpec):
        return IntervalJoinOperator.__name__
    return window_class(spec).__name__ if isinstance(spec, WindowSpec) else ""


def contents_of(spec: OperatorSpec) -> str:
    """What a window operator keeps of its records (`records`, `reduce` or `aggregate`); empty for other operators."""
    if not isinstance(spec, WindowSpec):
        return ""
    if spec.combine is None:
        return "records"
    return "aggregate" if hasattr(spec.combine, "create_accumulator") else "reduce"


def _source(vertex: Vertex) -> SourceNote:
    source = vertex.source
    starts = (
        source.initial(s, vertex.split_count) if source.positionable else Position(None)
        for s in range(vertex.split_count)
    )
    return SourceNote(vertex.uid, vertex.operators[0].name, type(source).__name__, tuple(starts))


def uids_of(notes: PlanNotes) -> dict[bytes, str]:
    """The uid of each operator by its prefix in the keys of state stores."""
    return {uid_hash(op.uid): op.uid for op in notes.operators}


def filled(
    notes: PlanNotes, counts: Mapping[tuple[str, str], int], roots: Mapping[bytes, bytes], positions: Positions
) -> PlanNotes:
    """The notes filled in for a savepoint: `counts` of blobs by uid and kind, clocks from `roots`, and positions."""
    return replace(
        notes,
        operators=tuple(replace(op, blobs=_blobs(op.uid, counts), states=_states(op, roots)) for op in notes.operators),
        vertices=tuple(replace(v, subtasks=tuple(_clocks(notes, v.uid, roots))) for v in notes.vertices),
        sources=tuple(_positioned(s, positions.get(s.uid, {})) for s in notes.sources),
    )


def _blobs(uid: str, counts: Mapping[tuple[str, str], int]) -> dict[str, int]:
    return {kind: count for (owner, kind), count in sorted(counts.items()) if owner == uid}


def _states(note: OperatorNote, roots: Mapping[bytes, bytes]) -> dict[str, str]:
    """The kinds of an operator's keyed states by name, as the roots of its subtasks know them."""
    names, found = StoreKeys.of(note.uid), dict(note.states)
    for subtask in range(note.parallelism if note.keyed else 0):
        root = roots.get(names.root(subtask))
        found.update(loads(root).get("states", {}) if root is not None else {})
    return found


def _positioned(note: SourceNote, positions: Mapping[int, Position]) -> SourceNote:
    return replace(note, splits=tuple(positions.get(s, start) for s, start in enumerate(note.splits)))


def edge_notes(plan: JobPlan, vertex: Vertex) -> tuple[EdgeNote, ...]:
    """The notes of a vertex's inputs; inputs that look the same are told apart by their order."""
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


def _clocks(notes: PlanNotes, uid: str, roots: Mapping[bytes, bytes]) -> Iterator[ClockNote]:
    parallelism = next(op.parallelism for op in notes.operators if op.uid == uid)
    names = StoreKeys.of(uid)
    for subtask in range(parallelism):
        root = roots.get(names.root(subtask))
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
