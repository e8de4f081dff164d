"""The generator's rows as Spark SQL expressions over the ``bigint`` column ``index``: the same numbers, bit by bit.

Columns that no query in SQL asks for are left out.
"""

from __future__ import annotations

from benchmarks.inputs import SECOND, SEED, key_sql
from benchmarks.nexmark.generator import (
    ACTIVE_PERSONS,
    AUCTIONS,
    CATEGORIES,
    FIRST_ID,
    GROUP,
    HOT_EVERY,
    OPEN_AUCTIONS,
    PERSONS,
    STATES,
)

IS_PERSON = f"index % {GROUP} < {PERSONS}"
IS_AUCTION = f"index % {GROUP} BETWEEN {PERSONS} AND {PERSONS + AUCTIONS - 1}"
IS_BID = f"index % {GROUP} >= {PERSONS + AUCTIONS}"


def _draw(salt: int, below: int) -> str:
    return key_sql("index", below, salt * SECOND + SEED)


def _hot_or_recent(is_hot: str, last: str, back: str) -> str:
    return f"{FIRST_ID}L + IF({is_hot}, {last} div {HOT_EVERY} * {HOT_EVERY}, greatest(0L, {last} - {back}))"


def _somebody(salt: int) -> str:
    return _hot_or_recent(f"{_draw(salt, 4)} != 0", f"(index div {GROUP})", _draw(salt + 100, ACTIVE_PERSONS))


def _one_of(values: tuple[object, ...], drawn: str) -> str:
    return f"element_at(array({', '.join(map(repr, values))}), cast({drawn} AS int) + 1)"


PERSON = (
    f"{FIRST_ID}L + index div {GROUP} AS id",
    f"{_one_of(STATES, _draw(1, len(STATES)))} AS state",
    "index AS at",
)
AUCTION = (
    f"{FIRST_ID}L + index div {GROUP} * {AUCTIONS} + index % {GROUP} - {PERSONS} AS id",
    f"{_one_of(CATEGORIES, _draw(6, len(CATEGORIES)))} AS category",
    f"{_somebody(4)} AS seller",
    "index AS at",
)
_LAST = f"((index div {GROUP} + 1) * {AUCTIONS} - 1)"
BID = (
    f"{_hot_or_recent(f'{_draw(8, 2)} != 0', _LAST, _draw(9, OPEN_AUCTIONS))} AS auction",
    f"{_somebody(12)} AS bidder",
    f"100L + {_draw(10, 100)} * (1L + {_draw(11, 100)}) AS price",
    "index AS at",
)
