"""Checks the kinds of states: a state whose kind has changed would not find its old entries, and start empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.core.errors import KeyTypeError, StateError
from penstock.runtime.codec import IMMUTABLE, dumps, loads
from penstock.runtime.keyhash import stable_hash
from penstock.runtime.state.registry import STATE_KINDS
from penstock.runtime.state.tables import TIMED, plain_table, timed_table

__all__ = ["Probe", "StateKindCheck", "kinds_of", "probe_of"]

Probe = tuple[int, bytes]
"""A key group and a pickled key that belongs to it: tells whether keys are still routed as they were."""


def _split(table: str) -> tuple[str, str] | None:
    """The kind and the name of the state that a table holds; None for a table that an operator keeps for itself.

    >>> _split("ttl-list:seen@"), _split("cep:first")
    (('list', 'seen@'), None)
    """
    head, _, name = table.partition(":")
    kind = head.removeprefix(TIMED)
    return (kind, name) if kind in STATE_KINDS and name else None


def kinds_of(tables: Iterable[str]) -> dict[str, str]:
    """The kinds of the states in these tables, by name; a name that ends in `@` is that of a window's state."""
    return {found[1]: found[0] for table in tables if (found := _split(table)) is not None}


def _belongs(key: object, group: int, max_parallelism: int) -> bool:
    try:
        return stable_hash(key) % max_parallelism == group
    except KeyTypeError:
        return True  # keys of this type are not routed by their hash


def probe_of(keys: Iterable[Any], group: int) -> Probe | None:
    """A probe for the first of some keys of a key group; none if its class cannot change."""
    key = next(iter(keys), None)
    return None if type(key) in IMMUTABLE else (group, dumps(key))


class StateKindCheck:
    """The kinds of one operator's states, in this program and in the checkpoint or savepoint that it started from."""

    def __init__(self, owner: str, known: Mapping[str, str]) -> None:
        self._owner = owner
        self.known = dict(known)
        self._clashing: dict[str, str] = {}

    def use(self, table: str) -> None:
        """Called when the program uses a table: refuses it if a state of another kind has had its name."""
        found = _split(table)
        if found is None:
            return
        kind, name = found
        if self.known.setdefault(name, kind) != kind:
            raise self._changed(name, self.known[name], kind)
        others = [other for other in STATE_KINDS if other != kind]
        self._clashing.update({make(other, name): kind for other in others for make in (plain_table, timed_table)})

    def check(self, tables: Mapping[str, Mapping[Any, Any]]) -> None:
        """Check a page that was loaded, perhaps one from before kinds were noted: its states must be of the kinds in
        use."""
        for table in self._clashing.keys() & tables.keys() if self._clashing else ():
            found = _split(table)
            if tables[table] and found is not None:
                raise self._changed(found[1], found[0], self._clashing[table])

    def check_probe(self, probe: Probe | None, max_parallelism: int) -> None:
        """Check, when a subtask starts from state, that keys are still routed to where they were.

        A key of a class whose fields have changed is routed elsewhere, and would not find its state again.
        """
        if probe is None:
            return
        group, key = probe[0], loads(probe[1])
        if not _belongs(key, group, max_parallelism):
            raise StateError(
                f"{self._owner} has keyed state of the key {key!r:.200}, which is routed elsewhere now: the fields of "
                f"{type(key).__name__} have changed, by which keys are told apart. Keep the class of a key as it was, "
                "or write the state anew under other keys with StateEditor"
            )

    def _changed(self, name: str, before: str, now: str) -> StateError:
        window = " of a window" if name.endswith("@") else ""
        return StateError(
            f"{self._owner} uses the state {name.removesuffix('@')!r}{window} as {now} state, but its checkpoint or "
            f"savepoint holds {before} state under that name, which would be lost: use a {before} state descriptor as "
            f"before, or give the {now} state another name"
        )
