"""What Java's `RichFunction` adds: a function can ask where it runs at any time, not only in `open`."""

from __future__ import annotations

from penstock.core.functions import Function, RuntimeContext

__all__ = ["RichFunction"]


class RichFunction(Function):
    """Knows its `RuntimeContext` from before `open` until after `close`."""

    _runtime_context: RuntimeContext | None = None

    def set_runtime_context(self, runtime_context: RuntimeContext) -> None:
        """Called before `open`."""
        self._runtime_context = runtime_context

    def get_runtime_context(self) -> RuntimeContext:
        """Where this instance runs: which subtask, of how many."""
        if self._runtime_context is None:
            raise RuntimeError("The runtime context is known from open() on, not in the constructor")
        return self._runtime_context
