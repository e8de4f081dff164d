"""Names of the tables in pages: the kind and the name of the state that a table holds.

`value:seen` holds the value state `seen`, `ttl-value:seen` one with a time to live. A name that ends in `@` is that of
a window's state. Operators keep tables of their own beside them, with other names. Names of tables are data on disk.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.core.state.keyed import StateDescriptor

__all__ = ["TIMED", "TableName", "parse_table", "plain_table", "table_of", "timed_table"]

TIMED = "ttl-"
_WINDOWED = "@"


class TableName(NamedTuple):
    """A table's name taken apart; `kind` is empty for a table that an operator keeps for itself."""

    kind: str
    name: str
    timed: bool
    windowed: bool


def plain_table(kind: str, name: str) -> str:
    """The table of a state without a time to live."""
    return f"{kind}:{name}"


def timed_table(kind: str, name: str) -> str:
    """The table of a state with a time to live."""
    return f"{TIMED}{kind}:{name}"


def table_of(descriptor: StateDescriptor) -> str:
    """The table of the state that a descriptor names."""
    return (plain_table if descriptor.ttl_config is None else timed_table)(descriptor.kind, descriptor.name)


def parse_table(table: str) -> TableName:
    """Take a table's name apart.

    >>> parse_table("ttl-list:seen@")
    TableName(kind='list', name='seen', timed=True, windowed=True)
    >>> parse_table("_waiting").kind
    ''
    """
    kind, colon, name = table.removesuffix(_WINDOWED).partition(":")
    if not colon:
        kind, name = "", kind
    return TableName(kind.removeprefix(TIMED), name, kind.startswith(TIMED), table.endswith(_WINDOWED))
