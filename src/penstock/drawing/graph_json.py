"""The three graphs as JSON, for programs."""

from __future__ import annotations

from typing import Any

from penstock.drawing.labels import marks_of, role_of
from penstock.graph.job_graph import JobGraph, JobVertex
from penstock.graph.stream_graph import StreamGraph, StreamNode

__all__ = ["execution_graph_json", "job_graph_json", "stream_graph_json"]


def stream_graph_json(graph: StreamGraph) -> dict[str, object]:
    """Operators as written; an exchange that is not decided yet is null."""
    edges = [
        _edge(e.source, e.target, None if e.exchange is None else e.exchange.arrow, e.tag, e.input) for e in graph.edges
    ]
    return {"nodes": [_node(node) for node in graph.nodes], "edges": edges}


def _node(node: StreamNode) -> dict[str, object]:
    return {
        "id": node.node_id,
        "name": node.name,
        "uid": node.uid,
        "role": role_of(node.spec),
        "operator": type(node.spec).__name__.removesuffix("Spec"),
        "parallelism": node.parallelism,
        "marks": [{"kind": mark.kind, "text": mark.text} for mark in marks_of(node.spec)],
    }


def _edge(source: int, target: int, exchange: str | None, tag: str | None, number: int) -> dict[str, object]:
    return {"source": source, "target": target, "exchange": exchange, "side_output": tag, "input": number}


def job_graph_json(graph: JobGraph) -> dict[str, object]:
    """Chains; edges join operators of different vertices."""
    edges = [_edge(e.source, e.target, e.exchange.arrow, e.tag, e.input) for e in graph.edges]
    vertices = [_vertex(number, vertex) for number, vertex in enumerate(graph.vertices)]
    return {"max_parallelism": graph.max_parallelism, "vertices": vertices, "edges": edges}


def _vertex(number: int, vertex: JobVertex) -> dict[str, Any]:
    return {
        "id": number,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "operators": [_node(node) for node in vertex.nodes],
        "links": [{"source": s, "target": t, "side_output": tag} for s, t, tag in vertex.links],
    }


def execution_graph_json(graph: JobGraph) -> dict[str, object]:
    """Every subtask by vertex."""
    return {
        "subtasks": [
            {"vertex": number, "name": vertex.name, "subtask": subtask, "parallelism": vertex.parallelism}
            for number, vertex in enumerate(graph.vertices)
            for subtask in range(vertex.parallelism)
        ]
    }
