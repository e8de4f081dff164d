"""State of a key within a namespace (a window): the same handles over a table of tables."""

from __future__ import annotations

from typing import Any

from penstock.runtime.state.backend import KeyedBackend
from penstock.runtime.state.page import Group
from penstock.runtime.state.store_keys import PageId, StoreKeys
from penstock.runtime.values import Entries, Key

__all__ = ["NamespaceSpace"]


class _Absent(Entries):
    """The table of a key that has none yet; the first value put into it creates the real one."""

    def __init__(self, outer: Entries, key: object) -> None:
        super().__init__()
        self._outer, self._key = outer, key

    def __setitem__(self, namespace: object, value: object) -> None:
        self._outer[self._key] = {namespace: value}


class _NamespacePage:
    """The current page, seen from one key: `slots[n]` is the key's own table in slot n."""

    def __init__(self, real: KeyedBackend) -> None:
        self._real = real
        self._last: tuple[Entries, object] | None = None

    @property
    def slots(self) -> _NamespacePage:
        return self

    def __getitem__(self, slot: int) -> Entries:
        real = self._real
        outer = real.page.slots[slot]
        self._last = (outer, real.key)
        inner: Entries | None = outer.get(real.key)
        return _Absent(outer, real.key) if inner is None else inner

    @property
    def ident(self) -> PageId:
        return self._real.page.ident

    @property
    def dirty(self) -> bool:
        return self._real.page.dirty

    @dirty.setter
    def dirty(self, value: bool) -> None:
        self._real.page.dirty = value
        if self._last is not None:
            outer, key = self._last
            if not outer.get(key, True):
                del outer[key]


class NamespaceSpace:
    """The namespaces of the backend's current key; `key` is the current one of them."""

    def __init__(self, real: KeyedBackend) -> None:
        self._real = real
        self.key: Key = None
        self.page: Any = _NamespacePage(real)
        self.read_blobs = real.read_blobs
        self.write_blob = real.write_blob
        self.new_blob = real.new_blob
        self.bucket = real.bucket
        self.drop_blob = real.drop_blob

    @property
    def names(self) -> StoreKeys:
        """Keys of the operator's blobs."""
        return self._real.names

    def use(self, name: str) -> int:
        """The slot of a table that holds namespaces of keys; its name ends in `@`."""
        return self._real.use(f"{name}@")

    def group_of(self, page: object) -> Group:
        """The directory of the current key's key group."""
        return self._real.group_of(self._real.page)
