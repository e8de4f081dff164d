"""What a drawing says about an operator: its role, its watermarks, its state."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import singledispatch

from penstock.core.contracts.sink import SupportsCommitter
from penstock.core.functions.checkpointed import checkpointed_function
from penstock.core.program.specs import (
    AsyncSpec,
    BroadcastSpec,
    KeyedProcessSpec,
    OperatorSpec,
    PatternMatchSpec,
    SinkSpec,
    SourceSpec,
    TimestampsSpec,
    WindowSpec,
)
from penstock.core.time.watermarks import BoundedOutOfOrderness, IngestionTime, NoWatermarks, WatermarkStrategy
from penstock.core.windows.assigners import SessionWindows, TimeWindows

__all__ = ["NOTE", "STATE", "WATERMARK", "Mark", "marks_of", "role_of"]

_LEFT_OUT = ("Windows", "Window", "Time", "Event", "Processing", "Assigner")

STATE, WATERMARK, NOTE = "state", "watermark", "note"


@dataclass(frozen=True, slots=True)
class Mark:
    """A small sign with a few words; `kind` is STATE, WATERMARK or NOTE."""

    kind: str
    text: str


def role_of(spec: OperatorSpec) -> str:
    """source, operator or sink."""
    return "source" if isinstance(spec, SourceSpec) else "sink" if spec.is_sink else "operator"


def marks_of(spec: OperatorSpec) -> tuple[Mark, ...]:
    """All there is to say about an operator.

    >>> from penstock.core.program.specs import CollectSpec
    >>> marks_of(CollectSpec("results", printing=True))
    ()
    """
    found = tuple(_marks(spec))
    held = Mark(STATE, "operator state")
    return (*found, held) if checkpointed_function(spec) is not None and held not in found else found


@singledispatch
def _marks(spec: OperatorSpec) -> list[Mark]:
    return [Mark(STATE, "keyed state")] if spec.is_keyed else []


@_marks.register
def _(spec: SourceSpec) -> list[Mark]:
    notes = [] if spec.source.replayable else [Mark(NOTE, "cannot rewind")]
    return [Mark(NOTE, "bounded" if spec.source.bounded else "unbounded"), *notes, *_strategy(spec.strategy)]


@_marks.register
def _(spec: TimestampsSpec) -> list[Mark]:
    return _strategy(spec.strategy)


@_marks.register
def _(spec: KeyedProcessSpec) -> list[Mark]:
    return [Mark(STATE, "keyed state")]


@_marks.register
def _(spec: WindowSpec) -> list[Mark]:
    late = [Mark(NOTE, f"allowed lateness {_span(spec.lateness_ms)}")] if spec.lateness_ms else []
    return [Mark(NOTE, _windows(spec.assigner)), *late, Mark(STATE, "keyed state")]


@_marks.register
def _(spec: PatternMatchSpec) -> list[Mark]:
    return [Mark(NOTE, "pattern"), Mark(STATE, "keyed state")]


@_marks.register
def _(spec: BroadcastSpec) -> list[Mark]:
    return [Mark(STATE, "broadcast state"), *([Mark(STATE, "keyed state")] if spec.keyed else [])]


@_marks.register
def _(spec: AsyncSpec) -> list[Mark]:
    return [Mark(NOTE, f"async, {spec.capacity} at a time")]


@_marks.register
def _(spec: SinkSpec) -> list[Mark]:
    return [Mark(STATE, "two-phase commit")] if isinstance(spec.sink, SupportsCommitter) else []


def _strategy(strategy: WatermarkStrategy | None) -> list[Mark]:
    if strategy is None or strategy.without_effect:
        return []
    idle_ms = strategy.idle_timeout_ms
    idle = [] if idle_ms is None else [Mark(NOTE, f"idle after {_span(idle_ms)}")]
    return [Mark(WATERMARK, _generator(strategy.generator)), *idle]


def _generator(generator: object) -> str:
    match generator:
        case BoundedOutOfOrderness(delay_ms=0):
            return "monotonous"
        case BoundedOutOfOrderness(delay_ms=delay_ms):
            return f"{_span(delay_ms)} out of order"
        case NoWatermarks():
            return "timestamps only"
        case IngestionTime():
            return "ingestion time"
    return "own watermarks"


def _windows(assigner: object) -> str:
    """`TumblingEventTimeWindows(5000, ...)` in words; event time goes without saying."""
    words = re.findall(r"[A-Z][a-z]+", type(assigner).__name__.lstrip("_"))
    kind = " ".join(word.lower() for word in words if word not in _LEFT_OUT)
    clock = ["processing time"] if "Processing" in words else []
    return ", ".join([f"{kind} windows", *filter(None, [_sizes(assigner)]), *clock])


def _sizes(assigner: object) -> str:
    if isinstance(assigner, TimeWindows):
        slide = "" if assigner.slide_ms == assigner.size_ms else f" / {_span(assigner.slide_ms)}"
        return _span(assigner.size_ms) + slide
    numbers = re.findall(r"\d+", repr(assigner)) if type(assigner).__module__ == TimeWindows.__module__ else []
    if isinstance(assigner, SessionWindows):
        return "".join(_span(int(number)) for number in numbers[:1])
    return " / ".join(numbers)


def _span(length_ms: int) -> str:
    """
    >>> _span(500), _span(5_000), _span(90_000), _span(3_600_000)
    ('500 ms', '5 s', '90 s', '1 h')
    """
    for size, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")):
        if length_ms and length_ms % size == 0:
            return f"{length_ms // size} {unit}"
    return f"{length_ms} ms"
