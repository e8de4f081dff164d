"""What a kill left behind, read from the folders of the killed job alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from tests.kill.job import PARALLELISM, JobOptions
from tests.kill.sinks import marks

__all__ = ["Class", "Found", "autopsy", "inspect", "last_committed"]

STAGES = 2


class Class(StrEnum):
    """The states in which a batch can be found, in the order in which it passes through them."""

    A = "offset written, nothing prepared"
    B = "sink prepared, state not all written"
    C = "state written, batch not committed"
    D = "batch committed, sink not committed"
    E = "batch committed, sink committed"


@dataclass(frozen=True, slots=True)
class Found:
    """The last batch begun and the last batch committed, as they stand."""

    begun: int
    committed: int
    prepared: int
    """Files that hold records of the batch in flight, not visible."""
    stores: int
    """Stores, of all stages and partitions, whose new version is written."""
    uncommitted: int
    """Files of the committed batch that are still hidden."""
    remaining: int
    """Records that no committed batch holds."""
    behind: tuple[str, ...] = ()
    """Databases that lack rows of the committed batch."""

    @property
    def kind(self) -> Class | None:
        """None before the first batch has begun."""
        if self.uncommitted or self.behind:
            return Class.D
        if self.begun < 0:
            return None
        if self.begun == self.committed:
            return Class.E
        if self.stores == STAGES * PARALLELISM:
            return Class.C
        return Class.B if self.prepared else Class.A


def last_committed(options: JobOptions) -> int:
    """The number of the last batch that Spark has committed; cheap enough to be asked for all the time."""
    return _last(Path(options.checkpoint) / "commits")


def autopsy(options: JobOptions) -> Found:
    """As `inspect`, into the databases as well."""
    found = inspect(options)
    wrote = _subtasks_with_files(Path(options.numbered), found.committed)
    behind = (
        name
        for name, url in options.databases.items()
        if any(marks(url).get((f"numbered in {name}", subtask), -1) < found.committed for subtask in wrote)
    )
    return replace(found, behind=tuple(behind))


def _subtasks_with_files(folder: Path, batch: int) -> set[int]:
    """Who had records in a batch, whether their files are visible or not."""
    return {int(f.name.split("-")[1]) for f in folder.glob("*part-*") if int(f.name.split("-")[2]) == batch}


def inspect(options: JobOptions) -> Found:
    """Look at the checkpoint and at both output folders."""
    checkpoint = Path(options.checkpoint)
    begun, committed = _last(checkpoint / "offsets"), _last(checkpoint / "commits")
    outputs = (Path(options.numbered), Path(options.windows))
    in_flight = begun if begun > committed else None
    return Found(
        begun,
        committed,
        sum(_hidden(folder, {in_flight}) for folder in outputs) if in_flight is not None else 0,
        _stores(checkpoint, in_flight + 1) if in_flight is not None else 0,
        _named_by_state(checkpoint, outputs, committed),
        options.records - _position(checkpoint, committed),
    )


def _last(log: Path) -> int:
    return max((int(f.name) for f in log.glob("*") if f.name.isdigit()), default=-1)


def _position(checkpoint: Path, batch: int) -> int:
    """How many records the batches up to this one hold."""
    if batch < 0:
        return 0
    offset = json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[2])
    return sum(split["at"] for splits in offset["sources"].values() for split in splits.values())


def _hidden(folder: Path, batches: Iterable[int | None]) -> int:
    wanted = set(batches)
    files = [f for f in folder.glob(".*.inprogress") if int(f.name.split("-")[2]) in wanted]
    return sum(1 for f in files if f.exists() and f.stat().st_size)


def _named_by_state(checkpoint: Path, outputs: Iterable[Path], committed: int) -> int:
    """Hidden files of the committed batch, less those of attempts that lost: a subtask that has a visible one."""
    if committed < 0:
        return 0
    subtasks = {(f, name.name.split("-")[1]) for f in outputs for name in f.glob(f"part-*-{committed}-*")}
    hidden = {(f, name.name.split("-")[1]) for f in outputs for name in f.glob(f".part-*-{committed}-*")}
    return len(hidden - subtasks)


def _stores(checkpoint: Path, version: int) -> int:
    """Stores that have a file of this version: stage, partition."""
    return sum(
        1
        for stage in range(STAGES)
        for partition in range(PARALLELISM)
        if any((checkpoint / "state" / str(stage) / str(partition)).glob(f"{version}_*.changelog"))
    )
