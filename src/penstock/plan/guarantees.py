"""Says which paths cannot give what users may expect of them (F7)."""

from __future__ import annotations

import warnings

from penstock.core.specs import SourceSpec
from penstock.graph.stream_graph import StreamGraph

__all__ = ["note_guarantees"]


def note_guarantees(graph: StreamGraph) -> StreamGraph:
    """Afterwards: the graph is the same; every source that cannot rewind has been warned about."""
    for node in graph.nodes:
        if isinstance(node.spec, SourceSpec) and not node.spec.source.replayable:
            warnings.warn(
                f"'{node.name}' cannot rewind: after a failure it starts anew, and records that were not yet durable "
                "are lost (at-most-once). A Source with offsets gives more",
                RuntimeWarning,
                stacklevel=2,
            )
    return graph
