"""Deals operator state out to another number of subtasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from penstock.core.program.specs import FunctionSinkSpec, OperatorSpec, SinkSpec, TimestampsSpec
from penstock.runtime.context import WatermarkChannel
from penstock.runtime.operators.sink import committables
from penstock.runtime.values import Stored
from penstock.runtime.valve import ValveState

__all__ = ["Share", "redistribute", "split_items"]

_States = Mapping[int, Any]
"""The snapshots of an operator by old subtask."""


class Share(NamedTuple):
    """The subtask that is given a share, the parallelism now and the parallelism before.

    `committed`: the committables in the savepoint have been committed. `drained`: the job was stopped with the
    watermark +∞, so that no watermark is restored.
    """

    subtask: int
    parallelism: int
    before: int
    committed: bool = False
    drained: bool = False


def redistribute(spec: OperatorSpec, states: _States, share: Share) -> object:
    """The state for `Operator.restore` in one subtask, made of the snapshots of all old subtasks; None for no state."""
    return _RULES.get(type(spec), _any_of)(states, share)


def _any_of(states: _States, share: Share) -> object:
    """Broadcast state is the same in all subtasks: any snapshot will do, even one that others lack."""
    own = states.get(share.subtask % share.before)
    return own if own is not None else next(iter(states.values()), None)


def _pending(states: _States, share: Share) -> object:
    """Committables: the first subtask sends all of them to the driver again, unless they have been committed for good.

    Their generation is dropped: batches are counted from the start again, so the sink begins a new one.
    """
    if share.committed or share.subtask:
        return None
    return [item for subtask in sorted(states) for item in committables(states[subtask])] or None


def _generators(states: _States, share: Share) -> object:
    """Watermark generators: that of a source split follows the split, that of a whole subtask goes to its successor."""
    if share.drained or not states:
        return None
    watches: dict[WatermarkChannel, Any] = {}
    marks: dict[WatermarkChannel, int] = {}
    idle: set[WatermarkChannel] = set()
    ended: set[WatermarkChannel] = set()
    successor = share.subtask % share.before
    for subtask in sorted(states, key=lambda s: s == successor):  # the successor's own comes last and wins
        valve, seen = states[subtask]
        for channel in valve.marks:
            idle.discard(channel)
            ended.discard(channel)
        marks.update(valve.marks)
        idle |= valve.idle
        ended |= valve.ended
        watches.update(seen)
    clocks = {subtask: valve.clock for subtask, (valve, _) in states.items()}
    same = share.before == share.parallelism and share.subtask in clocks
    clock = clocks[share.subtask] if same else min(clocks.values())
    return ValveState(marks, frozenset(idle), frozenset(ended), clock), watches


_RULES: dict[type[OperatorSpec], Callable[[_States, Share], object]] = {
    SinkSpec: _pending,
    FunctionSinkSpec: _pending,
    TimestampsSpec: _generators,
}


def split_items(lists: Mapping[int, list[Stored]], share: Share) -> list[Stored]:
    """The items of one subtask: its own if there are as many as before, else an even part of all, in order.

    >>> [split_items({0: [1, 2, 3], 1: [4]}, Share(s, 3, 2)) for s in range(3)]
    [[1, 2], [3], [4]]
    """
    if share.before == share.parallelism:
        return lists.get(share.subtask, [])
    items = [item for subtask in sorted(lists) for item in lists[subtask]]
    size, more = divmod(len(items), share.parallelism)
    start = share.subtask * size + min(share.subtask, more)
    return items[start : start + size + (share.subtask < more)]
