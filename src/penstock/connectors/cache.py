"""Where `DataStream.cache()` keeps a stream's records: written once by the first job, read by later ones."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from penstock.core.contracts.sink import (
    CommitRequest,
    Committer,
    Sink,
    SinkWriter,
    SupportsCommitter,
    WriterInitContext,
)
from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock

__all__ = ["CacheSink", "CacheSource"]

_HIDDEN = "."


class CacheSink(Sink, SupportsCommitter):
    """Records with their timestamps, a file for every subtask and batch; hidden until the batch is durable."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def create_writer(self, context: WriterInitContext) -> SinkWriter:
        name = f"{context.batch_id:08d}-{context.subtask_index:04d}-{context.attempt_id}"
        return _CacheWriter(self._folder, name)

    def create_committer(self) -> Committer:
        return _CacheCommitter(self._folder)


class _CacheWriter(SinkWriter):
    def __init__(self, folder: str, name: str) -> None:
        self._name = name
        self._path = os.path.join(folder, _HIDDEN + name)
        self._file: BinaryIO | None = None

    def write(self, value: Any, timestamp: int | None) -> None:
        self.write_all([value], [timestamp])

    def write_all(self, values: Sequence[object], timestamps: Sequence[int | None] | None) -> None:
        if self._file is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            self._file = open(self._path, "wb")  # noqa: SIM115 - closed by prepare_commit or close
        pickle.dump((list(values), None if timestamps is None else list(timestamps)), self._file, 5)

    def prepare_commit(self) -> list[Any]:
        if self._file is None:
            return []
        self.close()
        return [self._name]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _CacheCommitter(Committer):
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            name = request.get_committable()
            hidden = os.path.join(self._folder, _HIDDEN + name)
            if os.path.exists(hidden):
                os.replace(hidden, os.path.join(self._folder, name))


class CacheSource(Source):
    """Reads the files of a `CacheSink`. Every file is a split; a position is the number of blocks read of it."""

    def __init__(self, folder: str) -> None:
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        self._files = [os.path.join(folder, name) for name in names if not name.startswith(_HIDDEN)]

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        return max(1, len(self._files))

    def split_parallelism(self, parallelism: int) -> int:
        return min(parallelism, max(1, len(self._files)))

    def initial(self, split: int, splits: int) -> Position:
        return Position(0, not self._files)

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        at, taken = start.at, 0
        for block in self._blocks(split, start.at):
            at, taken = at + 1, taken + len(block[0])
            if taken >= limit:
                return Position(at, False)
        return Position(at, True)

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        for index, block in enumerate(self._blocks(split, start.at), start.at):
            if end is not None and index >= end.at:
                return
            yield block

    def _blocks(self, split: int, start: int) -> Iterator[ReadBatch]:
        if not self._files:
            return
        with open(self._files[split], "rb") as file:
            index = 0
            while True:
                try:
                    block: ReadBatch = pickle.load(file)
                except EOFError:
                    return
                if index >= start:
                    yield block
                index += 1


def forget(folder: str) -> None:
    """Remove a cache."""
    shutil.rmtree(folder, ignore_errors=True)
