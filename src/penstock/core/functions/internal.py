"""Functions of Penstock's own: state that the runtime may fold by itself, records with a timestamp of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.core.functions.base import KeyedProcessFunction

__all__ = ["RollingFunction", "Stamped"]


class RollingFunction(KeyedProcessFunction):
    """Emits for each record what it makes of a reducing state of its key, and does nothing else.

    The runtime may fold whole chunks into that state, `rolled`, in place of calls of `process_element`. Where
    `only_last` is true, as in BATCH mode, it emits nothing then but has `on_timer` called once for each key, at
    `MAX_TIMESTAMP`. Both are set by `open`.
    """

    rolled: Any = None
    only_last: bool = False


class Stamped(NamedTuple):
    """Yielded by functions of ours on streams with timestamps: `value` leaves with this one, not the input's.

    >>> Stamped("pair", 7).timestamp
    7
    """

    value: Any
    timestamp: int
