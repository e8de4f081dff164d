"""The three graphs as text."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.graph.job_graph import JobGraph, JobVertex
from penstock.graph.stream_graph import StreamGraph

__all__ = ["execution_graph_text", "job_graph_text", "stream_graph_text"]


def stream_graph_text(graph: StreamGraph) -> str:
    """Operators as written, one a line, with where their input comes from."""
    return "\n".join(_stream_lines(graph))


def _stream_lines(graph: StreamGraph) -> Iterator[str]:
    yield f"== StreamGraph: {graph.name} =="
    for node in graph.nodes:
        inputs = ", ".join(
            f"{e.source} {'FORWARD?' if e.exchange is None else e.exchange.arrow}{f' [{e.tag}]' if e.tag else ''}"
            for e in graph.inputs(node.node_id)
        )
        shown = "" if node.parallelism is None else f" (parallelism {node.parallelism})"
        yield f"{node.node_id}: {node.name}{shown}{f' <- {inputs}' if inputs else ''}"


def job_graph_text(graph: JobGraph) -> str:
    """Chains with their parallelism, and the exchanges between them."""
    return "\n".join(_job_lines(graph))


def _job_lines(graph: JobGraph) -> Iterator[str]:
    yield f"== JobGraph: {graph.name} ({len(graph.vertices)} vertices, {graph.subtasks} subtasks) =="
    numbers = {id(v): i for i, v in enumerate(graph.vertices)}
    for number, vertex in enumerate(graph.vertices):
        yield f"[{number}] {vertex.name} x{vertex.parallelism}"
        for edge in graph.edges:
            if graph.vertex_of(edge.source) is vertex:
                target = numbers[id(graph.vertex_of(edge.target))]
                tag = f" [{edge.tag}]" if edge.tag else ""
                yield f"     --{edge.exchange.arrow}{tag}--> [{target}]"


def execution_graph_text(graph: JobGraph) -> str:
    """Every parallel subtask."""
    lines = [f"== ExecutionGraph: {graph.name} =="]
    for vertex in graph.vertices:
        lines.extend(_subtasks(vertex))
    return "\n".join(lines)


def _subtasks(vertex: JobVertex) -> Iterator[str]:
    for index in range(vertex.parallelism):
        yield f"{vertex.name} ({index + 1}/{vertex.parallelism})"
