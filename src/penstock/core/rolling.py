"""Functions that the runtime can spare the calls of."""

from __future__ import annotations

from typing import Any

from penstock.core.functions import KeyedProcessFunction

__all__ = ["RollingFunction"]


class RollingFunction(KeyedProcessFunction):
    """Emits for each record what it makes of a reducing state of its key, and does nothing else.

    Where `rolled`, set by `open`, is that state, the runtime folds whole chunks into it; where it is None,
    `process_element` is called as ever.
    """

    rolled: Any = None
