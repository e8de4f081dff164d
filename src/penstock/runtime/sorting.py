"""The input of BATCH mode: records key by key, each key in the order of timestamps, beyond memory if need be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import repeat
from typing import BinaryIO, NamedTuple

from penstock.core.program.job import JobPlan, Vertex
from penstock.core.program.specs import BroadcastSpec
from penstock.core.time.spans import MIN_TIMESTAMP
from penstock.runtime.chunk import ChunkRow, Mark
from penstock.runtime.codec import dumps, loads
from penstock.runtime.keyhash import stable_hash
from penstock.runtime.memory import trim_memory
from penstock.runtime.values import Key, Keys, Record, Records, Timestamps

__all__ = ["HeldInput", "RecordSorter", "SortedRecords"]

_BLOCK = 1024
_BLOCK_BYTES = 64 << 10
_ENTRY_BYTES = 300
"""The memory that a held record takes besides its payload, about: several small objects."""

_Entry = tuple[int | None, int, Record]
"""(timestamp, input, value)."""

_KeyRun = tuple[tuple[int, int], Key, list[_Entry]]
"""((key group, hash), key, records of that key)."""


class SortedRecords(NamedTuple):
    """Sorted records that follow each other and belong to one input."""

    input: int
    values: Records
    timestamps: list[int | None]
    keys: list[Key]

    @property
    def stamps(self) -> list[int | None] | None:
        """The timestamps, or None if no record has one."""
        return None if self.timestamps.count(None) == len(self.timestamps) else self.timestamps


class RecordSorter:
    """Takes chunks in any order; gives one key group after the other, so that the state in use stays small.

    Records of a key come by timestamp, those with equal timestamps as they arrived; records without a key as they
    arrived. The records of a key are gathered in a *key run*, so that only keys need sorting, and within a run records
    that have timestamps. Beyond the memory budget sorted key runs go to a temporary file; they are merged a block at a
    time when they are read back.
    """

    def __init__(self, budget_bytes: int, max_parallelism: int) -> None:
        self._budget = budget_bytes
        self._max_parallelism = max_parallelism
        self._runs: dict[Key, list[_Entry]] = {}
        self._size = self._count = 0
        self._by_time = False
        self._file: BinaryIO | None = None
        self._spilled: list[list[tuple[int, int]]] = []

    def add(self, index: int, values: Sequence[Record], times: Timestamps, keys: Keys, size: int) -> None:
        """Add records of one input; `size` is the size of their payload."""
        self._by_time = self._by_time or (times is not None and keys is not None)
        runs = self._runs
        entries = zip(times if times is not None else repeat(None), repeat(index), values, strict=False)
        for key, entry in zip(keys if keys is not None else repeat(None), entries, strict=False):
            if key in runs:
                runs[key].append(entry)
            else:
                runs[key] = [entry]
        self._count += len(values)
        self._size += size + _ENTRY_BYTES * len(values)
        if self._size > self._budget:
            self._spill()

    def _sorted(self) -> list[_KeyRun]:
        """The key runs in memory, in order; memory is empty afterwards."""
        groups = self._max_parallelism
        hashes = {key: stable_hash(key) for key in self._runs}
        runs = [((hashes[key] % groups, hashes[key]), key, entries) for key, entries in self._runs.items()]
        runs.sort(key=_place)
        if self._by_time:
            for _, _, entries in runs:
                entries.sort(key=_time)
        self._runs, self._size, self._count = {}, 0, 0
        return runs

    def _spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        # all spilled parts are merged at once, with a block of each in memory
        step = max(1, min(_BLOCK, _BLOCK_BYTES * self._count // self._size))
        blocks = []
        for block in _blocks_of(self._sorted(), step):
            data = dumps(block)
            blocks.append((self._file.tell(), len(data)))
            self._file.write(data)
        self._spilled.append(blocks)
        trim_memory()

    def drain(self) -> Iterator[SortedRecords]:
        """Yield all records in order. May be called once."""
        runs: Iterable[_KeyRun] = self._sorted()
        if self._spilled:
            sorted_parts = [*map(self._read_back, self._spilled), runs]
            if self._by_time:
                runs = merge(*map(_one_by_one, sorted_parts), key=_place_and_time)
            else:
                runs = merge(*sorted_parts, key=_place)
        yield from _records(runs)
        self.close()

    def _read_back(self, blocks: list[tuple[int, int]]) -> Iterator[_KeyRun]:
        assert self._file is not None
        for offset, length in blocks:
            self._file.seek(offset)
            yield from loads(self._file.read(length))

    def close(self) -> None:
        """Forget everything."""
        self._runs, self._spilled = {}, []
        if self._file is not None:
            self._file.close()
            self._file = None


class HeldInput:
    """The input that a subtask holds back in BATCH mode: keyed records, to be sorted; the stream that a broadcast
    stream is applied to, until all broadcast records have been processed; and the end of every channel."""

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

    @staticmethod
    def of(plan: JobPlan, vertex: Vertex) -> HeldInput:
        """For a subtask of a vertex, with the memory that the settings allow."""
        return HeldInput(vertex, plan.settings.sort_budget_bytes, plan.max_parallelism)

    def take(
        self,
        row: ChunkRow,
        edge: int,
        values: Records,
        times: list[int | None] | None,
        keys: list[Key] | None,
        marks: list[Mark],
    ) -> bool:
        """Hold a chunk back, and marks if anything is held back; returns whether nothing is left to do for now."""
        if not self._held:
            return False
        self.closed.extend(row.channel for _ in marks)
        marks.clear()
        if edge not in self._held:
            return False
        self.sorter.add(self._inputs[edge], values, times, keys, len(row.payload))
        return True


def _place(run: _KeyRun) -> tuple[int, int]:
    return run[0]


def _time(entry: _Entry) -> int:
    return MIN_TIMESTAMP if entry[0] is None else entry[0]


def _place_and_time(run: _KeyRun) -> tuple[tuple[int, int], int]:
    """Of a run that holds one record."""
    return run[0], _time(run[2][0])


def _one_by_one(runs: Iterable[_KeyRun]) -> Iterator[_KeyRun]:
    for place, key, entries in runs:
        for entry in entries:
            yield place, key, [entry]


def _blocks_of(runs: Iterable[_KeyRun], most: int) -> Iterator[list[_KeyRun]]:
    """Neighbours with no more than so many records together; a large run is cut."""
    block: list[_KeyRun] = []
    room = most
    for place, key, entries in runs:
        first = 0
        while first < len(entries):
            part = entries[first : first + room]
            block.append((place, key, part))
            first += len(part)
            room -= len(part)
            if not room:
                yield block
                block, room = [], most
    if block:
        yield block


def _records(runs: Iterable[_KeyRun]) -> Iterator[SortedRecords]:
    made = SortedRecords(-1, [], [], [])
    for _, key, entries in runs:
        for stamp, index, value in entries:
            if index != made.input or len(made.values) >= _BLOCK:
                if made.values:
                    yield made
                made = SortedRecords(index, [], [], [])
            made.values.append(value)
            made.timestamps.append(stamp)
            made.keys.append(key)
    if made.values:
        yield made
