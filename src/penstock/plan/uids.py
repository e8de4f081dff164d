"""Gives every operator the uid under which its state is found again."""

from __future__ import annotations

from dataclasses import replace

from penstock.core.errors import ProgramError
from penstock.graph.stream_graph import StreamGraph

__all__ = ["assign_uids"]


def assign_uids(graph: StreamGraph, automatic: bool = True) -> StreamGraph:
    """Afterwards: every node has a unique uid; those not given depend on the operator's place and name."""
    if not automatic:
        _refuse_missing(graph)
    return replace(
        graph,
        nodes=tuple(n if n.uid is not None else replace(n, uid=f"auto-{n.node_id}-{n.name}") for n in graph.nodes),
    )


def _refuse_missing(graph: StreamGraph) -> None:
    for node in graph.nodes:
        if node.uid is None:
            raise ProgramError(
                f"Operator '{node.name}' has no uid, and uids are not to be made up (pipeline.auto-generate-uids is "
                "false): give it one with .uid(...)"
            )
