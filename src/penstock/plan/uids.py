"""Gives every operator the uid under which its state is found again."""

from __future__ import annotations

from dataclasses import replace

from penstock.graph.stream_graph import StreamGraph

__all__ = ["assign_uids"]


def assign_uids(graph: StreamGraph) -> StreamGraph:
    """Afterwards: every node has a unique uid; those not given depend on the operator's place and name."""
    return replace(
        graph,
        nodes=tuple(n if n.uid is not None else replace(n, uid=f"auto-{n.node_id}-{n.name}") for n in graph.nodes),
    )
