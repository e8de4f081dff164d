"""Decides the parallelism of every operator."""

from __future__ import annotations

from dataclasses import replace

from penstock.core.errors import ProgramError
from penstock.core.program.specs import CollectSpec, SourceSpec
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["assign_parallelism"]


def assign_parallelism(graph: StreamGraph, options: PlanOptions) -> StreamGraph:
    """Afterwards: every node's parallelism is a number from 1 to the maximum parallelism.

    A collecting sink runs beside what it collects, so that records arrive as that emitted them; where it collects
    streams of different widths, in one subtask.
    """
    sized = replace(graph, nodes=tuple(_assigned(n, options.parallelism, options.max_parallelism) for n in graph.nodes))
    widths = {n.node_id: n.parallelism for n in sized.nodes}
    return replace(sized, nodes=tuple(_beside_input(graph, n, widths) for n in sized.nodes))


def _beside_input(graph: StreamGraph, node: StreamNode, widths: dict[int, int | None]) -> StreamNode:
    given = next(n.parallelism for n in graph.nodes if n.node_id == node.node_id)
    if not isinstance(node.spec, CollectSpec) or node.spec.printing or given is not None:
        return node
    found = {widths[edge.source] for edge in graph.inputs(node.node_id)}
    return replace(node, parallelism=found.pop() if len(found) == 1 else 1)


def _assigned(node: StreamNode, default: int, max_parallelism: int) -> StreamNode:
    wanted = default if node.parallelism is None else node.parallelism
    if isinstance(node.spec, SourceSpec):
        wanted = _source_parallelism(node, node.spec, wanted)
    if not 1 <= wanted <= max_parallelism:
        raise ProgramError(
            f"Operator '{node.name}' asks for parallelism {wanted}: it must be between 1 and the maximum "
            f"parallelism {max_parallelism}"
        )
    if node.max_parallelism is not None and wanted > node.max_parallelism:
        raise ProgramError(
            f"Operator '{node.name}' asks for parallelism {wanted}, but its own maximum is {node.max_parallelism}: "
            "lower the one or raise the other"
        )
    return replace(node, parallelism=wanted)


def _source_parallelism(node: StreamNode, spec: SourceSpec, wanted: int) -> int:
    possible = spec.source.split_parallelism(wanted)
    if node.parallelism is not None and possible < node.parallelism:
        raise ProgramError(
            f"Source '{node.name}' asks for parallelism {wanted} but cannot be read by more than {possible} subtask(s)"
        )
    return possible
