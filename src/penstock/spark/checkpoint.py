"""What Penstock writes beside Spark's checkpoint: who it belongs to, and in which shape (F4, F8)."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession

from penstock._version import __version__
from penstock.core.errors import DamagedCheckpointError, ForeignCheckpointError
from penstock.core.job import JobPlan

__all__ = ["Checkpoint"]

_FORMAT = 1


class Checkpoint:
    """A checkpoint folder on any file system that Spark reaches."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm = spark._jvm
        assert jvm is not None
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(location)
        self._fs = root.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        self._io = jvm.org.apache.commons.io.IOUtils
        self.location: str = self._fs.makeQualified(root).toString()

    def _at(self, name: str) -> Any:
        return self._path(f"{self.location}/{name}")

    def exists(self, name: str) -> bool:
        return bool(self._fs.exists(self._at(name)))

    def committed(self, batch_id: int) -> bool:
        """Whether Spark has made a batch durable."""
        return self.exists(f"commits/{batch_id}")

    def batches(self, log: str) -> list[int]:
        """Numbers of the batches in a log (`offsets` or `commits`)."""
        if not self.exists(log):
            return []
        names = [status.getPath().getName() for status in self._fs.listStatus(self._at(log))]
        return sorted(int(n) for n in names if n.isdigit())

    def read(self, name: str) -> str:
        stream = self._fs.open(self._at(name))
        try:
            return bytes(self._io.toByteArray(stream)).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write whole or not at all."""
        temporary = self._at(f"{name}.tmp")
        self._fs.mkdirs(self._at(name).getParent())
        stream = self._fs.create(temporary, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self._fs.delete(self._at(name), False)
        if not self._fs.rename(temporary, self._at(name)):
            raise OSError(f"cannot write {name} in {self.location}")

    # -- whose it is ------------------------------------------------------------------------------

    def claim(self, plan: JobPlan) -> None:
        """Make an empty folder this job's, or refuse one that belongs to another job or shape."""
        described = describe(plan)
        if not self.exists("penstock/job.json"):
            if self.exists("offsets") or self.exists("metadata"):
                raise ForeignCheckpointError(
                    f"{self.location} holds a checkpoint that was not written by Penstock (no penstock/job.json). "
                    "Choose another checkpoint folder"
                )
            self.write("penstock/job.json", json.dumps(described, indent=2))
            return
        found = self._description()
        different = [k for k in described if k not in ("version", "name") and found.get(k) != described[k]]
        if different:
            raise ForeignCheckpointError(_difference(self.location, found, described, different))
        self._check_logs()

    def _description(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self.read("penstock/job.json")))
        except ValueError as error:
            raise DamagedCheckpointError(
                f"The checkpoint is damaged: {self.location}/penstock/job.json: {error}"
            ) from None

    def _check_logs(self) -> None:
        """Refuse a log with holes: Spark would silently start from an earlier batch, or from nothing."""
        offsets, commits = self.batches("offsets"), self.batches("commits")
        if commits and (not offsets or max(offsets) < max(commits)):
            raise DamagedCheckpointError(
                f"The checkpoint is damaged: {self.location}/offsets/{max(commits)} is missing although batch "
                f"{max(commits)} was committed. Restore the file from a copy, or start from a new checkpoint folder"
            )
        if offsets and max(offsets) > 0 and (not commits or max(commits) < max(offsets) - 1):
            raise DamagedCheckpointError(
                f"The checkpoint is damaged: {self.location}/commits/{max(offsets) - 1} is missing although batch "
                f"{max(offsets)} was begun. Restore the file from a copy, or start from a new checkpoint folder"
            )


def describe(plan: JobPlan) -> dict[str, Any]:
    """The shape that Spark's checkpoint pins: partitions, stages, and which operators live where."""
    return {
        "format": _FORMAT,
        "version": __version__,
        "name": plan.name,
        "partitions": plan.partitions,
        "max_parallelism": plan.max_parallelism,
        "stages": plan.stages,
        "operators": {op.uid: [v.level, v.parallelism, v.first_partition] for v in plan.vertices for op in v.operators},
        "edges": [[e.edge_id, v.uid, plan.vertex(e.target).uid] for v in plan.vertices for e in v.out_edges],
    }


def _difference(location: str, found: dict[str, Any], now: dict[str, Any], keys: list[str]) -> str:
    if set(found.get("operators", {})).isdisjoint(now["operators"]):
        what = f"it belongs to another job ({found.get('name')!r}, not {now['name']!r})"
    else:
        what = "the program has changed: " + "; ".join(f"{k} was {found.get(k)}, is {now[k]}" for k in keys)
    return (
        f"The checkpoint {location} does not fit this program: {what}. Run the program that wrote it, "
        "or choose another checkpoint folder"
    )
