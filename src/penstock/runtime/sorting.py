"""Records key by key, each in the order of its timestamps, however many there are: what BATCH mode shows (P5)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, repeat
from typing import Any, BinaryIO, NamedTuple

from penstock.core.job import Vertex
from penstock.core.specs import BroadcastSpec
from penstock.core.time import MIN_TIMESTAMP
from penstock.runtime.chunk import ChunkRow, Mark
from penstock.runtime.codec import dumps, loads
from penstock.runtime.keyhash import stable_hash
from penstock.runtime.memory import give_back
from penstock.runtime.operators.base import Timestamps

__all__ = ["HeldInput", "RecordSorter", "SortedRecords"]

_BLOCK = 1024
_BLOCK_BYTES = 64 << 10
_ENTRY_BYTES = 450
"""What a held record takes besides its payload, about: it and its place are a dozen small objects."""

_Entry = tuple[tuple[int, int, int, int], int, Any, Any, Any]
"""((key group, hash, timestamp or the smallest, arrival), input, value, timestamp, key)."""


class SortedRecords(NamedTuple):
    """Neighbours that belong to one input."""

    input: int
    values: list[Any]
    timestamps: list[Any]
    keys: list[Any]

    @property
    def stamps(self) -> list[Any] | None:
        """The timestamps, or None if no record has one."""
        return None if self.timestamps.count(None) == len(self.timestamps) else self.timestamps


class RecordSorter:
    """Takes chunks in any order; gives one key group after the other, so that the state in use stays small.

    Records of a key come by timestamp, those with equal ones as they arrived; records without a key as they arrived.
    Beyond the budget sorted runs go to a temporary file, and are merged a block at a time.
    """

    def __init__(self, budget_bytes: int, max_parallelism: int) -> None:
        self._budget = budget_bytes
        self._max_parallelism = max_parallelism
        self._held: list[_Entry] = []
        self._size = self._count = 0
        self._file: BinaryIO | None = None
        self._runs: list[list[tuple[int, int]]] = []

    def add(self, index: int, values: Sequence[Any], times: Timestamps, keys: Sequence[Any] | None, size: int) -> None:
        """Records of one input; `size` is that of their payload."""
        stamps = times if times is not None else [None] * len(values)
        if keys is None:
            places: Iterable[tuple[int, int, int]] = repeat((0, 0, 0))
            keys = [None] * len(values)
        else:
            hashes = {key: stable_hash(key) for key in set(keys)}
            places = [
                (hashes[k] % self._max_parallelism, hashes[k], MIN_TIMESTAMP if t is None else t)
                for k, t in zip(keys, stamps, strict=True)
            ]
        for place, value, stamp, key in zip(places, values, stamps, keys, strict=False):
            self._held.append(((*place, self._count), index, value, stamp, key))
            self._count += 1
        self._size += size + _ENTRY_BYTES * len(values)
        if self._size > self._budget:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._held.sort(key=_order)
        blocks = []
        # all runs are merged at once, with a block of each in memory
        step = max(1, min(_BLOCK, _BLOCK_BYTES * len(self._held) // self._size))
        for first in range(0, len(self._held), step):
            data = dumps(self._held[first : first + step])
            blocks.append((self._file.tell(), len(data)))
            self._file.write(data)
        self._runs.append(blocks)
        self._held, self._size = [], 0
        give_back()

    def drain(self) -> Iterator[SortedRecords]:
        """Everything, in order; may be called once."""
        self._held.sort(key=_order)
        merged = merge(*map(self._run, self._runs), self._held, key=_order)
        for index, neighbours in groupby(merged, key=_input):
            yield from _blocks(index, neighbours)
        self.close()

    def _run(self, blocks: list[tuple[int, int]]) -> Iterator[_Entry]:
        assert self._file is not None
        for offset, length in blocks:
            self._file.seek(offset)
            yield from loads(self._file.read(length))

    def close(self) -> None:
        """Forget everything."""
        self._held, self._runs = [], []
        if self._file is not None:
            self._file.close()
            self._file = None


class HeldInput:
    """What a subtask holds back in BATCH mode: keyed records, to be sorted; what a broadcast stream is applied to,
    until all of that has been seen; and the end of every channel."""

    def __init__(self, vertex: Vertex, budget_bytes: int, max_parallelism: int) -> None:
        spec = vertex.operators[0].spec
        self.sorter = RecordSorter(budget_bytes, max_parallelism)
        self.closed: list[int] = []
        self._inputs = {edge.edge_id: edge.input for edge in vertex.in_edges}
        self._held = {
            edge.edge_id
            for edge in vertex.in_edges
            if spec.keyed_input(edge.input) or (isinstance(spec, BroadcastSpec) and edge.input == 0)
        }

    def take(
        self,
        row: ChunkRow,
        edge: int,
        values: list[Any],
        times: list[Any] | None,
        keys: list[Any] | None,
        marks: list[Mark],
    ) -> bool:
        """Hold a chunk back, and marks wherever anything is held back; whether nothing is left to do for now."""
        if not self._held:
            return False
        self.closed.extend(row.channel for _ in marks)
        marks.clear()
        if edge not in self._held:
            return False
        self.sorter.add(self._inputs[edge], values, times, keys, len(row.payload))
        return True


def _order(entry: _Entry) -> tuple[int, int, int, int]:
    return entry[0]


def _input(entry: _Entry) -> int:
    return entry[1]


def _blocks(index: int, entries: Iterator[_Entry]) -> Iterator[SortedRecords]:
    made = SortedRecords(index, [], [], [])
    for _, _, value, stamp, key in entries:
        made.values.append(value)
        made.timestamps.append(stamp)
        made.keys.append(key)
        if len(made.values) >= _BLOCK:
            yield made
            made = SortedRecords(index, [], [], [])
    if made.values:
        yield made
