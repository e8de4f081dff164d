"""Operator specs: frozen, picklable; each says what an operator does, none does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.core.functions import KeyedProcessFunction, ProcessFunction
from penstock.core.sink import Sink
from penstock.core.source import Source
from penstock.core.watermark import WatermarkStrategy

__all__ = [
    "CollectSpec",
    "FunctionSinkSpec",
    "KeyedProcessSpec",
    "OperatorSpec",
    "ProcessSpec",
    "SinkSpec",
    "SourceSpec",
    "TimestampsSpec",
    "TransformSpec",
]


@dataclass(frozen=True, slots=True)
class OperatorSpec:
    """Base of specs. `stateless`: needs neither state nor the clock, so may run beside the source (level 0)."""

    @property
    def stateless(self) -> bool:
        return False

    @property
    def is_sink(self) -> bool:
        return False

    @property
    def is_keyed(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class SourceSpec(OperatorSpec):
    """Where records come from; `strategy` is applied in each split, beside the source if it needs no state (T7)."""

    source: Source
    strategy: WatermarkStrategy | None = None

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
        return True


@dataclass(frozen=True, slots=True)
class TimestampsSpec(OperatorSpec):
    """Assigns timestamps and emits watermarks."""

    strategy: WatermarkStrategy

    @property
    def stateless(self) -> bool:
        return self.strategy.stateless


@dataclass(frozen=True, slots=True)
class ProcessSpec(OperatorSpec):
    """A `ProcessFunction`."""

    function: ProcessFunction


@dataclass(frozen=True, slots=True)
class KeyedProcessSpec(OperatorSpec):
    """A `KeyedProcessFunction`; rolling aggregates are made of it too."""

    function: KeyedProcessFunction

    @property
    def is_keyed(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class SinkSpec(OperatorSpec):
    """A two-phase sink: its committables live in state."""

    sink: Sink

    @property
    def is_sink(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class FunctionSinkSpec(OperatorSpec):
    """A `SinkFunction`, or a plain function of one record."""

    function: Any

    @property
    def is_sink(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class CollectSpec(OperatorSpec):
    """Brings records back to the driver: `print` and `execute_and_collect`."""

    name: str
    printing: bool
    prefix: str = ""
    to_err: bool = False

    @property
    def stateless(self) -> bool:
        return True

    @property
    def is_sink(self) -> bool:
        return True
