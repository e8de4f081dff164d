"""Keyed state as functions see it: handles, and the descriptors that name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic

from penstock.core.state.ttl import StateTtlConfig
from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import ACC, IN, OUT, K, T, V

if TYPE_CHECKING:
    from penstock.core.functions.base import AggregateFunction, ReduceFunction

__all__ = [
    "AggregatingState",
    "AggregatingStateDescriptor",
    "AppendingState",
    "BroadcastState",
    "ListState",
    "ListStateDescriptor",
    "MapState",
    "MapStateDescriptor",
    "MergingState",
    "ReadOnlyBroadcastState",
    "ReducingState",
    "ReducingStateDescriptor",
    "State",
    "StateDescriptor",
    "StateTtlConfig",
    "ValueState",
    "ValueStateDescriptor",
]


class State(ABC):
    """State of the current key."""

    @abstractmethod
    def clear(self) -> None:
        """Forget what is stored under the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    @abstractmethod
    def value(self) -> T | None:
        """The current key's value, or None."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Replace it; None clears. The value is fixed now: mutating it later changes nothing."""


class AppendingState(State, Generic[IN, OUT]):
    """State that values are added to."""

    @abstractmethod
    def get(self) -> OUT:
        """The combined value; None if nothing was added."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add one."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state that can be merged."""


class ReducingState(MergingState[T, T | None]):
    """All values added, reduced to one."""


class AggregatingState(MergingState[IN, OUT]):
    """All values added, folded into an accumulator."""


class ListState(MergingState[T, Iterable[T]]):
    """A list per key. Long lists are kept in segments; an append writes only the last one."""

    @abstractmethod
    def update(self, values: list[T]) -> None:
        """Replace the whole list."""

    @abstractmethod
    def add_all(self, values: list[T]) -> None:
        """Append several."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class _ReadableMap(State, Generic[K, V]):
    """The reading side of a map."""

    @abstractmethod
    def get(self, key: K) -> V | None: ...
    @abstractmethod
    def contains(self, key: K) -> bool: ...
    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]: ...
    @abstractmethod
    def keys(self) -> Iterable[K]: ...
    @abstractmethod
    def values(self) -> Iterable[V]: ...
    @abstractmethod
    def is_empty(self) -> bool: ...

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class MapState(_ReadableMap[K, V]):
    """A map per key. Large maps are split by hash; a change writes only its part."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key; nothing happens if it is not there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class ReadOnlyBroadcastState(_ReadableMap[K, V]):
    """Broadcast state, for reading only."""


class BroadcastState(ReadOnlyBroadcastState[K, V]):
    """The same map in every subtask; changed on the broadcast side only."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: dict[K, V]) -> None:
        """Set the values of several keys."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove a key; nothing happens if it is not there."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class StateDescriptor(Subscriptable, ABC):
    """Names a state. The name is unique in its operator; the same name finds the same state after a restart."""

    kind = "state"

    def __init__(self, name: str, type_info: TypeInformation | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"A state descriptor needs a non-empty name, got {name!r}")
        self.name = name
        self.type_info = type_info
        self.ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        """The name that the state is found by, unique within its operator."""
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """Let entries expire."""
        if not isinstance(ttl_config, StateTtlConfig):
            raise TypeError(f"enable_time_to_live() takes a StateTtlConfig, got {type(ttl_config).__name__}")
        self.ttl_config = ttl_config if ttl_config.is_enabled() else None


class ValueStateDescriptor(StateDescriptor, Generic[T]):
    """Names a `ValueState`."""

    kind = "value"

    def __init__(self, name: str, value_type_info: TypeInformation[T] | None = None) -> None:
        super().__init__(name, value_type_info)


class ListStateDescriptor(StateDescriptor, Generic[T]):
    """Names a `ListState`."""

    kind = "list"

    def __init__(self, name: str, elem_type_info: TypeInformation[T] | None = None) -> None:
        super().__init__(name, elem_type_info)


class MapStateDescriptor(StateDescriptor, Generic[K, V]):
    """Names a `MapState`."""

    kind = "map"

    def __init__(
        self,
        name: str,
        key_type_info: TypeInformation[K] | None = None,
        value_type_info: TypeInformation[V] | None = None,
    ) -> None:
        super().__init__(name, value_type_info)
        self.key_type_info = key_type_info


class ReducingStateDescriptor(StateDescriptor, Generic[T]):
    """Names a `ReducingState` and says how to reduce."""

    kind = "reducing"

    def __init__(
        self,
        name: str,
        reduce_function: Callable[[T, T], T] | ReduceFunction[T],
        type_info: TypeInformation[T] | None = None,
    ) -> None:
        super().__init__(name, type_info)
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> Callable[[T, T], T] | ReduceFunction[T]:
        """The function that combines two values."""
        return self._reduce_function


class AggregatingStateDescriptor(StateDescriptor, Generic[IN, ACC, OUT]):
    """Names an `AggregatingState` and says how to aggregate."""

    kind = "aggregating"

    def __init__(
        self,
        name: str,
        agg_function: AggregateFunction[IN, ACC, OUT],
        state_type_info: TypeInformation[ACC] | None = None,
    ) -> None:
        super().__init__(name, state_type_info)
        self._agg_function = agg_function

    def get_agg_function(self) -> AggregateFunction[IN, ACC, OUT]:
        """The function that adds values to the accumulator."""
        return self._agg_function
