"""Partition labels: integers that Spark's hash partitioning sends to a chosen partition.

A stage is grouped by the column `label`, so the label of a row decides which partition, and so which subtask, gets it.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["partition_labels", "spark_partition"]

_M = 0xFFFFFFFF


def spark_partition(value: int, partitions: int) -> int:
    """The partition to which Spark's hash partitioning (Murmur3, seed 42) sends an int."""
    hashed = _murmur3_int(value, 42)
    return hashed % partitions


@lru_cache(maxsize=64)
def partition_labels(partitions: int) -> tuple[int, ...]:
    """For each partition, its label: the smallest number that Spark sends there.

    >>> [spark_partition(label, 4) for label in partition_labels(4)]
    [0, 1, 2, 3]
    """
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < partitions:
        found.setdefault(spark_partition(candidate, partitions), candidate)
        candidate += 1
    return tuple(found[p] for p in range(partitions))


def _murmur3_int(value: int, seed: int) -> int:
    k = (value & _M) * 0xCC9E2D51 & _M
    k = (_rotl(k, 15) * 0x1B873593) & _M
    h = (_rotl(seed ^ k, 13) * 5 + 0xE6546B64) & _M
    h ^= 4
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _M
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _M
    h ^= h >> 16
    return h - (1 << 32) if h & 0x80000000 else h


def _rotl(x: int, r: int) -> int:
    return ((x << r) | (x >> (32 - r))) & _M
