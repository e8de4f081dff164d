"""Level 0 has no state: cuts stateful operators off the chains that begin with a source."""

from __future__ import annotations

from dataclasses import replace

from penstock.core.partition import Forward
from penstock.core.specs import SourceSpec
from penstock.graph.job_graph import JobEdge, JobGraph, JobVertex

__all__ = ["isolate_sources"]


def isolate_sources(graph: JobGraph) -> JobGraph:
    """Afterwards: a vertex that begins with a source holds only operators that need neither state nor the clock."""
    vertices: list[JobVertex] = []
    edges = list(graph.edges)
    for vertex in graph.vertices:
        parts, cut = _split(vertex) if isinstance(vertex.head.spec, SourceSpec) else ([vertex], [])
        vertices.extend(parts)
        edges.extend(cut)
    return replace(graph, vertices=tuple(vertices), edges=tuple(edges))


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
