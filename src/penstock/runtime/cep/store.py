"""The events of partial matches in keyed state, written once for each key and turn."""

from __future__ import annotations

from typing import Any

from penstock.runtime.codec import decode, encode
from penstock.runtime.state.handles import PagedMapState
from penstock.runtime.values import Record

__all__ = ["StateEvents"]

_GONE: object = object()


class StateEvents:
    """Keeps events by their number. `get` returns an event as it was when it came, whatever a function did to it
    ."""

    def __init__(self, state: PagedMapState[int, Record]) -> None:
        self._state = state
        self._new: dict[int, object] = {}
        self._gone: list[int] = []

    def add(self, number: int, value: Record) -> None:
        """Keep an event; it is encoded now, and written by `save`."""
        self._new[number] = encode(value)

    def get(self, number: int) -> Any:
        """The event with a number, as it was when it came."""
        stored = self._new.get(number, _GONE)
        return self._state.get(number) if stored is _GONE else decode(stored)

    def remove(self, number: int) -> None:
        """Forget an event; state is changed by `save`."""
        if self._new.pop(number, _GONE) is _GONE:
            self._gone.append(number)

    def save(self) -> None:
        """Write all changes to state. Called once, when the events of a key have been matched."""
        for number in self._gone:
            self._state.remove(number)
        for number, stored in self._new.items():
            self._state.put_encoded(number, stored)
