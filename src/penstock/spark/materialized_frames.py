"""Batch DataFrames in the streaming host: materialized once, when the job first starts, then read as a bounded source.

Spark cannot union a batch DataFrame with a stream, and would compute it anew after a restart, perhaps with another
result. So its rows are written beside the checkpoint, as Arrow batches, and have positions.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import blake2b, file_digest
from urllib.parse import unquote, urlparse

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.connectors.data_frame import DataFrameSource
from penstock.core.config import Configuration
from penstock.core.config.options.tuning import TMP_DIR
from penstock.core.contracts.source import Position, ReadBatch, Source, SourceClock
from penstock.core.errors import ProgramError
from penstock.core.program.job import JobPlan, Vertex
from penstock.core.program.specs import SourceSpec
from penstock.core.whole_files import write_whole
from penstock.savepoint.sealed_json import sealed, unsealed
from penstock.spark.checkpoint.integrity import damaged
from penstock.spark.frames import rows_of
from penstock.spark.rows import ArrowFunction

__all__ = ["MaterializedFrame", "materialize_frames"]

_MANIFEST = "rows.json"


class MaterializedFrame(Source):
    """The rows of a DataFrame in a file of Arrow batches, `counts` of them in each; a position is a number of batches.

    >>> MaterializedFrame("/rows.arrow", (10, 10, 5)).advance(0, 1, Position(0), Position(0), 15, SourceClock(0, 0))
    Position(at=2, ended=False)
    """

    bounded = True

    def __init__(self, path: str, counts: tuple[int, ...]) -> None:
        self._path, self._counts = path, counts

    def split_parallelism(self, parallelism: int) -> int:
        """The rows are in one file, in an order that is kept: one subtask."""
        return 1

    def split_count(self, parallelism: int, one_batch: bool) -> int:
        """One split, as one task reads the DataFrame itself."""
        return 1

    def initial(self, split: int, splits: int) -> Position:
        """Before the first batch; a DataFrame without rows has ended there."""
        return Position(0, not self._counts)

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        """Whole batches, as many as it takes to reach the limit."""
        stop: int = start.at
        while stop < len(self._counts) and limit > 0:
            limit -= self._counts[stop]
            stop += 1
        return Position(stop, stop == len(self._counts))

    def read(self, split: int, splits: int, start: Position, end: Position | None) -> Iterator[ReadBatch]:
        """The rows between two positions; called in a worker."""
        stop = len(self._counts) if end is None else end.at
        if stop > start.at:
            with pa.OSFile(self._path) as file:
                reader = pa.ipc.open_file(file)
                for number in range(start.at, stop):
                    yield rows_of(reader.get_batch(number))


def materialize_frames(plan: JobPlan, location: str, conf: Configuration) -> JobPlan:
    """The plan with its batch DataFrames replaced by materialized ones; called before a job starts.

    Rows that an earlier start has written are used again. Raises DamagedCheckpointError if they are damaged.
    """
    return replace(plan, vertices=tuple(_materialized(vertex, location, conf) for vertex in plan.vertices))


def _materialized(vertex: Vertex, location: str, conf: Configuration) -> Vertex:
    head = vertex.operators[0]
    if not isinstance(head.spec, SourceSpec) or not isinstance(head.spec.source, DataFrameSource):
        return vertex
    source = head.spec.source
    if not source.bounded:
        return vertex
    folder = os.path.join(_folder(location, conf, head.name), blake2b(vertex.uid.encode(), digest_size=8).hexdigest())
    found = _load(folder) or _write(source.make_frame(), _unread(folder, location))
    return replace(vertex, operators=(replace(head, spec=replace(head.spec, source=found)), *vertex.operators[1:]))


def _folder(location: str, conf: Configuration, name: str) -> str:
    """Where rows are written: a folder that all machines share and that is still there after a restart."""
    parts = urlparse(location)
    if parts.scheme in ("", "file"):
        return os.path.join(unquote(parts.path), "penstock", "frames")
    shared = conf.get(TMP_DIR)
    if not shared:
        raise ProgramError(
            f"'{name}' is a batch DataFrame in a streaming job: its rows must wait in a folder that all machines "
            f"share, and the checkpoint {location} is not one. Name one in {TMP_DIR.key}, or write the DataFrame to "
            "files and read those"
        )
    return os.path.join(shared, f"penstock-frames-{blake2b(location.encode(), digest_size=8).hexdigest()}")


def _load(folder: str) -> MaterializedFrame | None:
    """The rows in a folder; None if there are none yet. Raises DamagedCheckpointError if they have been altered."""
    try:
        with open(os.path.join(folder, _MANIFEST), "rb") as file:
            known, checked = unsealed(file.read())
        path, counts = os.path.join(folder, known["file"]), tuple(known["counts"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(folder, _MANIFEST, str(error)) from None
    if checked and known["file"]:
        _check(folder, known["file"], known["digest"])
    return MaterializedFrame(path, counts)


def _unread(folder: str, location: str) -> str:
    """The folder, if no batch has read rows from it: rows that are computed anew might be others."""
    root = unquote(urlparse(location).path)
    if any(entry.endswith(".arrow") for entry in _entries(folder)) and any(
        _entries(os.path.join(root, generation, "commits"))
        for generation in ("", *(name for name in _entries(root) if name.startswith("generation-")))
    ):
        raise damaged(folder, _MANIFEST, "is missing although the job has read rows that it lists")
    return folder


def _entries(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _check(folder: str, name: str, expected: str) -> None:
    try:
        found = _digest(os.path.join(folder, name))
    except FileNotFoundError:
        raise damaged(folder, name, "is missing") from None
    if found != expected:
        raise damaged(folder, name, "its checksum does not match")


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return file_digest(file, partial(blake2b, digest_size=16)).hexdigest()


def _write(frame: DataFrame, folder: str) -> MaterializedFrame:
    """Let one task write all rows, in the DataFrame's order; the manifest is written last and makes them count."""
    os.makedirs(folder, exist_ok=True)
    made = frame.coalesce(1).mapInArrow(_writer(folder), "file string, counts string").collect()
    name: str = made[0].file if made else ""
    counts: list[int] = json.loads(made[0].counts) if made else []
    digest = {"digest": _digest(os.path.join(folder, name))} if made else {}
    write_whole(os.path.join(folder, _MANIFEST), sealed({"file": name, "counts": counts, **digest}))
    return MaterializedFrame(os.path.join(folder, name), tuple(counts))


def _writer(folder: str) -> ArrowFunction:
    """Each attempt writes a file of its own and returns its name; the driver hears only of the attempt that counts."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        name, counts, writer = f"rows-{uuid.uuid4().hex}.arrow", [], None
        with pa.OSFile(os.path.join(folder, name), "wb") as file:
            for batch in batches:
                if batch.num_rows:
                    writer = writer or pa.ipc.new_file(file, batch.schema)
                    writer.write_batch(batch)
                    counts.append(batch.num_rows)
            if writer is not None:
                writer.close()
        yield pa.RecordBatch.from_pydict({"file": [name], "counts": [json.dumps(counts)]})

    return write
