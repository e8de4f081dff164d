"""Functions the runtime may replace by a faster built-in with the same result."""

from __future__ import annotations

from typing import Any

from penstock.core.functions.base import KeyedProcessFunction

__all__ = ["RollingFunction"]


class RollingFunction(KeyedProcessFunction):
    """Emits for each record what it makes of a reducing state of its key, and does nothing else.

    The runtime may fold whole chunks into that state, `rolled`, in place of calls of `process_element`. Where
    `only_last` is true, as in BATCH mode, it emits nothing then but has `on_timer` called once for each key, at
    `MAX_TIMESTAMP`. Both are set by `open`.
    """

    rolled: Any = None
    only_last: bool = False
