"""The windows of a key, and the namespace in which each keeps its state.

Windows that merge keep the state of one of them; aligned windows never merge and need no set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.core.windows.window import MergingWindowAssigner, TimeWindow, Window
from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.values import Entries, Namespace

__all__ = ["IdentitySet", "MergingSet", "pack", "unpack"]

Merge = Callable[[Window, list[Window], Namespace, list[Namespace]], None]
"""(merged window, windows it was made of, namespace that stays, namespaces that go)."""


def pack(window: Window) -> Namespace:
    """A window as a namespace: small, hashable, picklable."""
    return (window.start, window.end) if type(window) is TimeWindow else window


def unpack(namespace: Namespace) -> Window:
    """The window of a namespace."""
    return TimeWindow(*namespace) if type(namespace) is tuple else namespace


class IdentitySet:
    """Windows that do not merge: each keeps its own state."""

    def add(self, window: Window, merge: Merge) -> Window:
        """The window itself: nothing merges."""
        return window

    def state_namespace(self, window: Window) -> Namespace:
        """The window itself, packed."""
        return pack(window)

    def retire(self, window: Window) -> None:
        """There is nothing to forget."""


class _Collect(MergingWindowAssigner.MergeCallback):
    def __init__(self) -> None:
        self.merged: list[tuple[Window, list[Window]]] = []

    def merge(self, to_be_merged: Iterable[Window], merge_result: Window) -> None:
        self.merged.append((merge_result, list(to_be_merged)))


class MergingSet:
    """For the current key: window → namespace of its state, kept in a table of its own."""

    def __init__(self, assigner: MergingWindowAssigner, backend: KeyedBackend) -> None:
        self._assigner, self._backend = assigner, backend
        self._slot = backend.use("_merging")

    def _known(self) -> Entries:
        found: Entries | None = self._backend.page.slots[self._slot].get(self._backend.key)
        return {} if found is None else found

    def _save(self, known: Entries) -> None:
        table = self._backend.page.slots[self._slot]
        if known:
            table[self._backend.key] = known
        else:
            table.pop(self._backend.key, None)
        self._backend.page.dirty = True

    def state_namespace(self, window: Window) -> Namespace:
        """The namespace of a window's state; None for a window that is gone."""
        return self._known().get(pack(window))

    def retire(self, window: Window) -> None:
        """Forget a window that is no more."""
        known = self._known()
        known.pop(pack(window), None)
        self._save(known)

    def add(self, window: Window, merge: Merge) -> Window:
        """Add a window; returns the window that it became. `merge` is called for known windows that were merged."""
        known = self._known()
        callback = _Collect()
        self._assigner.merge_windows([*map(unpack, known), window], callback)
        result = window
        grown = [(into, members) for into, members in callback.merged if len(set(members)) > 1 or into not in members]
        for into, members in grown:
            if window in members:
                result = into
            old = [m for m in dict.fromkeys(members) if pack(m) in known]
            if not old:
                continue
            spaces = [known.pop(pack(m)) for m in old]
            known[pack(into)] = spaces[0]
            if old != [into]:
                merge(into, [m for m in old if m != into], spaces[0], spaces[1:])
        known.setdefault(pack(result), pack(result))
        self._save(known)
        return result
