"""What each path from a source to a sink can promise; asking for more is refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.core.config.options.accepted import CHECKPOINT_MODE
from penstock.core.contracts.guarantees import Guarantee, SinkKind
from penstock.core.errors import ProgramError
from penstock.core.program.specs import SourceSpec
from penstock.graph.stream_graph import StreamGraph, StreamNode
from penstock.plan.options import PlanOptions

__all__ = ["Path", "check_guarantees", "guarantee_lines", "guarantees_text", "paths"]


@dataclass(frozen=True, slots=True)
class Path:
    """From a source to a sink that its records can reach."""

    source: StreamNode
    sink: StreamNode
    rewinds: bool
    kind: SinkKind

    @property
    def gives(self) -> Guarantee:
        """At-most-once from a source that cannot rewind, else what the sink can give."""
        return self.kind.best if self.rewinds else Guarantee.AT_MOST_ONCE

    @property
    def reason(self) -> str:
        """Why the path gives no more, as it stands in brackets behind the guarantee."""
        return self.kind.reason if self.rewinds else "the source cannot rewind"

    def __str__(self) -> str:
        return f"'{self.source.name}' -> '{self.sink.name}'"


def paths(graph: StreamGraph) -> tuple[Path, ...]:
    """All paths, in the order in which their sources, then their sinks, were written."""
    sources = [n for n in graph.nodes if isinstance(n.spec, SourceSpec)]
    return tuple(path for source in sources for path in _paths_from(graph, source))


def _paths_from(graph: StreamGraph, source: StreamNode) -> Iterator[Path]:
    assert isinstance(source.spec, SourceSpec)
    reached = _reached(graph, source.node_id)
    for node in graph.nodes:
        kind = node.spec.sink_kind
        if kind is not None and node.node_id in reached:
            yield Path(source, node, source.spec.source.replayable, kind)


def _reached(graph: StreamGraph, start: int) -> set[int]:
    reached, waiting = {start}, [start]
    while waiting:
        for edge in graph.outputs(waiting.pop()):
            if edge.target not in reached:
                reached.add(edge.target)
                waiting.append(edge.target)
    return reached


def guarantee_lines(graph: StreamGraph) -> tuple[tuple[str, str], ...]:
    """Each path and what it gives; paths that read the same are one line."""
    return tuple(dict.fromkeys((str(path), f"{path.gives} ({path.reason})") for path in paths(graph)))


def guarantees_text(graph: StreamGraph) -> str:
    """The text that a job logs when it starts: one line for each path."""
    lines = (f"{path}: {given}" for path, given in guarantee_lines(graph))
    return "\n".join((f"== Guarantees: {graph.name} ==", *lines))


def check_guarantees(graph: StreamGraph, options: PlanOptions) -> StreamGraph:
    """Afterwards: every path gives what its sink, or `options.asked` for the whole job, asks for.

    Sources that cannot rewind have been warned about.
    """
    for node in graph.nodes:
        if isinstance(node.spec, SourceSpec) and not node.spec.source.replayable:
            _warn(node)
    for path in paths(graph):
        _check(path, options.asked)
    return graph


def _warn(node: StreamNode) -> None:
    warnings.warn(
        f"'{node.name}' cannot rewind: after a failure it starts anew, and records that were not yet durable "
        "are lost (at-most-once). A Source with offsets gives more",
        RuntimeWarning,
        stacklevel=4,
    )


def _check(path: Path, of_job: Guarantee | None) -> None:
    """What the sink asks for decides; only where it asks for nothing does the job's mode count."""
    of_sink = path.sink.spec.asked_guarantee
    if of_sink is not None:
        _refuse_if_less(path, of_sink, f"sink '{path.sink.name}' asks for {of_sink.name}")
    elif of_job is not None and not (path.rewinds and path.kind is SinkKind.SHOWN):
        _refuse_if_less(path, of_job, f"{CHECKPOINT_MODE.key} asks for {of_job.name}")


def _refuse_if_less(path: Path, wanted: Guarantee, who: str) -> None:
    if path.gives < wanted:
        raise ProgramError(f"The path {path} gives {path.gives}, but {who}: {_way_out(path)}")


def _way_out(path: Path) -> str:
    if not path.rewinds:
        return (
            f"'{path.source.name}' cannot rewind. Read from a source with offsets (a PythonSource, files), "
            "or do not ask for a guarantee"
        )
    return (
        f"'{path.sink.name}' is a {path.kind.reason}. Use a Sink with a committer or a TwoPhaseCommitSinkFunction, set "
        "`idempotent = True` on a sink that may be given a record twice, or ask for AT_LEAST_ONCE"
    )
