"""The physical job as runtimes get it: vertices in levels, edges between them. Frozen and picklable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.core.config.options.job import WATERMARK_RECORDS
from penstock.core.config.options.tuning import (
    CHUNK_RECORDS,
    SORT_BUDGET,
    SOURCE_BUFFER,
    SOURCE_CANCEL_TIMEOUT,
    STATE_BUDGET,
    STATE_PAGE,
)
from penstock.core.contracts.source import Source
from penstock.core.program.marks import Mark
from penstock.core.program.partition import Exchange
from penstock.core.program.poison import FAIL, PoisonPolicy
from penstock.core.program.specs import CollectSpec, OperatorSpec, SourceSpec
from penstock.core.types.type_info import TypeInformation

__all__ = ["ChainedOperator", "InEdge", "JobPlan", "OutEdge", "RuntimeSettings", "Vertex"]


@dataclass(frozen=True, slots=True)
class ChainedOperator:
    """One operator of a chain. `consumers`: (tag or None, index in the chain) of those it feeds directly.

    `types`: declared for its outputs, by tag. `mark`: goes with a uid that was generated.
    """

    uid: str
    name: str
    spec: OperatorSpec
    consumers: tuple[tuple[str | None, int], ...] = ()
    poison: PoisonPolicy | None = None
    types: tuple[tuple[str | None, TypeInformation], ...] = ()
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class InEdge:
    """An edge as its receiver sees it. `input`: which of the operator's inputs it feeds."""

    edge_id: int
    senders: int
    forward: bool = False
    input: int = 0


@dataclass(frozen=True, slots=True)
class OutEdge:
    """An edge as its sender sees it. `operator` is the index in the chain that feeds it."""

    edge_id: int
    operator: int
    tag: str | None
    target: int
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Vertex:
    """A chain of operators with its place in the line. `parallelism`: how many subtasks run it.

    A source vertex has a subtask for each split; `split_count` says how many.
    """

    vertex_id: int
    level: int
    parallelism: int
    first_partition: int
    operators: tuple[ChainedOperator, ...]
    in_edges: tuple[InEdge, ...]
    out_edges: tuple[OutEdge, ...]

    @property
    def uid(self) -> str:
        """The uid of the first operator, which stands for the vertex."""
        return self.operators[0].uid

    @property
    def name(self) -> str:
        """The operators' names, as they are chained."""
        return " -> ".join(op.name for op in self.operators)

    @property
    def is_source(self) -> bool:
        """Whether the vertex begins with a source, so that it runs in the readers of level 0."""
        return isinstance(self.operators[0].spec, SourceSpec)

    @property
    def split_count(self) -> int:
        """How many splits a source vertex reads, each in a subtask of its own."""
        assert self.is_source
        return self.parallelism

    @property
    def source(self) -> Source:
        """The source that a source vertex reads; must not be called on another vertex."""
        spec = self.operators[0].spec
        assert isinstance(spec, SourceSpec)
        return spec.source


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """Settings that workers need."""

    chunk_records: int = CHUNK_RECORDS.default
    chunk_bytes: int = 4 << 20
    watermark_records: int = WATERMARK_RECORDS.default
    periodic_watermarks: bool = True
    per_record_watermarks: bool = False
    object_reuse: bool = False
    batch_mode: bool = False
    page_bytes: int = STATE_PAGE.default
    state_budget_bytes: int = STATE_BUDGET.default
    sort_budget_bytes: int = SORT_BUDGET.default
    source_buffer_records: int = SOURCE_BUFFER.default
    source_cancel_timeout_ms: int = SOURCE_CANCEL_TIMEOUT.default
    job_parameters: Mapping[str, str] = field(default_factory=dict)
    heavy_keys: int = 0
    count_late: bool = False
    poison: PoisonPolicy = FAIL
    shipped_paths: tuple[str, ...] = ()
    in_archive_folder: bool = False
    first_batch: int = 0
    accept_changed_program: bool = False


@dataclass(frozen=True, slots=True)
class JobPlan:
    """The line of stages: vertices by level; every level has `partitions` Spark partitions.

    `timeless`: the uids of operators that no watermark can reach, so that event-time timers would never fire.
    """

    name: str
    vertices: tuple[Vertex, ...]
    partitions: int
    max_parallelism: int
    settings: RuntimeSettings
    timeless: frozenset[str] = frozenset()

    @property
    def stage_count(self) -> int:
        """How many levels there are after the sources'."""
        return max((v.level for v in self.vertices), default=0)

    def vertex(self, vertex_id: int) -> Vertex:
        """The vertex with this number."""
        return self.vertices[vertex_id]

    @property
    def sources(self) -> tuple[Vertex, ...]:
        """The vertices of level 0."""
        return tuple(v for v in self.vertices if v.is_source)

    @property
    def collected(self) -> tuple[CollectSpec, ...]:
        """Where results are gathered for the caller, or printed."""
        return tuple(op.spec for v in self.vertices for op in v.operators if isinstance(op.spec, CollectSpec))

    def at_level(self, level: int) -> tuple[Vertex, ...]:
        """The vertices that stage `level` runs."""
        return tuple(v for v in self.vertices if v.level == level)

    def partition_of(self, vertex: Vertex, subtask: int) -> int:
        """The Spark partition that hosts a subtask."""
        return (vertex.first_partition + subtask) % self.partitions

    def subtask_at(self, vertex: Vertex, partition: int) -> int | None:
        """Which subtask of a vertex a partition hosts, if any."""
        subtask = (partition - vertex.first_partition) % self.partitions
        return subtask if subtask < vertex.parallelism else None
