"""The input of the running sum, and what it must answer: any record is computable from its index.

Nothing but the standard library is used here, because this module is imported in the environment of every peer. The
arithmetic stays below 2**62, so that the same formula is a Spark SQL expression over ``bigint`` without overflow.

The value of a record depends on its key alone. Therefore the running sums that a key emits are the same multiset in
whatever order its records arrive, and a checksum may cover *every* emitted record of engines that shuffle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

SEED: Final = 0x1234567
MASK: Final = 0x7FFFFFFF
FIRST: Final = 0x2545F491
SECOND: Final = 0x2C1B3C6D
WEIGHT: Final = 40503

Record = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """How many records a peer emitted, and the sum of their `term`s."""

    emitted: int
    checksum: int

    def __add__(self, other: Answer) -> Answer:
        return Answer(self.emitted + other.emitted, self.checksum + other.checksum)


NOTHING: Final = Answer(0, 0)


def key_of(index: int, keys: int) -> int:
    """The key of record ``index``: spread like a random draw from ``range(keys)``, at the price of two products.

    >>> [key_of(index, 1000) for index in range(5)]
    [482, 133, 714, 472, 660]
    """
    h = (index * FIRST + SEED) & MASK
    return ((h ^ h >> 15) * SECOND >> 9 & MASK) % keys


def key_sql(index: str, keys: int, seed: int = SEED) -> str:
    """`key_of` as a Spark SQL expression over the ``bigint`` column ``index``."""
    h = f"(({index} * {FIRST}L + {seed}L) & {MASK}L)"
    return f"((shiftright(({h} ^ shiftright({h}, 15)) * {SECOND}L, 9) & {MASK}L) % {keys}L)"


def value_of(key: int) -> int:
    """The value of every record of ``key``: 1 to 7."""
    return key % 7 + 1


def value_sql(key: str) -> str:
    """`value_of` as a Spark SQL expression."""
    return f"({key} % 7L + 1L)"


def record(index: int, keys: int) -> Record:
    """Record ``index``: key and value."""
    key = key_of(index, keys)
    return key, key % 7 + 1


def records(start: int, stop: int, keys: int) -> list[Record]:
    """The records with indices ``start`` to ``stop - 1``."""
    return [record(index, keys) for index in range(start, stop)]


def checksum_of(emitted: Iterable[Record]) -> int:
    """The sum of the terms of some emitted ``(key, sum)``; sums of parts add up to the sum of the whole."""
    return sum([key * WEIGHT ^ total for key, total in emitted])


def checksum_sql(key: str, total: str) -> str:
    """One term of `checksum_of` as a Spark SQL expression."""
    return f"(({key} * {WEIGHT}L) ^ {total})"


def expected_per_record(count: int, keys: int) -> Answer:
    """The answer of a peer that emits a running sum for each of the first ``count`` records."""
    sums: dict[int, int] = {}
    checksum = 0
    for index in range(count):
        key, value = record(index, keys)
        sums[key] = total = sums.get(key, 0) + value
        checksum += key * WEIGHT ^ total
    return Answer(count, checksum)


def expected_per_batch(batches: int, batch_records: int, keys: int) -> Answer:
    """The answer of a peer that emits, after each batch, the sums of the keys which that batch touched."""
    sums: dict[int, int] = {}
    answer = NOTHING
    for batch in range(batches):
        touched = set()
        for index in range(batch * batch_records, (batch + 1) * batch_records):
            key, value = record(index, keys)
            sums[key] = sums.get(key, 0) + value
            touched.add(key)
        answer += Answer(len(touched), checksum_of((key, sums[key]) for key in touched))
    return answer
