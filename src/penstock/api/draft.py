"""Operators while the program is being written; frozen into a `StreamGraph` when it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.core.partition import Exchange
from penstock.core.specs import OperatorSpec
from penstock.graph.stream_graph import ChainStrategy, StreamEdge, StreamNode

__all__ = ["Draft", "Feed", "freeze", "reached"]


@dataclass(slots=True)
class Draft:
    """A node that can still be named, given a uid, a parallelism."""

    order: int
    name: str
    spec: OperatorSpec
    inputs: tuple[Feed, ...] = ()
    uid: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    chain: str = ChainStrategy.ALWAYS
    description: str | None = None

    def freeze(self, node_id: int) -> StreamNode:
        return StreamNode(
            node_id,
            self.name,
            self.spec,
            self.uid,
            self.parallelism,
            self.max_parallelism,
            self.chain,
            self.description,
        )

    def edges(self, numbers: Mapping[int, int]) -> list[StreamEdge]:
        return [StreamEdge(numbers[id(f.source)], numbers[id(self)], f.exchange, f.tag) for f in self.inputs]


@dataclass(frozen=True, slots=True)
class Feed:
    """What a stream is made of: an operator's output (or a tag of it), and how it is to be exchanged."""

    source: Draft
    tag: str | None = None
    exchange: Exchange | None = None


def reached(drafts: Iterable[Draft]) -> list[Draft]:
    """Operators and all they are fed from."""
    found: dict[int, Draft] = {}
    todo = list(drafts)
    while todo:
        draft = todo.pop()
        if id(draft) not in found:
            found[id(draft)] = draft
            todo.extend(f.source for f in draft.inputs)
    return list(found.values())


def freeze(drafts: Iterable[Draft]) -> tuple[tuple[StreamNode, ...], tuple[StreamEdge, ...]]:
    """Nodes and edges of operators and of all they are fed from, numbered in the order in which they were written.

    A stream of a program that has run may be used again in the next one.
    """
    ordered = sorted(reached(drafts), key=lambda d: d.order)
    numbers = {id(draft): number for number, draft in enumerate(ordered, 1)}
    nodes = tuple(draft.freeze(numbers[id(draft)]) for draft in ordered)
    return nodes, tuple(edge for draft in ordered for edge in draft.edges(numbers))
