"""Lays the vertices out in a line of stages: levels, partitions, numbered edges."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from penstock.core.errors import ProgramError
from penstock.core.program.job import ChainedOperator, InEdge, JobPlan, OutEdge, Vertex
from penstock.core.program.partition import Forward
from penstock.core.program.specs import SourceSpec
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex
from penstock.plan.clocks import timeless_uids
from penstock.plan.options import PlanOptions

__all__ = ["lower"]


def lower(graph: JobGraph, options: PlanOptions) -> JobPlan:
    """Afterwards: every vertex has a level above all its inputs, a place among the partitions, and numbered edges."""
    layout = _Layout.of(graph, options.one_batch)
    vertices = tuple(_lowered(i, vertex, layout) for i, vertex in enumerate(graph.vertices))
    timeless = timeless_uids(graph, options.settings)
    return JobPlan(graph.name, vertices, layout.partitions, graph.max_parallelism, options.settings, timeless)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What one vertex must know of the others: levels, widths, which vertex an operator is in, the numbered edges."""

    levels: list[int]
    widths: list[int]
    partitions: int
    index_of: dict[int, int]
    edges: tuple[JobEdge, ...]

    @staticmethod
    def of(graph: JobGraph, one_batch: bool) -> _Layout:
        levels = _levels(graph)
        return _Layout(
            levels,
            [_width(v, one_batch) for v in graph.vertices],
            max((v.parallelism for i, v in enumerate(graph.vertices) if levels[i] > 0), default=1),
            _index_of(graph),
            graph.edges,
        )


def _index_of(graph: JobGraph) -> dict[int, int]:
    """Operator to the index of its vertex."""
    return {n.node_id: i for i, v in enumerate(graph.vertices) for n in v.nodes}


def _levels(graph: JobGraph) -> list[int]:
    index_of = _index_of(graph)
    levels: dict[int, int] = {}

    def level(index: int, trail: tuple[int, ...]) -> int:
        if index in trail:
            raise ProgramError(f"Vertex '{graph.vertices[index].name}' feeds itself: loops are not supported")
        if index not in levels:
            inputs = [index_of[e.source] for e in graph.edges if index_of[e.target] == index]
            levels[index] = 1 + max((level(i, (*trail, index)) for i in inputs), default=-1)
        return levels[index]

    return [level(i, ()) for i in range(len(graph.vertices))]


def _width(vertex: JobVertex, one_batch: bool) -> int:
    """Subtasks of a vertex; a source has one for each split."""
    spec = vertex.head.spec
    return (
        spec.source.split_count(vertex.parallelism, one_batch) if isinstance(spec, SourceSpec) else vertex.parallelism
    )


def _lowered(index: int, vertex: JobVertex, layout: _Layout) -> Vertex:
    width, uid = layout.widths[index], vertex.head.uid or ""
    return Vertex(
        index,
        layout.levels[index],
        width,
        _first(uid, width, layout.partitions),
        _operators(vertex),
        _in_edges(index, layout),
        _out_edges(index, vertex, layout),
    )


def _place(vertex: JobVertex) -> dict[int, int]:
    """Operator to its place in the chain."""
    return {n.node_id: i for i, n in enumerate(vertex.nodes)}


def _operators(vertex: JobVertex) -> tuple[ChainedOperator, ...]:
    place = _place(vertex)
    return tuple(
        ChainedOperator(
            n.uid or "",
            n.name,
            n.spec,
            tuple((tag, place[t]) for s, t, tag in vertex.links if s == n.node_id),
            n.poison,
            n.types,
            n.mark,
        )
        for n in vertex.nodes
    )


def _in_edges(index: int, layout: _Layout) -> tuple[InEdge, ...]:
    return tuple(
        InEdge(number, layout.widths[layout.index_of[e.source]], isinstance(e.exchange, Forward), e.input)
        for number, e in enumerate(layout.edges)
        if layout.index_of[e.target] == index
    )


def _out_edges(index: int, vertex: JobVertex, layout: _Layout) -> tuple[OutEdge, ...]:
    place = _place(vertex)
    return tuple(
        OutEdge(number, place[e.source], e.tag, layout.index_of[e.target], e.exchange)
        for number, e in enumerate(layout.edges)
        if layout.index_of[e.source] == index
    )


def _first(uid: str, width: int, partitions: int) -> int:
    """A vertex that does not fill all partitions starts at a place chosen by its uid, so that they spread."""
    if width >= partitions:
        return 0
    return int.from_bytes(blake2b(uid.encode(), digest_size=4).digest(), "big") % partitions
