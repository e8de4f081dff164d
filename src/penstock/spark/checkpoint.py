"""What Penstock writes beside Spark's checkpoint: who it belongs to, and in which shape (F4, F8)."""

from __future__ import annotations

import json
import uuid
from typing import Any

from pyspark.sql import SparkSession

from penstock._version import __version__
from penstock.core.errors import CheckpointError, ForeignCheckpointError
from penstock.core.job import JobPlan
from penstock.spark.damage import check_logs, damaged, digest, state_descriptions

__all__ = ["Checkpoint"]

_FORMAT = 1
_JOB = "penstock/job.json"
_OWNER = "penstock/owner"
_SEAL = "penstock/sealed"


class Checkpoint:
    """A checkpoint folder on any file system that Spark reaches."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm = spark._jvm
        assert jvm is not None
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(location)
        self._fs = root.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        self._io = jvm.org.apache.commons.io.IOUtils
        self._crc = jvm.java.util.zip.CRC32C
        self.location: str = self._fs.makeQualified(root).toString()
        self._token = uuid.uuid4().hex
        self._shape: dict[str, str] | None = None

    def _at(self, name: str) -> Any:
        return self._path(f"{self.location}/{name}")

    def exists(self, name: str) -> bool:
        return bool(self._fs.exists(self._at(name)))

    def committed(self, batch_id: int) -> bool:
        """Whether Spark has made a batch durable."""
        return self.exists(f"commits/{batch_id}")

    def batches(self, log: str) -> list[int]:
        """Numbers of the batches in a log (`offsets` or `commits`)."""
        return sorted(int(n) for n in self.names(log) if n.isdigit())

    def names(self, folder: str) -> list[str]:
        """What a folder holds, sorted; nothing if it does not exist."""
        if not self.exists(folder):
            return []
        return sorted(status.getPath().getName() for status in self._fs.listStatus(self._at(folder)))

    def read(self, name: str) -> str:
        return self.read_bytes(name).decode("utf-8", "surrogateescape")

    def read_bytes(self, name: str) -> bytes:
        stream = self._fs.open(self._at(name))
        try:
            return bytes(self._io.toByteArray(stream))
        finally:
            stream.close()

    def crc32c(self, data: bytes) -> int:
        """The checksum that Spark writes beside the files of its state."""
        crc = self._crc()
        crc.update(bytearray(data))
        return int(crc.getValue())

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
        """Make an empty folder this job's, or refuse one that belongs to another job or shape, or is damaged."""
        described = describe(plan)
        if self.exists(_JOB):
            found = self._description()
            different = [k for k in described if k not in ("version", "name") and found.get(k) != described[k]]
            if different:
                raise ForeignCheckpointError(_difference(self.location, found, described, different))
            check_logs(self, plan)
        elif self.exists(_SEAL):
            raise damaged(self.location, _JOB, "is missing")
        elif self.exists("offsets") or self.exists("metadata"):
            raise ForeignCheckpointError(
                f"{self.location} holds a checkpoint that was not written by Penstock (no penstock/job.json). "
                "Choose another checkpoint folder"
            )
        else:
            self.write(_JOB, json.dumps(described, indent=2))
        self.write(_OWNER, self._token)

    def check_owner(self) -> None:
        """Refuse to go on once a successor has claimed the checkpoint: this driver was thought dead."""
        if self.read(_OWNER) != self._token:
            raise CheckpointError(
                f"Another driver has taken over the checkpoint {self.location}, so this one stops. "
                "Only one may run a job at a time"
            )

    def _description(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self.read(_JOB)))
        except ValueError as error:
            raise damaged(self.location, _JOB, str(error)) from None

    # -- the seal ---------------------------------------------------------------------------------

    def begin_run(self) -> None:
        """A run of the query starts: Spark may describe its state anew."""
        self._shape = None

    def seal(self, batch_id: int) -> None:
        """Note what the logs say of a batch that is durable; called before its results are let out.

        Spark's logs and descriptions of state carry no checksums; and a commit that was lost after its results
        were let out looks as though the batch had never been committed, and would be run, and let out, again.
        """
        if self._shape is None:
            self._shape = {name: digest(self.read(name)) for name in state_descriptions(self)}
        logs = {name: digest(self.read(name)) for name in (f"offsets/{batch_id}", f"commits/{batch_id}")}
        body = json.dumps({"batch": batch_id, "files": {**logs, **self._shape}})
        self.write(_SEAL, f"{digest(body)}\n{body}")

    def read_seal(self) -> dict[str, str]:
        """The digests of the files that the last sealed batch rests on."""
        if not self.exists(_SEAL):
            return {}
        try:
            sum_, body = self.read(_SEAL).split("\n")
            if sum_ != digest(body):
                raise ValueError("its checksum does not match")
            return dict(json.loads(body)["files"])
        except ValueError as error:
            raise damaged(self.location, _SEAL, str(error)) from None


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
