"""The space in which state handles work: a protocol."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.runtime.state.page import Group
from penstock.runtime.state.store_keys import StoreKeys
from penstock.runtime.values import Entries

__all__ = ["StateSpace"]


class StateSpace(Protocol):
    """A current key, a page whose slots hold tables of values by key, and blobs beside pages.

    The backend is one; so is the view of one key's namespaces, where namespaces take the place of keys.
    """

    @property
    def key(self) -> Any:
        """The current key, or namespace."""

    @property
    def page(self) -> Any:
        """The page whose slots hold the current key's values."""

    @property
    def names(self) -> StoreKeys:
        """Keys of the operator's blobs."""

    def use(self, name: str) -> int:
        """The slot of a table, made if it is new."""

    def group_of(self, page: Any) -> Group:
        """The directory that numbers the segments of a page."""

    def read_blobs(self, keys: list[bytes]) -> list[bytes | None]:
        """Blobs of large collections, as last written."""

    def write_blob(self, key: bytes, blob: bytes | None) -> None:
        """Write a blob that is there, or with None remove it."""

    def new_blob(self, key: bytes, blob: bytes) -> None:
        """Write a blob that was not there before."""

    def bucket(self, key: bytes, change: bool = False) -> Entries:
        """A decoded bucket of a large map; `change` says that the caller will alter it."""

    def drop_blob(self, key: bytes) -> None:
        """Remove a blob."""
