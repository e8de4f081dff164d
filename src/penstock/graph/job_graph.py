"""The optimised graph: chains as vertices, parallelism and exchanges decided."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.core.program.partition import Exchange
from penstock.graph.stream_graph import StreamNode

__all__ = ["JobEdge", "JobGraph", "JobVertex"]


@dataclass(frozen=True, slots=True)
class JobEdge:
    """Between two operators of different vertices."""

    source: int
    target: int
    exchange: Exchange
    tag: str | None = None
    input: int = 0


@dataclass(frozen=True, slots=True)
class JobVertex:
    """Operators that run in one task. `links` are the (from, to, tag) inside the chain."""

    nodes: tuple[StreamNode, ...]
    parallelism: int
    links: tuple[tuple[int, int, str | None], ...] = ()

    @property
    def head(self) -> StreamNode:
        """The first operator of the chain, which receives what comes over the edges."""
        return self.nodes[0]

    @property
    def name(self) -> str:
        """The operators' names, as they are chained."""
        return " -> ".join(n.name for n in self.nodes)


@dataclass(frozen=True, slots=True)
class JobGraph:
    """Vertices in topological order."""

    name: str
    vertices: tuple[JobVertex, ...]
    edges: tuple[JobEdge, ...]
    max_parallelism: int

    def vertex_of(self, node_id: int) -> JobVertex:
        """The vertex that an operator was chained into."""
        return next(v for v in self.vertices if any(n.node_id == node_id for n in v.nodes))

    @property
    def subtasks(self) -> int:
        """How many parallel instances there are in all."""
        return sum(v.parallelism for v in self.vertices)
