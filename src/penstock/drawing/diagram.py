"""The three graphs as things to draw: groups of boxes and arrows between the groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.core.program.partition import Exchange, Forward, Global, Rescale
from penstock.drawing.labels import Mark, marks_of, role_of
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex
from penstock.graph.stream_graph import StreamGraph, StreamNode

__all__ = [
    "Arrow",
    "Box",
    "Diagram",
    "Group",
    "Wires",
    "execution_diagram",
    "job_diagram",
    "shown_subtasks",
    "stream_diagram",
]

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Box:
    """An operator. `key` is its node's number."""

    key: int
    title: str
    role: str
    marks: tuple[Mark, ...] = ()
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Boxes that run together, with the links (from, to, label) between them by place; or parallel subtasks.

    `framed`: drawn as a box around boxes. `subtasks`: numbers of those that are shown, None for a gap.
    """

    boxes: tuple[Box, ...]
    links: tuple[tuple[int, int, str], ...] = ()
    parallelism: int | None = None
    framed: bool = False
    subtasks: tuple[int | None, ...] = ()

    @property
    def title(self) -> str:
        """The names of its operators, as they are chained."""
        return " → ".join(box.title for box in self.boxes)

    @property
    def role(self) -> str:
        """What the whole is shown as: a sink if it ends in one, else what it begins with."""
        return "sink" if self.boxes[-1].role == "sink" else self.boxes[0].role


Wires = tuple[tuple[int, int], ...]
"""Which subtask sends to which, by place among those shown."""


@dataclass(frozen=True, slots=True)
class Arrow:
    """From group to group. `strategy` is the exchange; `tag` the side output."""

    source: int
    target: int
    strategy: str
    tag: str | None = None
    wires: Wires = ()

    @property
    def label(self) -> str:
        """The words on the arrow: the exchange, and the side output in brackets."""
        return f"{self.strategy.lower()} [{self.tag}]" if self.tag else self.strategy.lower()


@dataclass(frozen=True, slots=True)
class Diagram:
    """One graph, ready to be drawn or written. `kind` is "Stream graph", "Job graph" or "Execution graph"."""

    kind: str
    name: str
    groups: tuple[Group, ...]
    arrows: tuple[Arrow, ...]

    @property
    def title(self) -> str:
        """The heading above the drawing."""
        return f"{self.kind}: {self.name}"


# -- the stream graph ---------------------------------------------------------------------------------------------


def stream_diagram(graph: StreamGraph) -> Diagram:
    """The operators as the program wrote them, one box each."""
    place = {node.node_id: index for index, node in enumerate(graph.nodes)}
    groups = tuple(Group((_box(node),), parallelism=node.parallelism) for node in graph.nodes)
    arrows = tuple(
        Arrow(place[e.source], place[e.target], "" if e.exchange is None else e.exchange.arrow, e.tag)
        for e in graph.edges
    )
    return Diagram("Stream graph", graph.name, groups, arrows)


def _box(node: StreamNode) -> Box:
    uid = f"uid {node.uid}" if node.uid else "no uid"
    described = f"{node.description}\n" if node.description else ""
    tip = f"{node.name}\n{described}{type(node.spec).__name__.removesuffix('Spec')}, node {node.node_id}, {uid}"
    return Box(node.node_id, node.name, role_of(node.spec), marks_of(node.spec), tip)


# -- the job graph ------------------------------------------------------------------------------------------------


def job_diagram(graph: JobGraph) -> Diagram:
    """The chained operators: one frame a vertex, one box an operator."""
    groups = tuple(_vertex(vertex) for vertex in graph.vertices)
    arrows = tuple(Arrow(*_ends(graph, e), e.exchange.arrow, e.tag) for e in graph.edges)
    return Diagram("Job graph", graph.name, groups, arrows)


def _vertex(vertex: JobVertex) -> Group:
    place = {node.node_id: index for index, node in enumerate(vertex.nodes)}
    links = tuple((place[s], place[t], f"[{tag}]" if tag else "") for s, t, tag in vertex.links)
    return Group(tuple(_box(node) for node in vertex.nodes), links, vertex.parallelism, True)


def _ends(graph: JobGraph, edge: JobEdge) -> tuple[int, int]:
    place = {id(vertex): index for index, vertex in enumerate(graph.vertices)}
    return place[id(graph.vertex_of(edge.source))], place[id(graph.vertex_of(edge.target))]


# -- the execution graph ------------------------------------------------------------------------------------------


def execution_diagram(graph: JobGraph) -> Diagram:
    """Every parallel subtask, and which subtasks it sends to."""
    groups = tuple(
        Group(
            tuple(_box(node) for node in vertex.nodes), (), vertex.parallelism, True, shown_subtasks(vertex.parallelism)
        )
        for vertex in graph.vertices
    )
    arrows = tuple(_wired(groups, _ends(graph, e), e) for e in graph.edges)
    return Diagram("Execution graph", graph.name, groups, arrows)


def shown_subtasks(parallelism: int) -> tuple[int | None, ...]:
    """All of a few; of many the first and the last.

    >>> shown_subtasks(3), shown_subtasks(40)
    ((0, 1, 2), (0, 1, 2, None, 39))
    """
    if parallelism <= _SHOWN:
        return tuple(range(parallelism))
    return (0, 1, 2, None, parallelism - 1)


def _wired(groups: tuple[Group, ...], ends: tuple[int, int], edge: JobEdge) -> Arrow:
    senders, receivers = groups[ends[0]].subtasks, groups[ends[1]].subtasks
    counts = groups[ends[0]].parallelism or 1, groups[ends[1]].parallelism or 1
    wires = tuple(
        (i, j)
        for i, sender in enumerate(senders)
        for j, receiver in enumerate(receivers)
        if sender is not None and receiver is not None and receiver in _receivers(edge.exchange, sender, *counts)
    )
    return Arrow(*ends, edge.exchange.arrow, edge.tag, wires)


def _receivers(exchange: Exchange, sender: int, senders: int, receivers: int) -> Iterable[int]:
    """The receivers that one sending subtask may reach."""
    match exchange:
        case Forward():
            return (sender,)
        case Global():
            return (0,)
        case Rescale() if senders >= receivers:
            return (sender * receivers // senders,)
        case Rescale():
            return range(sender * receivers // senders, (sender + 1) * receivers // senders)
    return range(receivers)
