"""Builds live operators from specs, by one table."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import (
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

_Make = Callable[[ChainedOperator, TaskContext], Operator]

_TRANSFORMS: dict[str, _Make] = {"map": MapOperator, "flat_map": FlatMapOperator, "filter": FilterOperator}
_GUARDED_TRANSFORMS: dict[str, _Make] = {"map": GuardedFlatMap, "flat_map": GuardedFlatMap, "filter": GuardedFilter}


def _transform(makers: Mapping[str, _Make], desc: ChainedOperator, task: TaskContext) -> Operator:
    assert isinstance(desc.spec, TransformSpec)
    return makers[desc.spec.kind](desc, task)


_OPERATORS: dict[type[OperatorSpec], _Make] = {
    TransformSpec: partial(_transform, _TRANSFORMS),
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
"""The operator of each spec."""

_GUARDED: dict[type[OperatorSpec], _Make] = {
    TransformSpec: partial(_transform, _GUARDED_TRANSFORMS),
    WindowSpec: guarded_window_operator,
    IntervalJoinSpec: GuardedIntervalJoin,
}
"""Operators that go on without records on which their function raises, where a guarded function is not enough."""


def build_operator(desc: ChainedOperator, task: TaskContext) -> Operator:
    """The live operator of a spec, with a function object of its own: subtasks in one process must not share one."""
    desc = replace(desc, spec=own_spec(desc))
    kind = type(desc.spec)
    if (desc.poison or task.settings.poison).guarded:
        return _GUARDED.get(kind, _guarded_function)(desc, task)
    return _OPERATORS[kind](desc, task)


def _guarded_function(desc: ChainedOperator, task: TaskContext) -> Operator:
    """An operator whose function is guarded: calls on which it raises are left out."""
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


def _quicken(one: object) -> None:
    """Give a copied object a dict of its own for its attributes.

    Copying and unpickling fill a dict that shares its keys with the class; CPython 3.11 never learns where in such a
    dict an attribute is, and each access by a user's function takes twice the time.
    """
    attributes = getattr(one, "__dict__", None)
    if type(attributes) is dict:
        with contextlib.suppress(AttributeError, TypeError):
            object.__setattr__(one, "__dict__", {**attributes})
