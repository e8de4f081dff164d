"""A savepoint: a folder with `metadata.json` and, beside it, Parquet files of state. Reads and writes one."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.core.errors import SavepointError
from penstock.runtime.operator_state import gather_union
from penstock.savepoint.blobs import Blob, blobs_of, split_roots
from penstock.savepoint.metadata import FileNote, Metadata, PlanNotes, versions
from penstock.savepoint.plan_notes import Positions, filled, uids_of
from penstock.savepoint.storage import Folder

__all__ = [
    "METADATA",
    "Moment",
    "Part",
    "Savepoint",
    "UnionLists",
    "finish_savepoint",
    "refuse_used",
    "write_part",
    "write_savepoint",
]

METADATA = "metadata.json"

UnionLists = dict[tuple[bytes, str], list[object]]
"""What union lists of operator state hold, by the operator's prefix in state stores and the name of the state."""


class Moment(NamedTuple):
    """The moment of a job that a savepoint shows.

    `batch` is the last one whose effects it has. `committed`: what its sinks had prepared has been committed.
    `drained`: event time had been brought to its end. `spark`: the version of Spark, if Spark ran the job.
    """

    batch: int
    time_ms: int
    positions: Positions
    committed: bool = True
    drained: bool = False
    spark: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A file of state that a task has written, with what the metadata needs to know of its blobs."""

    file: FileNote
    roots: Mapping[bytes, bytes]
    counts: Mapping[tuple[str, str], int]


class Savepoint:
    """A complete savepoint. Opening an incomplete or damaged one raises SavepointError. Picklable."""

    def __init__(self, path: str) -> None:
        self.folder = Folder(path)
        self.path = self.folder.location
        if self.folder.size(METADATA) is None:
            raise SavepointError(self._missing(path))
        self.metadata = Metadata.decode(self.folder.read_bytes(METADATA), self.folder.at(METADATA))

    def _missing(self, path: str) -> str:
        names = self.folder.names()
        if not names:
            return f"There is no savepoint at {path}: the folder does not exist or is empty"
        return (
            f"{path} holds no savepoint: there is no {METADATA}, which is written when a savepoint is complete. "
            f"It holds {', '.join(names[:5])}"
        )

    def verify(self) -> None:
        """Raise SavepointError if a file is missing or altered; for callers that read the files in their own way."""
        for file in self.metadata.files:
            self.folder.verify(file)

    def blobs(self, kinds: Collection[str] | None = None) -> Iterator[Blob]:
        """All blobs, or those of some kinds; each file is checked before it is read."""
        for file in self.metadata.files:
            yield from self.folder.read_blobs(file, kinds)

    def union_lists(self) -> UnionLists:
        """The union lists of operator state, of all subtasks together."""
        return gather_union((blob.key, blob.value) for blob in self.blobs({"list"}))


def write_part(path: str, name: str, notes: PlanNotes, items: Iterable[tuple[bytes, bytes]]) -> Part:
    """Write entries of state stores into a file `state/<name>.parquet`; called by each task, with a name of its own."""
    roots: dict[bytes, bytes] = {}
    counts: Counter[tuple[str, str]] = Counter()
    blobs = _counted(blobs_of(split_roots(items, roots), uids_of(notes)), counts)
    note = Folder(path).write_blobs(f"state/{name}.parquet", blobs)
    return Part(note, roots, counts)


def _counted(blobs: Iterable[Blob], counts: Counter[tuple[str, str]]) -> Iterator[Blob]:
    for blob in blobs:
        counts[blob.operator, blob.kind] += 1
        yield blob


def finish_savepoint(path: str, notes: PlanNotes, parts: Sequence[Part], moment: Moment) -> Savepoint:
    """Make a savepoint complete: write its metadata, last of all. Called on the driver when all parts are written.

    Files that no part names, of attempts that lost, and files without blobs are removed.
    """
    folder = Folder(path)
    counts: Counter[tuple[str, str]] = Counter()
    roots: dict[bytes, bytes] = {}
    for part in parts:
        counts.update(part.counts)
        roots.update(part.roots)
    files = tuple(sorted((p.file for p in parts if p.file.rows), key=lambda f: f.name))
    for name in set(folder.names("state")) - {f.name.partition("/")[2] for f in files}:
        folder.delete(f"state/{name}")
    full = filled(notes, counts, roots, moment.positions)
    metadata = Metadata(
        uuid.uuid4().hex,
        full.job,
        moment.batch,
        moment.time_ms,
        full.max_parallelism,
        full.operators,
        full.vertices,
        full.sources,
        files,
        moment.committed,
        moment.drained,
        versions(moment.spark),
    )
    folder.write(METADATA, metadata.encode())
    return Savepoint(path)


def refuse_used(path: str) -> None:
    """Raise SavepointError if a folder is not empty: a savepoint is never written over anything."""
    found = Folder(path).names()
    if found:
        raise SavepointError(
            f"{path} cannot take a savepoint: it is not empty (it holds {', '.join(found[:5])}). Choose another folder"
        )


def write_savepoint(
    path: str, notes: PlanNotes, stores: Iterable[Iterable[tuple[bytes, bytes]]], moment: Moment
) -> Savepoint:
    """Write a whole savepoint from the entries of state stores, one file for each; the local host does so."""
    refuse_used(path)
    parts = [write_part(path, f"{number:05d}", notes, items) for number, items in enumerate(stores)]
    return finish_savepoint(path, notes, parts, moment)
