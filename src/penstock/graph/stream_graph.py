"""The logical graph: what the program says, nothing decided yet."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.core.program.marks import Mark
from penstock.core.program.partition import Exchange
from penstock.core.program.poison import PoisonPolicy
from penstock.core.program.specs import OperatorSpec
from penstock.core.types.type_info import TypeInformation

__all__ = ["ChainStrategy", "StreamEdge", "StreamGraph", "StreamNode"]


class ChainStrategy:
    """How an operator may be chained: with both neighbours, only as head, or with none."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class StreamNode:
    """An operator as written. `parallelism` None: the environment's. `types`: declared, by tag (None: main output).

    `mark`: goes with a uid that was generated.
    """

    node_id: int
    name: str
    spec: OperatorSpec
    uid: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    chain: str = ChainStrategy.ALWAYS
    description: str | None = None
    poison: PoisonPolicy | None = None
    types: tuple[tuple[str | None, TypeInformation], ...] = ()
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class StreamEdge:
    """`exchange` None: forward where parallelism allows, else rebalance. `input`: which of the target's inputs."""

    source: int
    target: int
    exchange: Exchange | None = None
    tag: str | None = None
    input: int = 0


@dataclass(frozen=True, slots=True)
class StreamGraph:
    """All operators and edges of a program, in the order in which they were written."""

    name: str
    nodes: tuple[StreamNode, ...]
    edges: tuple[StreamEdge, ...]

    def node(self, node_id: int) -> StreamNode:
        """The operator with this number, which must exist."""
        return next(n for n in self.nodes if n.node_id == node_id)

    def inputs(self, node_id: int) -> tuple[StreamEdge, ...]:
        """The edges that end at an operator, in the order written."""
        return tuple(e for e in self.edges if e.target == node_id)

    def outputs(self, node_id: int) -> tuple[StreamEdge, ...]:
        """The edges that begin at an operator, in the order written."""
        return tuple(e for e in self.edges if e.source == node_id)
