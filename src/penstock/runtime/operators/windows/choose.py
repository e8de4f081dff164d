"""Which of the window operators serves a spec."""

from __future__ import annotations

from penstock.core.job import ChainedOperator
from penstock.core.specs import WindowSpec
from penstock.runtime.context import TaskContext
from penstock.runtime.operators.windows.aligned import AlignedWindowOperator, is_aligned
from penstock.runtime.operators.windows.operator import WindowOperator
from penstock.runtime.operators.windows.panes import PaneWindowOperator, shares_panes
from penstock.runtime.operators.windows.sessions import SessionWindowOperator, are_sessions

__all__ = ["window_operator"]


def window_operator(desc: ChainedOperator, task: TaskContext) -> WindowOperator:
    """The general one, unless a shorter way gives the same."""
    assert isinstance(desc.spec, WindowSpec)
    if shares_panes(desc.spec):
        return PaneWindowOperator(desc, task)
    if are_sessions(desc.spec):
        return SessionWindowOperator(desc, task)
    return AlignedWindowOperator(desc, task) if is_aligned(desc.spec) else WindowOperator(desc, task)
