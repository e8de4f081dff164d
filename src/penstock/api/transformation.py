"""Operators while the program is being written; frozen into a `StreamGraph` when it runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.core.program.partition import Exchange
from penstock.core.program.poison import PoisonPolicy
from penstock.core.program.specs import OperatorSpec, SourceSpec, TimestampsSpec, TransformSpec
from penstock.core.types.type_info import TypeInformation
from penstock.graph.stream_graph import ChainStrategy, StreamEdge, StreamNode

__all__ = ["Transformation", "TransformationInput", "freeze", "upstream"]


@dataclass(slots=True, eq=False)
class Transformation:
    """An operator while the program is being written: it can still be named, given a uid, a parallelism.

    Flink's word. The environment makes one for each call that adds an operator; `freeze` makes a `StreamNode` of it.
    """

    order: int
    name: str
    spec: OperatorSpec
    inputs: tuple[TransformationInput, ...] = ()
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
        return [StreamEdge(numbers[id(read.source)], own, read.exchange, read.tag, read.input) for read in self.inputs]


@dataclass(frozen=True, slots=True)
class TransformationInput:
    """What a transformation reads: another one's output (or a tag of it), and how records are exchanged on the way.

    A stream holds the inputs of the operator that is added to it next. `input` says which input of that operator
    it is.
    """

    source: Transformation
    tag: str | None = None
    exchange: Exchange | None = None
    input: int = 0


def upstream(transformations: Iterable[Transformation]) -> list[Transformation]:
    """These operators and all they read from, directly or not."""
    found: dict[int, Transformation] = {}
    todo = list(transformations)
    while todo:
        transformation = todo.pop()
        if id(transformation) not in found:
            found[id(transformation)] = transformation
            todo.extend(read.source for read in transformation.inputs)
    return list(found.values())


def _without_unused_sources(transformations: list[Transformation]) -> list[Transformation]:
    """All but the sources that no operator reads, as Flink does; a program of sources alone is left as it is."""
    used = {id(read.source) for transformation in transformations for read in transformation.inputs}
    unused = [t for t in transformations if isinstance(t.spec, SourceSpec) and id(t) not in used]
    if len(unused) == len(transformations):
        return transformations
    for transformation in unused:
        warnings.warn(
            f"Source '{transformation.name}' is not used: no operator reads it, and the job runs without it. "
            "Remove it, or add an operator or a sink to it",
            RuntimeWarning,
            stacklevel=5,
        )
    return [transformation for transformation in transformations if transformation not in unused]


def freeze(transformations: Iterable[Transformation]) -> tuple[tuple[StreamNode, ...], tuple[StreamEdge, ...]]:
    """Nodes and edges of operators and of all they read from, numbered in the order in which they were written.

    A stream of a program that has run may be used again in the next one. A source that nothing reads is left out.
    """
    ordered = _without_unused_sources(sorted(upstream(transformations), key=lambda t: t.order))
    numbers = {id(transformation): number for number, transformation in enumerate(ordered, 1)}
    nodes = tuple(transformation.freeze(numbers[id(transformation)]) for transformation in ordered)
    return nodes, tuple(edge for transformation in ordered for edge in transformation.edges(numbers))
