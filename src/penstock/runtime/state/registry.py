"""The page of state kinds: what each kind is called, which descriptor names it and which handles read and write it.

To add a kind: give it a handle class and a descriptor in `core/state/keyed.py`, a live handle in `handles.py`, and a
line in `STATE_KINDS`. Everything else (tables in pages, time to live, refusals of a changed kind, windows, the state
editor) finds it here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.core.functions.base import ReduceFunction
from penstock.core.state.keyed import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    State,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.runtime.state.handles import (
    PagedAggregatingState,
    PagedListState,
    PagedMapState,
    PagedReducingState,
    PagedValueState,
)
from penstock.runtime.state.ttl import (
    TtlAggregatingState,
    TtlListState,
    TtlMapState,
    TtlReducingState,
    TtlValueState,
)

if TYPE_CHECKING:
    from penstock.runtime.state.backend import KeyedBackend
    from penstock.runtime.state.space import StateSpace
    from penstock.runtime.state.sweep import Lifetime

__all__ = ["STATE_KINDS", "StateKind"]


class StateKind(NamedTuple):
    """A kind of keyed state.

    `descriptor` names states of this kind; its `kind` is the name under which it stands in `STATE_KINDS`, in the names
    of tables and in savepoints, so it never changes. `plain` makes the handle of a state: given the space that keeps
    it, the name of its table and its descriptor. `timed` makes the handle of a state with a time to live; None if
    states of this kind cannot have one.
    """

    descriptor: type[StateDescriptor]
    plain: Callable[[StateSpace, str, Any], State]
    timed: Callable[[KeyedBackend, str, Lifetime, Any], State] | None = None


def _reduce(descriptor: ReducingStateDescriptor) -> Callable[[Any, Any], object]:
    function = descriptor.get_reduce_function()
    return function.reduce if isinstance(function, ReduceFunction) else function


_ALL = (
    StateKind(
        ValueStateDescriptor,
        lambda space, table, descriptor: PagedValueState(space, table),
        lambda backend, table, life, descriptor: TtlValueState(backend, table, life),
    ),
    StateKind(
        ListStateDescriptor,
        lambda space, table, descriptor: PagedListState(space, table),
        lambda backend, table, life, descriptor: TtlListState(backend, table, life),
    ),
    StateKind(
        MapStateDescriptor,
        lambda space, table, descriptor: PagedMapState(space, table),
        lambda backend, table, life, descriptor: TtlMapState(backend, table, life),
    ),
    StateKind(
        ReducingStateDescriptor,
        lambda space, table, descriptor: PagedReducingState(space, table, _reduce(descriptor)),
        lambda backend, table, life, descriptor: TtlReducingState(backend, table, life, _reduce(descriptor)),
    ),
    StateKind(
        AggregatingStateDescriptor,
        lambda space, table, descriptor: PagedAggregatingState(space, table, descriptor.get_agg_function()),
        lambda backend, table, life, descriptor: TtlAggregatingState(
            backend, table, life, descriptor.get_agg_function()
        ),
    ),
)

STATE_KINDS: dict[str, StateKind] = {kind.descriptor.kind: kind for kind in _ALL}
"""Every kind of keyed state by its name."""
