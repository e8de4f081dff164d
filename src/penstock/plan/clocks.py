"""Operators that wait for event time where event time never comes: warned about when the job is planned."""

from __future__ import annotations

import warnings

from penstock.core.program.job import RuntimeSettings
from penstock.core.program.specs import (
    IntervalJoinSpec,
    OperatorSpec,
    PatternMatchSpec,
    SourceSpec,
    TimestampsSpec,
    WindowSpec,
)
from penstock.core.time.watermarks import CustomGenerator, NoWatermarks, WatermarkStrategy
from penstock.core.windows.triggers import ContinuousEventTimeTrigger, EventTimeTrigger, PurgingTrigger, Trigger
from penstock.graph.job_graph import JobGraph
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["timeless_uids", "warn_of_missing_watermarks"]


def warn_of_missing_watermarks(graph: StreamGraph, options: PlanOptions) -> StreamGraph:
    """Afterwards: operators whose event time stands still for ever have been warned about; the graph is the same."""
    inputs = {n.node_id: [e.source for e in graph.inputs(n.node_id)] for n in graph.nodes}
    silent = _silent_sources(graph.nodes, inputs, options.settings)
    for node in graph.nodes:
        never = _never(node.spec)
        if never and silent[node.node_id]:
            source = silent[node.node_id]
            warnings.warn(
                f"Operator '{node.name}' works in event time, but no watermarks come from '{source}', which never "
                f"ends: {never}. Give the stream watermarks, with assign_timestamps_and_watermarks(...) or a "
                "WatermarkStrategy at the source, or use processing time",
                RuntimeWarning,
                stacklevel=4,
            )
    return graph


def timeless_uids(graph: JobGraph, settings: RuntimeSettings) -> frozenset[str]:
    """The uids of operators whose event time stands still for ever: a timer that they set cannot fire."""
    nodes = tuple(n for vertex in graph.vertices for n in vertex.nodes)
    inputs: dict[int, list[int]] = {n.node_id: [] for n in nodes}
    for edge in graph.edges:
        inputs[edge.target].append(edge.source)
    for vertex in graph.vertices:
        for source, target, _ in vertex.links:
            inputs[target].append(source)
    silent = _silent_sources(nodes, inputs, settings)
    return frozenset(n.uid for n in nodes if n.uid is not None and silent[n.node_id])


def _never(spec: OperatorSpec) -> str | None:
    """What will not happen without watermarks; None for an operator that does not wait for them."""
    if isinstance(spec, WindowSpec) and spec.assigner.is_event_time() and _waits(spec.trigger):
        return "its windows never fire"
    if isinstance(spec, PatternMatchSpec) and spec.event_time:
        return "it waits for the watermark before it looks at a record, and finds no match"
    if isinstance(spec, IntervalJoinSpec):
        return "it never forgets a record, and emits no record that stays without a match"
    return None


def _waits(trigger: Trigger) -> bool:
    """Whether a trigger fires by event time alone. A trigger of the user's is taken not to: we cannot know."""
    while isinstance(trigger, PurgingTrigger):
        trigger = trigger.nested_trigger
    return isinstance(trigger, EventTimeTrigger | ContinuousEventTimeTrigger)


def _silent_sources(
    nodes: tuple[StreamNode, ...], inputs: dict[int, list[int]], settings: RuntimeSettings
) -> dict[int, str | None]:
    """For each operator the source or strategy that holds its clock back for ever, if there is one.

    A clock is the smallest of its inputs', so one silent input is enough; +∞ comes when a bounded one ends.
    """
    found: dict[int, str | None] = {}
    waiting = list(nodes)
    while waiting:
        ready = [n for n in waiting if all(i in found for i in inputs[n.node_id])]
        if not ready:
            return {n.node_id: found.get(n.node_id) for n in nodes}  # a loop, which another pass refuses
        for node in ready:
            found[node.node_id] = _silenced(node, [found[i] for i in inputs[node.node_id]], settings)
        waiting = [n for n in waiting if n.node_id not in found]
    return found


def _silenced(node: StreamNode, before: list[str | None], settings: RuntimeSettings) -> str | None:
    spec = node.spec
    if settings.batch_mode:
        return None
    if isinstance(spec, TimestampsSpec):
        return next(filter(None, before), None) if not _makes(spec.strategy, settings) else None
    if not isinstance(spec, SourceSpec):
        return next(filter(None, before), None)
    if spec.source.bounded or spec.source.emits_watermarks or _makes(spec.strategy, settings):
        return None
    return node.name


def _makes(strategy: WatermarkStrategy | None, settings: RuntimeSettings) -> bool:
    """Whether a strategy makes watermarks; built-in ones do so periodically, which can be switched off."""
    if strategy is None or isinstance(strategy.generator, NoWatermarks):
        return False
    if isinstance(strategy.generator, CustomGenerator):
        return True
    return settings.periodic_watermarks or settings.per_record_watermarks
