"""The contexts of triggers, assigners, evictors and window functions."""

from __future__ import annotations

from typing import Any

from penstock.core.errors import ProgramError
from penstock.core.functions.base import KeyedStateStore, RuntimeContext
from penstock.core.functions.window import ProcessAllWindowFunction, ProcessWindowFunction
from penstock.core.program.output_tag import OutputTag
from penstock.core.state.keyed import StateDescriptor
from penstock.core.time.clock import Clock
from penstock.core.windows.evictors import Evictor
from penstock.core.windows.triggers import Trigger
from penstock.core.windows.window import WindowAssigner
from penstock.runtime.context import LiveRuntimeContext
from penstock.runtime.operators.process import Emitter
from penstock.runtime.operators.windows.merging import pack, unpack
from penstock.runtime.state.backend import EVENT, PROCESSING, KeyedBackend
from penstock.runtime.state.namespaced import NamespaceSpace
from penstock.runtime.values import Namespace, Record, Records

__all__ = ["FunctionContext", "WindowContext"]


class WindowContext(Trigger.OnMergeContext, WindowAssigner.WindowAssignerContext, Evictor.EvictorContext):
    """The one context of triggers, assigners and evictors; `namespace` is the current window."""

    def __init__(
        self, operator: Emitter, backend: KeyedBackend, keyed: RuntimeContext, windowed: LiveRuntimeContext
    ) -> None:
        self._operator, self._backend = operator, backend
        self._clock: Clock = operator.task.clock
        self._keyed, self._windowed = keyed, windowed
        assert isinstance(windowed.space, NamespaceSpace)
        self._space = windowed.space
        self._handles: dict[tuple[str, str], object] = {}
        self.namespace: Namespace = None
        self.merged: Records = []

    def get_current_processing_time(self) -> int:
        """The clock of the task."""
        return self._clock.now_ms()

    def get_current_watermark(self) -> int:
        """The operator's event time."""
        return self._operator.current_watermark

    def get_metric_group(self) -> Any:
        """The metrics of the operator."""
        return self._keyed.get_metrics_group()

    def get_runtime_context(self) -> RuntimeContext:
        """The context with state of the key, not of a window."""
        return self._keyed

    def register_processing_time_timer(self, time: int) -> None:
        """Set a processing-time timer of the current window."""
        self._backend.register(PROCESSING, time, self.namespace)

    def register_event_time_timer(self, time: int) -> None:
        """Set an event-time timer of the current window."""
        self._backend.register(EVENT, time, self.namespace)

    def delete_processing_time_timer(self, time: int) -> None:
        """Delete a processing-time timer of the current window."""
        self._backend.delete(PROCESSING, time, self.namespace)

    def delete_event_time_timer(self, time: int) -> None:
        """Delete an event-time timer of the current window."""
        self._backend.delete(EVENT, time, self.namespace)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        """State of the current window."""
        self._space.key = self.namespace
        return self._handle(state_descriptor)

    def _handle(self, descriptor: StateDescriptor) -> Any:
        name = (descriptor.kind, descriptor.name)
        handle = self._handles.get(name)
        if handle is None:
            handle = self._handles[name] = self._windowed.get_partitioned_state(descriptor)
        return handle

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        """Add the state of the windows that were merged to that of the current window."""
        handle, space = self._handle(state_descriptor), self._space
        if not hasattr(handle, "add"):
            raise ProgramError(
                f"merge_partitioned_state({state_descriptor.name!r}): a {state_descriptor.kind} state cannot be "
                "merged; use a reducing, aggregating or list state"
            )
        for window in self.merged:
            space.key = pack(window)
            value = handle.get()
            handle.clear()
            space.key = self.namespace
            self._add(handle, value)

    @staticmethod
    def _add(handle: Any, value: Record) -> None:
        if hasattr(handle, "add_all"):
            handle.add_all(list(value))
        elif value is not None:
            handle.add(value)


class FunctionContext(ProcessWindowFunction.Context, ProcessAllWindowFunction.Context):
    """The context of process functions on windows."""

    def __init__(self, operator: Emitter, keyed: RuntimeContext, windowed: LiveRuntimeContext, merging: bool) -> None:
        self._operator, self._keyed, self._windowed = operator, keyed, windowed
        self._merging = merging
        self.namespace: Namespace = None

    def window(self) -> Any:
        """The window that fires."""
        return unpack(self.namespace)

    def current_processing_time(self) -> int:
        """The clock of the task."""
        return self._operator.task.clock.now_ms()

    def current_watermark(self) -> int:
        """The operator's event time."""
        return self._operator.current_watermark

    def window_state(self) -> KeyedStateStore:
        """State of the key and the window; windows that merge have none."""
        if self._merging:
            desc = self._operator.desc
            raise ProgramError(
                f"Operator '{desc.name}' (uid {desc.uid}): window_state() is not there for windows that merge; "
                "use global_state()"
            )
        assert isinstance(self._windowed.space, NamespaceSpace)
        self._windowed.space.key = self.namespace
        return self._windowed

    def global_state(self) -> KeyedStateStore:
        """State of the key, shared by all its windows."""
        return self._keyed

    def output(self, output_tag: OutputTag, value: object) -> None:
        """Send a value to a side output, with the window's last timestamp."""
        self._operator.output(output_tag, value, self.window().max_timestamp())
