"""What Penstock writes beside Spark's checkpoint: who it belongs to, and in which shape (F4, F8)."""

from __future__ import annotations

import json
import uuid
from hashlib import blake2b
from typing import Any

from pyspark.sql import SparkSession

from penstock._version import __version__
from penstock.core.errors import CheckpointError, DamagedCheckpointError, ForeignCheckpointError
from penstock.core.job import JobPlan
from penstock.spark.offsets import intact

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
        self.location: str = self._fs.makeQualified(root).toString()
        self._token = uuid.uuid4().hex

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
            return bytes(self._io.toByteArray(stream)).decode("utf-8", "surrogateescape")
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

    def seal(self, batch_id: int) -> None:
        """Note what the logs say of a batch that is durable; called before its results are let out.

        Spark's logs carry no checksums; and a commit that was lost after its results were let out looks as
        though the batch had never been committed, and would be run, and let out, again.
        """
        logs = {name: digest(self.read(name)) for name in (f"offsets/{batch_id}", f"commits/{batch_id}")}
        body = json.dumps({"batch": batch_id, "logs": logs})
        self.write(_SEAL, f"{digest(body)}\n{body}")

    def read_seal(self) -> tuple[int, dict[str, str]] | None:
        """The last batch sealed, and the digests of its log files."""
        if not self.exists(_SEAL):
            return None
        try:
            sum_, body = self.read(_SEAL).split("\n")
            if sum_ != digest(body):
                raise ValueError("its checksum does not match")
            sealed = json.loads(body)
            return sealed["batch"], sealed["logs"]
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


# -- damage ------------------------------------------------------------------------------------------


def digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def damaged(location: str, name: str, what: str) -> DamagedCheckpointError:
    return DamagedCheckpointError(
        f"The checkpoint is damaged: {location}/{name}: {what}. "
        "Restore the file from a copy, or start from a new checkpoint folder"
    )


def check_logs(checkpoint: Checkpoint, plan: JobPlan) -> None:
    """Refuse logs with holes or altered entries: Spark would silently start from another batch, or from nothing.

    A predecessor's JVM may still be writing, so commits are listed before and after offsets.
    """
    _check_seal(checkpoint)
    before, offsets, after = (checkpoint.batches(log) for log in ("commits", "offsets", "commits"))
    begun, committed = max(offsets, default=-1), max(before, default=-1)
    if committed not in (-1, *offsets):
        raise damaged(checkpoint.location, f"offsets/{committed}", "is missing although the batch was committed")
    if begun > 0 and begun - 1 not in offsets:
        raise damaged(checkpoint.location, f"offsets/{begun - 1}", f"is missing although batch {begun} was begun")
    if max(after, default=-1) < begun - 1:
        raise damaged(checkpoint.location, f"commits/{begun - 1}", f"is missing although batch {begun} was begun")
    _check_offsets(checkpoint, offsets[-2:])
    if committed >= 0:
        _check_commit(checkpoint, committed, plan)


def _check_seal(checkpoint: Checkpoint) -> None:
    sealed = checkpoint.read_seal()
    for name, expected in sealed[1].items() if sealed is not None else ():
        if not checkpoint.exists(name):
            raise damaged(checkpoint.location, name, "is missing although the results of its batch are out")
        if digest(checkpoint.read(name)) != expected:
            raise damaged(checkpoint.location, name, "has been altered")


def _check_offsets(checkpoint: Checkpoint, batch_ids: list[int]) -> None:
    """Each must be whole; and their settings, which Spark takes over from the last one, must not have changed."""
    settings = [_read_offset(checkpoint, batch_id) for batch_id in batch_ids]
    if any(len(s) == len(settings[0]) and s != settings[0] for s in settings):
        raise damaged(checkpoint.location, f"offsets/{batch_ids[-1]}", "its settings are not those of the batch before")


def _read_offset(checkpoint: Checkpoint, batch_id: int) -> dict[str, str]:
    name = f"offsets/{batch_id}"
    try:
        version, meta, positions = checkpoint.read(name).splitlines()
        if version != "v1" or not intact(json.loads(positions)):
            raise ValueError("the checksum of its positions does not match")
        return dict(json.loads(meta)["conf"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(checkpoint.location, name, str(error)) from None


def _check_commit(checkpoint: Checkpoint, batch_id: int, plan: JobPlan) -> None:
    """The commit must name the state of every stage and partition: for one it does not name Spark begins anew."""
    name = f"commits/{batch_id}"
    try:
        version, body = checkpoint.read(name).splitlines()
        ids = json.loads(body).get("stateUniqueIds") or {}
        found = {stage: len(parts) for stage, parts in ids.items()}
        if version != "v2" or found != {str(stage): plan.partitions for stage in range(plan.stages)}:
            raise ValueError("it does not name the state of every stage and partition")
    except (ValueError, AttributeError, TypeError) as error:
        raise damaged(checkpoint.location, name, str(error)) from None
