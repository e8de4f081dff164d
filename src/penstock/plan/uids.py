"""Gives every operator the uid under which its state is found again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.core.config.options.job import AUTO_UIDS
from penstock.core.errors import ProgramError
from penstock.core.program.marks import Mark
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.identity import marks_of
from penstock.plan.options import PlanOptions

__all__ = ["assign_uids"]


def assign_uids(graph: StreamGraph, options: PlanOptions) -> StreamGraph:
    """Afterwards: every node has a unique uid.

    A uid that the program does not give is made of the operator's place and name. Such an operator also has a mark:
    its state is found by uid and mark together.
    """
    if not options.auto_uids:
        _refuse_missing(graph)
    marks = marks_of(graph)
    return replace(graph, nodes=tuple(_named(n, marks) if n.uid is None else n for n in graph.nodes))


def _named(node: StreamNode, marks: Mapping[int, Mark]) -> StreamNode:
    return replace(node, uid=f"auto-{node.node_id}-{node.name}", mark=marks[node.node_id])


def _refuse_missing(graph: StreamGraph) -> None:
    for node in graph.nodes:
        if node.uid is None:
            raise ProgramError(
                f"Operator '{node.name}' has no uid, and automatic uids are disabled ({AUTO_UIDS.key} is "
                "false): give it one with .uid(...)"
            )
