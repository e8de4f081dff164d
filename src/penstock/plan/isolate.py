"""Level 0 has no state: cuts stateful operators off the chains that begin with a source."""

from __future__ import annotations

from dataclasses import replace

from penstock.core.program.partition import Forward
from penstock.core.program.specs import SourceSpec, TimestampsSpec
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex
from penstock.graph.stream_graph import StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["isolate_sources"]


def isolate_sources(graph: JobGraph, _options: PlanOptions) -> JobGraph:
    """Afterwards: a vertex that begins with a source holds only operators that need neither state nor the clock.

    What is cut off is reached by forward edges, so that every source split stays a channel of its own.
    """
    graph = _detach_strategies(graph)
    vertices: list[JobVertex] = []
    edges = list(graph.edges)
    for vertex in graph.vertices:
        parts, cut = _split(vertex) if isinstance(vertex.head.spec, SourceSpec) else ([vertex], [])
        vertices.extend(parts)
        edges.extend(cut)
    return replace(graph, vertices=tuple(vertices), edges=tuple(edges))


def _detach_strategies(graph: JobGraph) -> JobGraph:
    """A source's strategy that needs state becomes an operator of its own behind the source."""
    numbers = {n.node_id for v in graph.vertices for n in v.nodes}
    for index, vertex in enumerate(graph.vertices):
        spec = vertex.head.spec
        if isinstance(spec, SourceSpec) and spec.strategy is not None and not spec.stateless:
            number = max(numbers) + 1
            numbers.add(number)
            made = replace(
                vertex.head,
                node_id=number,
                name=f"{vertex.head.name}: Timestamps/Watermarks",
                uid=f"{vertex.head.uid}/watermarks",
                spec=TimestampsSpec(spec.strategy),
            )
            graph = _insert(graph, index, replace(vertex.head, spec=replace(spec, strategy=None)), made)
    return graph


def _insert(graph: JobGraph, index: int, source: StreamNode, made: StreamNode) -> JobGraph:
    """Put an operator between a source and all that it feeds."""
    vertex, old, new = graph.vertices[index], source.node_id, made.node_id
    links = tuple((new if s == old else s, t, tag) for s, t, tag in vertex.links)
    grown = replace(vertex, nodes=(source, made, *vertex.nodes[1:]), links=((old, new, None), *links))
    edges = tuple(replace(e, source=new) if e.source == old else e for e in graph.edges)
    return replace(graph, vertices=(*graph.vertices[:index], grown, *graph.vertices[index + 1 :]), edges=edges)


def _split(vertex: JobVertex) -> tuple[list[JobVertex], list[JobEdge]]:
    root_of = {vertex.head.node_id: vertex.head.node_id}
    cut: list[JobEdge] = []
    for source, target, tag in vertex.links:
        node = next(n for n in vertex.nodes if n.node_id == target)
        if node.spec.stateless or root_of[source] != vertex.head.node_id:
            root_of[target] = root_of[source]
        else:
            root_of[target] = target
            cut.append(JobEdge(source, target, Forward(), tag))
    parts = [_part(vertex, root, root_of) for root in dict.fromkeys(root_of.values())]
    return parts, cut


def _part(vertex: JobVertex, root: int, root_of: dict[int, int]) -> JobVertex:
    nodes = tuple(n for n in vertex.nodes if root_of[n.node_id] == root)
    links = tuple(k for k in vertex.links if root_of[k[0]] == root and root_of[k[1]] == root)
    return JobVertex(nodes, vertex.parallelism, links)
