"""Operators while the program is being written; frozen into a `StreamGraph` when it runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.core.partition import Exchange
from penstock.core.poison import PoisonPolicy
from penstock.core.specs import OperatorSpec, SourceSpec, TimestampsSpec, TransformSpec
from penstock.core.types import TypeInformation
from penstock.graph.stream_graph import ChainStrategy, StreamEdge, StreamNode

__all__ = ["Draft", "Feed", "freeze", "upstream"]


@dataclass(slots=True, eq=False)
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
    poison: PoisonPolicy | None = None
    output_type: TypeInformation | None = None
    side_types: dict[str, TypeInformation] = field(default_factory=dict)

    def _shaped_types(self) -> tuple[tuple[str | None, TypeInformation], ...]:
        """Types that records are to be given here; operators that only choose or stamp records change none."""
        passes = isinstance(self.spec, TimestampsSpec | SourceSpec) or (
            isinstance(self.spec, TransformSpec) and self.spec.kind == "filter"
        )
        main = () if self.output_type is None or passes else ((None, self.output_type),)
        return (*main, *self.side_types.items())

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
            self.poison,
            self._shaped_types(),
        )

    def edges(self, numbers: Mapping[int, int]) -> list[StreamEdge]:
        own = numbers[id(self)]
        return [StreamEdge(numbers[id(f.source)], own, f.exchange, f.tag, f.input) for f in self.inputs]


@dataclass(frozen=True, slots=True)
class Feed:
    """What a stream is made of: an operator's output (or a tag of it), and how it is to be exchanged.

    `input` says which input of the operator that is fed it goes to.
    """

    source: Draft
    tag: str | None = None
    exchange: Exchange | None = None
    input: int = 0


def upstream(drafts: Iterable[Draft]) -> list[Draft]:
    """These operators and all they are fed from."""
    found: dict[int, Draft] = {}
    todo = list(drafts)
    while todo:
        draft = todo.pop()
        if id(draft) not in found:
            found[id(draft)] = draft
            todo.extend(f.source for f in draft.inputs)
    return list(found.values())


def _without_unused_sources(drafts: list[Draft]) -> list[Draft]:
    """All but the sources that no operator reads, as Flink does; a program of sources alone is left as it is."""
    read = {id(feed.source) for draft in drafts for feed in draft.inputs}
    unused = [d for d in drafts if isinstance(d.spec, SourceSpec) and id(d) not in read]
    if len(unused) == len(drafts):
        return drafts
    for draft in unused:
        warnings.warn(
            f"Source '{draft.name}' is not used: no operator reads it, and the job runs without it. "
            "Remove it, or add an operator or a sink to it",
            RuntimeWarning,
            stacklevel=5,
        )
    return [draft for draft in drafts if draft not in unused]


def freeze(drafts: Iterable[Draft]) -> tuple[tuple[StreamNode, ...], tuple[StreamEdge, ...]]:
    """Nodes and edges of operators and of all they are fed from, numbered in the order in which they were written.

    A stream of a program that has run may be used again in the next one. A source that nothing reads is left out.
    """
    ordered = _without_unused_sources(sorted(upstream(drafts), key=lambda d: d.order))
    numbers = {id(draft): number for number, draft in enumerate(ordered, 1)}
    nodes = tuple(draft.freeze(numbers[id(draft)]) for draft in ordered)
    return nodes, tuple(edge for draft in ordered for edge in draft.edges(numbers))
