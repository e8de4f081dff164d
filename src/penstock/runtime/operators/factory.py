"""From spec to live operator: one visible map."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.job import ChainedOperator
from penstock.core.specs import (
    AsyncSpec,
    BroadcastSpec,
    CollectSpec,
    FunctionSinkSpec,
    IntervalJoinSpec,
    KeyedProcessSpec,
    OperatorSpec,
    PatternMatchSpec,
    ProcessSpec,
    SinkSpec,
    TimestampsSpec,
    TransformSpec,
    WindowSpec,
)
from penstock.runtime.cep.operator import CepOperator
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.asynchronous import AsyncOperator
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.broadcast import BroadcastOperator, KeyedBroadcastOperator
from penstock.runtime.operators.guarded import FunctionGuard, GuardedFilter, GuardedFlatMap
from penstock.runtime.operators.interval_join import GuardedIntervalJoin, IntervalJoinOperator
from penstock.runtime.operators.process import Emitter, KeyedProcessOperator, ProcessOperator
from penstock.runtime.operators.sink import CollectOperator, SinkOperator
from penstock.runtime.operators.sink_function import function_sink
from penstock.runtime.operators.timestamps import TimestampsOperator
from penstock.runtime.operators.transform import FilterOperator, FlatMapOperator, MapOperator
from penstock.runtime.operators.windows.choose import guarded_window_operator, window_operator

__all__ = ["build_operator", "own_spec"]

_TRANSFORMS: dict[str, Callable[[ChainedOperator, TaskContext], Operator]] = {
    "map": MapOperator,
    "flat_map": FlatMapOperator,
    "filter": FilterOperator,
}

_OPERATORS: dict[type[OperatorSpec], Callable[[ChainedOperator, TaskContext], Operator]] = {
    TimestampsSpec: TimestampsOperator,
    ProcessSpec: ProcessOperator,
    KeyedProcessSpec: KeyedProcessOperator,
    BroadcastSpec: lambda desc, task: (KeyedBroadcastOperator if desc.spec.is_keyed else BroadcastOperator)(desc, task),
    WindowSpec: window_operator,
    PatternMatchSpec: CepOperator,
    IntervalJoinSpec: IntervalJoinOperator,
    AsyncSpec: AsyncOperator,
    SinkSpec: SinkOperator,
    FunctionSinkSpec: function_sink,
    CollectSpec: CollectOperator,
}


def build_operator(desc: ChainedOperator, task: TaskContext) -> Operator:
    """The live operator of a spec, with a function object of its own: subtasks in one process must not share one."""
    desc = replace(desc, spec=own_spec(desc))
    if (desc.poison or task.settings.poison).guarded:
        return _guarded(desc, task)
    if isinstance(desc.spec, TransformSpec):
        return _TRANSFORMS[desc.spec.kind](desc, task)
    return _OPERATORS[type(desc.spec)](desc, task)


def _guarded(desc: ChainedOperator, task: TaskContext) -> Operator:
    """An operator that goes on without records that its function raises on (F9)."""
    if isinstance(desc.spec, TransformSpec):
        return GuardedFilter(desc, task) if desc.spec.kind == "filter" else GuardedFlatMap(desc, task)
    if isinstance(desc.spec, WindowSpec):
        return guarded_window_operator(desc, task)
    if isinstance(desc.spec, IntervalJoinSpec):
        return GuardedIntervalJoin(desc, task)
    guard = FunctionGuard(getattr(desc.spec, "function", None))
    operator = _OPERATORS[type(desc.spec)](desc, task)
    if isinstance(operator, Emitter):
        guard.operator = operator
    return operator


def own_spec(desc: ChainedOperator) -> OperatorSpec:
    """A copy of an operator's spec, for one subtask alone."""
    modules = {id(module): module for module in list(sys.modules.values())}
    copies: dict[int, Any] = dict(modules)
    try:
        spec = copy.deepcopy(desc.spec, copies)
    except Exception as error:
        raise ProgramError(
            f"Operator '{desc.name}' (uid {desc.uid}) cannot be copied for its subtasks: "
            f"{type(error).__name__}: {error}. "
            "Create handles, locks and connections in open() instead of keeping them in the function"
        ) from error
    for number in copies.keys() - modules.keys():
        _quicken(copies[number])
    return spec


def _quicken(one: Any) -> None:
    """Give a copied object a dict of its own for its attributes.

    Copying and unpickling fill a dict that shares its keys with the class; CPython 3.11 never learns where in such a
    dict an attribute is, and each access by a user's function takes twice the time.
    """
    attributes = getattr(one, "__dict__", None)
    if type(attributes) is dict:
        with contextlib.suppress(AttributeError, TypeError):
            object.__setattr__(one, "__dict__", {**attributes})
