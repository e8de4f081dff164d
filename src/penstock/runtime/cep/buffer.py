"""The events of partial matches, kept once however many share them.

A partial match is a path of nodes from its last event back to its first. Paths that begin alike share their nodes, as
in a tree: a node has one parent, so the way back needs no versions to tell paths apart. A node counts its references
(from partial and finished matches and from nodes behind it), an event the nodes that hold it. A node or an event
without references is removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from penstock.runtime.values import Record

__all__ = ["ROOT", "EventStore", "SharedBuffer"]

ROOT = -1
"""The parent of a path's first node."""


class EventStore(Protocol):
    """Keeps events by their number."""

    def add(self, number: int, value: Record) -> None:
        """Keep an event under its number."""

    def get(self, number: int) -> Any:
        """The event with a number."""

    def remove(self, number: int) -> None:
        """Forget an event: no partial match holds it any more."""


class SharedBuffer:
    """Nodes are `[slot, event, parent, references]` under their number."""

    def __init__(self, store: EventStore, nodes: Iterable[tuple[int, ...]] = (), next_node: int = 0) -> None:
        self.store = store
        self.next_node = next_node
        self.nodes: dict[int, list[int]] = {number: list(rest) for number, *rest in nodes}
        self.holders: dict[int, int] = {}
        for _, event, _, _ in self.nodes.values():
            self.holders[event] = self.holders.get(event, 0) + 1

    def frozen(self) -> tuple[tuple[int, ...], ...]:
        """The nodes as state keeps them."""
        return tuple((number, *rest) for number, rest in self.nodes.items())

    def put(self, slot: int, event: int, value: object, parent: int) -> int:
        """Add a node behind `parent`; the caller holds a reference to it. Returns its number."""
        number, self.next_node = self.next_node, self.next_node + 1
        self.nodes[number] = [slot, event, parent, 1]
        if event not in self.holders:
            self.holders[event] = 0
            self.store.add(event, value)
        self.holders[event] += 1
        if parent != ROOT:
            self.nodes[parent][3] += 1
        return number

    def hold(self, number: int) -> None:
        """Add a reference to a node."""
        self.nodes[number][3] += 1

    def release(self, number: int) -> None:
        """Give up a reference to a node. A node without references is removed, and gives up its own to its parent."""
        while number != ROOT:
            node = self.nodes[number]
            node[3] -= 1
            if node[3]:
                return
            del self.nodes[number]
            self._drop(node[1])
            number = node[2]

    def _drop(self, event: int) -> None:
        self.holders[event] -= 1
        if not self.holders[event]:
            del self.holders[event]
            self.store.remove(event)

    def path(self, number: int) -> list[tuple[int, int]]:
        """The path to a node from its first event: (slot, event) for each node."""
        found = []
        while number != ROOT:
            slot, event, number, _ = self.nodes[number]
            found.append((slot, event))
        found.reverse()
        return found
