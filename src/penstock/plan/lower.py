"""Lays the vertices out in a line of stages: levels, partitions, numbered edges."""

from __future__ import annotations

from hashlib import blake2b

from penstock.core.errors import ProgramError
from penstock.core.program.job import ChainedOperator, InEdge, JobPlan, OutEdge, RuntimeSettings, Vertex
from penstock.core.program.partition import Forward
from penstock.core.program.specs import SourceSpec
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex

__all__ = ["lower"]


def lower(graph: JobGraph, settings: RuntimeSettings, one_batch: bool) -> JobPlan:
    """Afterwards: every vertex has a level above all its inputs, a place among the partitions, and numbered edges."""
    levels = _levels(graph)
    index_of = {n.node_id: i for i, v in enumerate(graph.vertices) for n in v.nodes}
    widths = [_width(v, one_batch) for v in graph.vertices]
    partitions = max((v.parallelism for i, v in enumerate(graph.vertices) if levels[i] > 0), default=1)
    edges = list(enumerate(graph.edges))
    vertices = tuple(
        _lowered(i, v, levels[i], widths, partitions, edges, index_of) for i, v in enumerate(graph.vertices)
    )
    return JobPlan(graph.name, vertices, partitions, graph.max_parallelism, settings)


def _levels(graph: JobGraph) -> list[int]:
    index_of = {n.node_id: i for i, v in enumerate(graph.vertices) for n in v.nodes}
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


def _lowered(
    index: int,
    vertex: JobVertex,
    level: int,
    widths: list[int],
    partitions: int,
    edges: list[tuple[int, JobEdge]],
    index_of: dict[int, int],
) -> Vertex:
    place = {n.node_id: i for i, n in enumerate(vertex.nodes)}
    operators = tuple(
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
    in_edges = tuple(
        InEdge(number, widths[index_of[e.source]], isinstance(e.exchange, Forward), e.input)
        for number, e in edges
        if index_of[e.target] == index
    )
    out_edges = tuple(
        OutEdge(number, place[e.source], e.tag, index_of[e.target], e.exchange)
        for number, e in edges
        if index_of[e.source] == index
    )
    return Vertex(
        index,
        level,
        widths[index],
        _first(operators[0].uid, widths[index], partitions),
        operators,
        in_edges,
        out_edges,
    )


def _first(uid: str, width: int, partitions: int) -> int:
    """A vertex that does not fill all partitions starts at a place chosen by its uid, so that they spread."""
    if width >= partitions:
        return 0
    return int.from_bytes(blake2b(uid.encode(), digest_size=4).digest(), "big") % partitions
