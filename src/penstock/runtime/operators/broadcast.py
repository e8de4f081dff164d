"""Operators of streams connected with a broadcast stream, whose maps are the same in every subtask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.functions.connected import KeyedBroadcastProcessFunction
from penstock.core.program.job import ChainedOperator
from penstock.core.program.specs import BroadcastSpec
from penstock.core.state.keyed import BroadcastState, MapStateDescriptor, State, StateDescriptor
from penstock.runtime.codec import decode, encode
from penstock.runtime.context import LiveRuntimeContext, TaskContext
from penstock.runtime.keyhash import subtask_of_group
from penstock.runtime.list_keys import shown
from penstock.runtime.operators.base import Entry, Operator
from penstock.runtime.operators.process import Context, Emitter, KeyedProcessOperator, ProcessOperator
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.tables import table_of
from penstock.runtime.values import Entries, Record

__all__ = ["BroadcastOperator", "KeyedBroadcastOperator"]


class _LiveBroadcastState(BroadcastState[Any, Any]):
    """One broadcast map of the operator; values are detached when put."""

    def __init__(self, table: Entries, touch: Callable[[], None] | None, where: str) -> None:
        self._table, self._touch, self._where = table, touch, where

    def get(self, key: object) -> Any:
        return decode(self._table.get(key))

    def contains(self, key: object) -> bool:
        return key in self._table

    def items(self) -> Iterable[tuple[object, object]]:
        return [(key, decode(value)) for key, value in self._table.items()]

    def keys(self) -> Iterable[Record]:
        return list(self._table)

    def values(self) -> Iterable[Record]:
        return [decode(value) for value in self._table.values()]

    def is_empty(self) -> bool:
        return not self._table

    def put(self, key: object, value: object) -> None:
        self._writable()[key] = encode(value)

    def put_all(self, dict_value: Entries) -> None:
        self._writable().update({key: encode(value) for key, value in dict_value.items()})

    def remove(self, key: object) -> None:
        self._writable().pop(key, None)

    def clear(self) -> None:
        self._writable().clear()

    def _writable(self) -> Entries:
        if self._touch is None:
            raise ProgramError(
                f"{self._where} changes broadcast state in process_element or on_timer, where it is read-only: "
                "subtasks would come to differ. Change it in process_broadcast_element"
            )
        self._touch()
        return self._table


class _BroadcastContext(Context):
    """A context that also reaches the broadcast state; on the broadcast side it may change it."""

    def __init__(self, operator: Emitter, backend: KeyedBackend | None, maps: _Maps, writes: bool) -> None:
        super().__init__(operator, backend)
        self._maps, self._writes = maps, writes

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self._maps.state(state_descriptor, self._writes)

    def current_processing_time(self) -> int:
        return self._timers.current_processing_time()

    def current_watermark(self) -> int:
        return self._timers.current_watermark()


class _KeyedSideContext(_BroadcastContext, KeyedBroadcastProcessFunction.Context):
    """The broadcast side of a keyed stream: reaches the state of all keys."""

    def __init__(self, operator: KeyedBroadcastOperator, maps: _Maps) -> None:
        super().__init__(operator, None, maps, True)
        self._keyed = operator

    def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Callable[[Any, State], None]) -> None:
        self._keyed.apply_to_keyed_state(state_descriptor, function)


class _Maps:
    """The maps that are broadcast: checkpointed whole, in every subtask."""

    def __init__(self, desc: ChainedOperator) -> None:
        assert isinstance(desc.spec, BroadcastSpec)
        self._where = f"Operator '{desc.name}' (uid {desc.uid})"
        self.tables: dict[str, Entries] = {name: {} for name in desc.spec.states}
        self.changed = False

    def restore(self, saved: dict[str, Entries]) -> None:
        for name, table in saved.items():
            self.tables.setdefault(name, {}).update(table)

    def touch(self) -> None:
        self.changed = True

    def state(self, descriptor: MapStateDescriptor, writes: bool) -> BroadcastState[Any, Any]:
        table = self.tables.get(descriptor.name)
        if table is None:
            known = ", ".join(map(repr, self.tables))
            raise ProgramError(
                f"{self._where} asks for the broadcast state {descriptor.name!r}, which was not given to broadcast(): "
                f"it has {known}"
            )
        return _LiveBroadcastState(table, self.touch if writes else None, self._where)


class _Broadcasting(Operator):
    """The base of both broadcast operators: has the maps and their snapshot."""

    _maps: _Maps
    _broadcast_context: Context
    _function: Any
    _methods: tuple[str, ...]

    def restore(self, state: Any) -> None:
        self._maps.restore(state)

    def changed(self) -> bool:
        return self._maps.changed

    def snapshot(self) -> object:
        self._maps.changed = False
        return {name: table for name, table in self._maps.tables.items() if table} or None


class BroadcastOperator(_Broadcasting, ProcessOperator):
    """A `BroadcastProcessFunction`: input 0 reads the maps, input 1 writes them."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._maps = _Maps(desc)
        self._context = _BroadcastContext(self, None, self._maps, False)
        self._broadcast_context = _BroadcastContext(self, None, self._maps, True)

    def entry(self, index: int) -> Entry:
        """Input 0 is given the read-only context, input 1 the one that may write."""
        context, method = (self._context, self._broadcast_context)[index], self._methods[index]
        return lambda values, timestamps, keys: self.run(self._function, method, context, values, timestamps)


class KeyedBroadcastOperator(_Broadcasting, KeyedProcessOperator):
    """A `KeyedBroadcastProcessFunction`: input 0 is keyed."""

    def __init__(self, desc: ChainedOperator, task: TaskContext) -> None:
        super().__init__(desc, task)
        self._maps = _Maps(desc)
        self._context = _BroadcastContext(self, task.backend, self._maps, False)
        self._broadcast_context = _KeyedSideContext(self, self._maps)
        self._runtime: LiveRuntimeContext | None = None

    def open(self) -> None:
        """Open the function, and keep the context for `apply_to_keyed_state`."""
        self._runtime = LiveRuntimeContext(self.task, self.desc, keyed=True)
        self._function.open(self._runtime)

    def entry(self, index: int) -> Entry:
        """Input 0 is keyed; input 1 is the broadcast side, which has no key."""
        if index == 0:
            return super().entry(0)
        method, context = self._methods[1], self._broadcast_context
        return lambda values, timestamps, keys: self.run(self._function, method, context, values, timestamps)

    def apply_to_keyed_state(self, descriptor: StateDescriptor, function: Callable[[Any, State], None]) -> None:
        """Call a function for every key of this subtask that has the state, with its handle."""
        assert self._runtime is not None
        handle = self._runtime.get_partitioned_state(descriptor)
        task = self.task
        own = [
            group
            for group in range(task.max_parallelism)
            if subtask_of_group(group, task.parallelism, task.max_parallelism) == task.subtask
        ]
        slot = self._backend.use(table_of(descriptor))
        for key in self._backend.each_key(own, slot):
            function(shown(key), handle)
