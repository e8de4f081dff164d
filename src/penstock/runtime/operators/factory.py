"""From spec to live operator: one visible map."""

from __future__ import annotations

from collections.abc import Callable

from penstock.core.job import ChainedOperator
from penstock.core.specs import (
    CollectSpec,
    KeyedProcessSpec,
    OperatorSpec,
    ProcessSpec,
    SinkSpec,
    TimestampsSpec,
    TransformSpec,
)
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.process import KeyedProcessOperator, ProcessOperator
from penstock.runtime.operators.sink import CollectOperator, SinkOperator
from penstock.runtime.operators.timestamps import TimestampsOperator
from penstock.runtime.operators.transform import FilterOperator, FlatMapOperator, MapOperator

__all__ = ["build_operator"]

_TRANSFORMS: dict[str, Callable[[ChainedOperator, TaskContext], Operator]] = {
    "map": MapOperator,
    "flat_map": FlatMapOperator,
    "filter": FilterOperator,
}

_OPERATORS: dict[type[OperatorSpec], Callable[[ChainedOperator, TaskContext], Operator]] = {
    TimestampsSpec: TimestampsOperator,
    ProcessSpec: ProcessOperator,
    KeyedProcessSpec: KeyedProcessOperator,
    SinkSpec: SinkOperator,
    CollectSpec: CollectOperator,
}


def build_operator(desc: ChainedOperator, task: TaskContext) -> Operator:
    """The live operator of a spec."""
    if isinstance(desc.spec, TransformSpec):
        return _TRANSFORMS[desc.spec.kind](desc, task)
    return _OPERATORS[type(desc.spec)](desc, task)
