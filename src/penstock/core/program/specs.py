"""Operator specs: frozen, picklable; each says what an operator does, none does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.core.cep.functions import PatternProcessFunction
from penstock.core.cep.patterns import PatternSpec
from penstock.core.contracts.guarantees import Guarantee, SinkKind
from penstock.core.contracts.sink import Sink, SupportsCommitter, asked_guarantee
from penstock.core.contracts.source import Source
from penstock.core.contracts.transactions import TwoPhaseCommitSinkFunction
from penstock.core.functions.asynchronous import AsyncFunction, AsyncRetryStrategy
from penstock.core.functions.base import Function, KeyedProcessFunction, ProcessFunction
from penstock.core.functions.checkpointed import checkpoint_listener, checkpointed_function
from penstock.core.functions.join import ProcessJoinFunction
from penstock.core.functions.window import ProcessWindowFunction, WindowFunction
from penstock.core.program.output_tag import OutputTag
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.core.types.type_info import TypeInformation
from penstock.core.windows.evictors import Evictor
from penstock.core.windows.triggers import Trigger
from penstock.core.windows.window import WindowAssigner

__all__ = [
    "AsyncSpec",
    "BroadcastSpec",
    "CollectSpec",
    "FunctionSinkSpec",
    "IntervalJoinSpec",
    "IntervalSide",
    "KeyedProcessSpec",
    "OperatorSpec",
    "PatternMatchSpec",
    "ProcessSpec",
    "SinkSpec",
    "SourceSpec",
    "TimestampsSpec",
    "TransformSpec",
    "WindowSpec",
]


@dataclass(frozen=True, slots=True)
class OperatorSpec:
    """Base of specs. `stateless`: needs neither state nor the clock, so may run beside the source (level 0)."""

    @property
    def stateless(self) -> bool:
        """Whether the operator needs neither state nor the clock, so that it may run beside a source at level 0."""
        return False

    @property
    def is_sink(self) -> bool:
        """Whether records end here."""
        return self.sink_kind is not None

    @property
    def sink_kind(self) -> SinkKind | None:
        """How a sink takes records; None for what is no sink."""
        return None

    @property
    def asked_guarantee(self) -> Guarantee | None:
        """The guarantee that the sink was told to give; None if it was told nothing."""
        return None

    @property
    def is_keyed(self) -> bool:
        """Whether the operator keeps state by key."""
        return False

    def keyed_input(self, index: int) -> bool:
        """Whether the records of an input must come with keys."""
        return self.is_keyed


@dataclass(frozen=True, slots=True)
class SourceSpec(OperatorSpec):
    """Where records come from; `strategy` is applied in each split, beside the source if it needs no state.

    `declared`: the form that records are given before anything sees them.
    """

    source: Source
    strategy: WatermarkStrategy | None = None
    declared: TypeInformation | None = None

    @property
    def stateless(self) -> bool:
        return self.strategy is None or self.strategy.stateless


@dataclass(frozen=True, slots=True)
class TransformSpec(OperatorSpec):
    """`map`, `flat_map` or `filter` by a function of one record; `rich` is the function object to open, if any."""

    kind: str
    call: Callable[[Any], Any]
    rich: Any = None

    @property
    def stateless(self) -> bool:
        return checkpointed_function(self) is None and checkpoint_listener(self) is None


@dataclass(frozen=True, slots=True)
class TimestampsSpec(OperatorSpec):
    """Assigns timestamps and emits watermarks."""

    strategy: WatermarkStrategy

    @property
    def stateless(self) -> bool:
        return self.strategy.stateless


@dataclass(frozen=True, slots=True)
class ProcessSpec(OperatorSpec):
    """A `ProcessFunction`, or with two methods a `CoProcessFunction`: one method for each input."""

    function: ProcessFunction | Function
    methods: tuple[str, ...] = ("process_element",)


@dataclass(frozen=True, slots=True)
class KeyedProcessSpec(OperatorSpec):
    """A `KeyedProcessFunction` (rolling aggregates are made of it too), or a `KeyedCoProcessFunction`."""

    function: KeyedProcessFunction | Function
    methods: tuple[str, ...] = ("process_element",)

    @property
    def is_keyed(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class WindowSpec(OperatorSpec):
    """Windows of a keyed stream.

    `combine`: a reduce function or an `AggregateFunction` that keeps one accumulator per window; without it the
    records are kept. `function`: given what was kept; without it the result is emitted as it is.
    """

    assigner: WindowAssigner
    trigger: Trigger
    evictor: Evictor | None = None
    combine: Function | Callable[[Any, Any], Any] | None = None
    function: WindowFunction | ProcessWindowFunction | None = None
    lateness_ms: int = 0
    late_tag: OutputTag | None = None

    @property
    def is_keyed(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class BroadcastSpec(OperatorSpec):
    """A stream (input 0, keyed or not) connected with a broadcast one (input 1); `states` may be broadcast."""

    function: Function
    states: tuple[str, ...]
    keyed: bool
    methods: tuple[str, ...] = ("process_element", "process_broadcast_element")

    @property
    def is_keyed(self) -> bool:
        return self.keyed

    def keyed_input(self, index: int) -> bool:
        return self.keyed and index == 0


@dataclass(frozen=True, slots=True)
class AsyncSpec(OperatorSpec):
    """Asynchronous calls, several at a time."""

    function: AsyncFunction
    timeout_ms: int
    capacity: int
    ordered: bool
    retry: AsyncRetryStrategy


@dataclass(frozen=True, slots=True)
class PatternMatchSpec(OperatorSpec):
    """A pattern looked for in a keyed stream; `comparator` orders events of the same moment."""

    pattern: PatternSpec
    function: PatternProcessFunction
    event_time: bool = True
    late_tag: OutputTag | None = None
    comparator: Any = None

    @property
    def is_keyed(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class IntervalSide:
    """One input: `ts + first … ts + last` of the other side match a record of it.

    `outer`: records that nothing matched are emitted too. `late` names the side output of late records.

    >>> IntervalSide(-5, 5).over(10)
    16
    """

    first: int
    last: int
    outer: bool = False
    late: OutputTag | None = None

    def over(self, timestamp: int) -> int:
        """When nothing can match a record any more: the watermark is past the end of its interval."""
        return min(timestamp + self.last + 1, MAX_TIMESTAMP)

    def expired(self, clock: int) -> int:
        """Records before this timestamp match nothing any more; at the end of time none does."""
        return clock - self.last if clock < MAX_TIMESTAMP else clock + 1


@dataclass(frozen=True, slots=True)
class IntervalJoinSpec(OperatorSpec):
    """Two keyed streams joined by how far apart their records are."""

    function: ProcessJoinFunction
    left: IntervalSide
    right: IntervalSide

    @property
    def is_keyed(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class SinkSpec(OperatorSpec):
    """A `Sink`. If it has a committer, its committables live in state."""

    sink: Sink

    @property
    def sink_kind(self) -> SinkKind:
        if self.sink.write_ahead:
            return SinkKind.WRITE_AHEAD
        if isinstance(self.sink, SupportsCommitter):
            return SinkKind.TWO_PHASE
        return SinkKind.IDEMPOTENT if self.sink.idempotent else SinkKind.PLAIN

    @property
    def asked_guarantee(self) -> Guarantee | None:
        return asked_guarantee(self.sink)


@dataclass(frozen=True, slots=True)
class FunctionSinkSpec(OperatorSpec):
    """A `SinkFunction`, or a plain function of one record."""

    function: Any

    @property
    def sink_kind(self) -> SinkKind:
        if isinstance(self.function, TwoPhaseCommitSinkFunction):
            return SinkKind.TWO_PHASE
        return SinkKind.IDEMPOTENT if getattr(self.function, "idempotent", False) else SinkKind.PLAIN

    @property
    def asked_guarantee(self) -> Guarantee | None:
        return asked_guarantee(self.function)


@dataclass(frozen=True, slots=True)
class CollectSpec(OperatorSpec):
    """Brings records back to the driver: `print` and `execute_and_collect`.

    `shape`: what is collected in place of each record; here, so that records keep their order.
    """

    name: str
    printing: bool
    prefix: str = ""
    to_err: bool = False
    shape: Callable[[Any], Any] | None = None

    @property
    def stateless(self) -> bool:
        return True

    @property
    def sink_kind(self) -> SinkKind:
        return SinkKind.SHOWN
