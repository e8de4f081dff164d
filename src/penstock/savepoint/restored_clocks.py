"""Where the clocks of subtasks start in a job that starts from a savepoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.core.program.job import InEdge, JobPlan, Vertex
from penstock.core.time.spans import MIN_WATERMARK
from penstock.runtime.chunk import channel_id
from penstock.runtime.valve import ValveState
from penstock.savepoint.metadata import ChannelNote, Metadata, VertexNote
from penstock.savepoint.plan_notes import edge_notes

__all__ = ["restored_root"]

_Mark = tuple[int, str]
"""The last watermark of a channel, and its status."""


def restored_root(plan: JobPlan, vertex: Vertex, subtask: int, metadata: Metadata) -> dict[str, object]:
    """The root with which a subtask starts from a savepoint; sent to it as a row of the first batch.

    Channels stand where they stood, as far as the savepoint knows them. The subtask itself fills in timers and sizes,
    when its pages have come.
    """
    return {
        "nonce": b"",
        "run": f"savepoint {metadata.ident}",
        "valve": _valve(plan, vertex, subtask, metadata),
        "states": dict(note.states) if (note := metadata.operator(vertex.uid)) is not None else {},
        "restored": True,
    }


def _valve(plan: JobPlan, vertex: Vertex, subtask: int, metadata: Metadata) -> ValveState:
    note = next((n for op in vertex.operators if (n := metadata.vertex(op.uid)) is not None), None)
    if note is None or metadata.drained:
        return ValveState({}, frozenset(), frozenset(), MIN_WATERMARK)
    clocks = [c.clock for c in note.subtasks]
    clock = clocks[subtask] if len(clocks) == vertex.parallelism else min(clocks)
    marks = dict(_marks(plan, vertex, subtask, note))
    return ValveState(
        {channel: mark for channel, (mark, _) in marks.items()},
        frozenset(c for c, (_, status) in marks.items() if status == "idle"),
        frozenset(c for c, (_, status) in marks.items() if status == "ended"),
        clock,
    )


def _marks(plan: JobPlan, vertex: Vertex, subtask: int, note: VertexNote) -> Iterable[tuple[int, _Mark]]:
    """The marks of those channels whose edges the savepoint knows."""
    before = {edge.identity: edge.edge for edge in note.edges}
    for described, edge in zip(edge_notes(plan, vertex), vertex.in_edges, strict=True):
        if described.identity in before:
            heard = _heard(note, before[described.identity], subtask)
            for sender in range(edge.senders) if heard else ():
                yield channel_id(edge.edge_id, sender), _mark(edge, sender, heard)


def _heard(note: VertexNote, edge: int, subtask: int) -> Mapping[int, ChannelNote]:
    """What each sender of an edge said last: to this subtask, if it received that sender, else to another subtask."""
    order = sorted(range(len(note.subtasks)), key=lambda s: s == subtask)
    return {c.sender: c for s in order for c in note.subtasks[s].channels if c.edge == edge}


def _mark(edge: InEdge, sender: int, heard: Mapping[int, ChannelNote]) -> _Mark:
    """The mark of a sender; if the number of senders has changed, the mark that all of them had reached."""
    if len(heard) == edge.senders and sender in heard:
        return heard[sender].mark, heard[sender].status
    states = {c.status for c in heard.values()}
    awake = [c.mark for c in heard.values() if c.status == "active"] or [c.mark for c in heard.values()]
    status = "active" if "active" in states else "idle" if "idle" in states else "ended"
    return min(awake), status
