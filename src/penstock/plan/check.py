"""Refuses mistakes in the program before anything runs."""

from __future__ import annotations

import warnings
from collections import Counter

from penstock.core.errors import ProgramError
from penstock.core.program.partition import Hash
from penstock.core.program.specs import SourceSpec
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["check"]


def check(graph: StreamGraph, _options: PlanOptions) -> StreamGraph:
    """Afterwards: there are operators, uids are unique, keyed operators have keyed inputs.

    Operators whose records go nowhere have been warned about: a job may be run for what its functions do.
    """
    if not graph.nodes:
        raise ProgramError(f"Job '{graph.name}' has no operators: create a stream, e.g. with env.from_collection(...)")
    _check_uids(graph)
    for node in graph.nodes:
        _check_keyed(graph, node)
        _check_consumed(graph, node)
    return graph


def _check_uids(graph: StreamGraph) -> None:
    for uid, count in Counter(n.uid for n in graph.nodes if n.uid is not None).items():
        if count > 1:
            names = ", ".join(f"'{n.name}'" for n in graph.nodes if n.uid == uid)
            raise ProgramError(f"uid {uid!r} is used by {count} operators ({names}): a uid must be unique in the job")


def _check_keyed(graph: StreamGraph, node: StreamNode) -> None:
    edges = [e for e in graph.inputs(node.node_id) if node.spec.keyed_input(e.input)]
    if not all(isinstance(e.exchange, Hash) for e in edges):
        raise ProgramError(f"Operator '{node.name}' keeps keyed state but its input is not keyed: call key_by first")


def _check_consumed(graph: StreamGraph, node: StreamNode) -> None:
    if node.spec.is_sink or graph.outputs(node.node_id):
        return
    way_out = "Add one, e.g. .print(), .sink_to(...) or .execute_and_collect()"
    if isinstance(node.spec, SourceSpec):
        raise ProgramError(f"Source '{node.name}' has no sink: its records go nowhere. {way_out}")
    warnings.warn(
        f"Operator '{node.name}' has no sink: it runs, and its records go nowhere. {way_out}",
        RuntimeWarning,
        stacklevel=4,
    )
