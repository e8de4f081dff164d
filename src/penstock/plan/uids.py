"""Gives every operator the uid under which its state is found again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.core.config.options.job import AUTO_UIDS
from penstock.core.errors import ProgramError
from penstock.core.program.marks import Mark
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.identity import marks_of

__all__ = ["assign_uids"]


def assign_uids(graph: StreamGraph, automatic: bool = True) -> StreamGraph:
    """Afterwards: every node has a unique uid.

    Those not given are made of the operator's place and name, and have a mark: state is found by the two together.
    """
    if not automatic:
        _refuse_missing(graph)
    marks = marks_of(graph)
    return replace(graph, nodes=tuple(_named(n, marks) if n.uid is None else n for n in graph.nodes))


def _named(node: StreamNode, marks: Mapping[int, Mark]) -> StreamNode:
    return replace(node, uid=f"auto-{node.node_id}-{node.name}", mark=marks[node.node_id])


def _refuse_missing(graph: StreamGraph) -> None:
    for node in graph.nodes:
        if node.uid is None:
            raise ProgramError(
                f"Operator '{node.name}' has no uid, and uids are not to be made up ({AUTO_UIDS.key} is "
                "false): give it one with .uid(...)"
            )
