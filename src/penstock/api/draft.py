"""Operators while the program is being written; frozen into a `StreamGraph` when it runs."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.core.partition import Exchange
from penstock.core.specs import OperatorSpec
from penstock.graph.stream_graph import ChainStrategy, StreamEdge, StreamNode

__all__ = ["Draft", "Feed"]


@dataclass(slots=True)
class Draft:
    """A node that can still be named, given a uid, a parallelism."""

    node_id: int
    name: str
    spec: OperatorSpec
    inputs: tuple[Feed, ...] = ()
    uid: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    chain: str = ChainStrategy.ALWAYS
    description: str | None = None

    def freeze(self) -> StreamNode:
        return StreamNode(
            self.node_id,
            self.name,
            self.spec,
            self.uid,
            self.parallelism,
            self.max_parallelism,
            self.chain,
            self.description,
        )

    def edges(self) -> list[StreamEdge]:
        return [StreamEdge(f.source.node_id, self.node_id, f.exchange, f.tag) for f in self.inputs]


@dataclass(frozen=True, slots=True)
class Feed:
    """What a stream is made of: an operator's output (or a tag of it), and how it is to be exchanged."""

    source: Draft
    tag: str | None = None
    exchange: Exchange | None = None
