"""The program as the JSON that Flink's plan visualizers read."""

from __future__ import annotations

import json

from penstock.core.program.specs import SourceSpec
from penstock.graph.job_graph import JobGraph
from penstock.graph.stream_graph import StreamNode

__all__ = ["plan_json"]


def plan_json(graph: JobGraph) -> str:
    """Operators in the order in which they were written, chains undone, each with what feeds it."""
    nodes = sorted((n for v in graph.vertices for n in v.nodes), key=lambda n: n.node_id)
    return json.dumps({"nodes": [_node(graph, n) for n in nodes]}, indent=2)


def _node(graph: JobGraph, node: StreamNode) -> dict[str, object]:
    shown = {
        "id": node.node_id,
        "type": _type(node),
        "pact": _pact(node),
        "contents": node.description or _type(node),
        "parallelism": node.parallelism,
    }
    inputs = _inputs(graph, node.node_id)
    return {**shown, "predecessors": inputs} if inputs else shown


def _pact(node: StreamNode) -> str:
    if isinstance(node.spec, SourceSpec):
        return "Data Source"
    return "Data Sink" if node.spec.is_sink else "Operator"


def _type(node: StreamNode) -> str:
    return f"Sink: {node.name}" if node.spec.is_sink and not node.name.startswith("Sink: ") else node.name


def _inputs(graph: JobGraph, node_id: int) -> list[dict[str, object]]:
    chained = [(s, "FORWARD") for v in graph.vertices for s, t, _ in v.links if t == node_id]
    sent = [(e.source, e.exchange.arrow) for e in graph.edges if e.target == node_id]
    # Flink says "second" of every input, the first one too
    return [{"id": source, "ship_strategy": arrow, "side": "second"} for source, arrow in chained + sent]
