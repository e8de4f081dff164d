"""Chooses the window operator for a spec."""

from __future__ import annotations

from typing import Any

from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import WindowSpec
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.windows.aligned import AlignedWindowOperator, is_aligned
from penstock.runtime.operators.windows.guarded import guarded, guarded_functions
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.operators.windows.panes import PaneWindowOperator, shares_panes
from penstock.runtime.operators.windows.sessions import SessionWindowOperator, are_sessions

__all__ = ["guarded_window_operator", "window_class", "window_operator"]


def window_class(spec: WindowSpec) -> type[WindowOperator]:
    """The class of the operator: the general one, unless a faster one gives the same results. Their state differs."""
    if shares_panes(spec):
        return PaneWindowOperator
    if are_sessions(spec):
        return SessionWindowOperator
    return AlignedWindowOperator if is_aligned(spec) else WindowOperator


def window_operator(desc: ChainedOperator, task: TaskContext) -> WindowOperator:
    """The live operator of a window spec."""
    assert isinstance(desc.spec, WindowSpec)
    return window_class(desc.spec)(desc, task)


def guarded_window_operator(desc: ChainedOperator, task: TaskContext) -> WindowOperator:
    """The guarded form of the same operator, with the same state: it goes on without records that fail."""
    assert isinstance(desc.spec, WindowSpec)
    kind: Any = window_class(desc.spec)
    made: WindowOperator = guarded(kind)(guarded_functions(desc), task)
    return made
