"""Which of the window operators serves a spec."""

from __future__ import annotations

from typing import Any

from penstock.core.job import ChainedOperator
from penstock.core.specs import WindowSpec
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.windows.aligned import AlignedWindowOperator, is_aligned
from penstock.runtime.operators.windows.guarded import guarded, guarded_functions
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.operators.windows.panes import PaneWindowOperator, shares_panes
from penstock.runtime.operators.windows.sessions import SessionWindowOperator, are_sessions

__all__ = ["guarded_window_operator", "window_operator"]


def window_operator(desc: ChainedOperator, task: TaskContext) -> WindowOperator:
    """The general one, unless a shorter way gives the same."""
    return _kind(desc)(desc, task)


def guarded_window_operator(desc: ChainedOperator, task: TaskContext) -> WindowOperator:
    """The same one, with the same state, that goes on without what a function raises on (F9)."""
    kind: Any = _kind(desc)
    made: WindowOperator = guarded(kind)(guarded_functions(desc), task)
    return made


def _kind(desc: ChainedOperator) -> type[WindowOperator]:
    assert isinstance(desc.spec, WindowSpec)
    if shares_panes(desc.spec):
        return PaneWindowOperator
    if are_sessions(desc.spec):
        return SessionWindowOperator
    return AlignedWindowOperator if is_aligned(desc.spec) else WindowOperator
