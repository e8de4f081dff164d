"""The checkpoint folder: Spark's files, and what Penstock writes beside them: owner, job, generations, the seal."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.core.errors import CheckpointError, ForeignCheckpointError
from penstock.core.whole_files import write_whole
from penstock.savepoint.sealed_json import sealed, unsealed
from penstock.spark.checkpoint.integrity import damaged, digest, state_descriptions

__all__ = ["Checkpoint", "Description"]

Description = dict[str, Any]
"""What a job says of itself in `penstock/job.json`: its name, its shape, where it started, and notes of its plan."""

_JOB = "penstock/job.json"
_OWNER = "penstock/owner"
_SEAL = "penstock/sealed"
_GENERATION = "penstock/generation"


class Checkpoint:
    """A checkpoint folder on any file system that Spark reaches; used on the driver only.

    Spark's own checkpoint, for one shape of the job, is a *generation* (`number`) of the folder: the first is the
    folder itself (`root`), later ones lie inside it.
    """

    def __init__(self, spark: SparkSession, location: str) -> None:
        self._spark = spark
        jvm = spark._jvm
        assert jvm is not None
        self._path = jvm.org.apache.hadoop.fs.Path
        root = self._path(location)
        self._fs = root.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        self._io = jvm.org.apache.commons.io.IOUtils
        self._crc = jvm.java.util.zip.CRC32C
        self.location: str = self._fs.makeQualified(root).toString()
        self._local = Path(self.location.removeprefix("file:")) if self._fs.getScheme() == "file" else None
        self._token = uuid.uuid4().hex
        self._shape: dict[str, str] | None = None
        self.root, self.number = self, 0

    def _at(self, name: str) -> JavaObject:
        return self._path(f"{self.location}/{name}" if name else self.location)

    def exists(self, name: str) -> bool:
        """Whether there is a file or folder of that name."""
        return bool(self._fs.exists(self._at(name)))

    def committed(self, batch_id: int) -> bool:
        """Whether Spark has made a batch durable."""
        return self.exists(f"commits/{batch_id}")

    def batches(self, log: str) -> list[int]:
        """Numbers of the batches in a log (`offsets` or `commits`)."""
        return sorted(int(n) for n in self.names(log) if n.isdigit())

    def names(self, folder: str) -> list[str]:
        """Names of files and folders in a folder, sorted; empty if the folder does not exist."""
        if not self.exists(folder):
            return []
        return sorted(status.getPath().getName() for status in self._fs.listStatus(self._at(folder)))

    def read(self, name: str) -> str:
        """The content of a file as text; damaged bytes survive, so that checksums can tell."""
        return self.read_bytes(name).decode("utf-8", "surrogateescape")

    def read_bytes(self, name: str) -> bytes:
        """The content of a file; FileNotFoundError if there is none, on every file system."""
        if self._local is not None:
            return (self._local / name).read_bytes()
        try:
            stream = self._fs.open(self._at(name))
        except Py4JJavaError:
            if self.exists(name):
                raise
            raise FileNotFoundError(f"{self.location}/{name}") from None
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
        """Write a file, whole or not at all.

        Local files are written without Hadoop, which would start a process for each file to set its mode.
        """
        if self._local is not None:
            path = self._local / name
            path.parent.mkdir(parents=True, exist_ok=True)
            return write_whole(path, text)
        temporary = self._at(f"{name}.tmp")
        self._fs.mkdirs(self._at(name).getParent())
        stream = self._fs.create(temporary, True)
        stream.write(bytearray(text.encode()))
        stream.close()
        self._fs.delete(self._at(name), False)
        if not self._fs.rename(temporary, self._at(name)):
            raise OSError(f"cannot write {name} in {self.location}")

    def delete(self, name: str = "") -> None:
        """Remove a file, or a folder with all that is in it."""
        self._fs.delete(self._at(name), True)

    # -- generations ------------------------------------------------------------------------------

    def current(self) -> Checkpoint:
        """The newest generation in this folder; the first one is the folder itself."""
        if self.exists(_GENERATION):
            return self.generation(self._read_generation())
        begun = [n for n in self.names("") if n.startswith("generation-") and self.exists(f"{n}/{_SEAL}")]
        if begun:
            raise damaged(self.location, _GENERATION, f"is missing although the job went on in {begun[-1]}")
        return self

    def _read_generation(self) -> int:
        raw = self.read_bytes(_GENERATION)
        try:
            # earlier versions wrote the number alone
            return int(raw) if raw.strip().isdigit() else int(unsealed(raw)[0]["generation"])
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(self.location, _GENERATION, str(error)) from None

    def generation(self, number: int) -> Checkpoint:
        """A generation: a checkpoint of Spark's own, for one shape of the job."""
        if number == 0:
            return self
        made = Checkpoint(self._spark, f"{self.location}/generation-{number}")
        made.root, made.number = self, number
        return made

    def make_current(self) -> None:
        """Let the job go on from this generation from now on, also after a restart."""
        self.root.write(_GENERATION, sealed({"generation": self.number}))

    def forget_predecessors(self) -> None:
        """Remove older generations and the savepoint in between; called once a batch of this generation is durable."""
        if self.number == 0:
            return
        root = self.root
        old = {"offsets", "commits", "state", "sources", "metadata"}
        gone = [n for n in root.names("") if n in old or (n.startswith("generation-") and n != self._name)]
        gone += [f"penstock/{n}" for n in root.names("penstock") if n in ("job.json", "sealed") or "upgrade-" in n]
        for name in gone:
            root.delete(name)

    @property
    def _name(self) -> str:
        return f"generation-{self.number}"

    # -- whose it is ------------------------------------------------------------------------------

    @property
    def claimed(self) -> bool:
        """Whether a job has begun here.

        Raises ForeignCheckpointError for a checkpoint of a plain Spark query, DamagedCheckpointError for one whose
        description is gone.
        """
        if self.exists(_JOB):
            return True
        if self.exists(_SEAL):
            raise damaged(self.location, _JOB, "is missing")
        if self.exists("offsets") or self.exists("metadata"):
            raise ForeignCheckpointError(
                f"{self.location} holds a checkpoint that was not written by Penstock (no penstock/job.json). "
                "Choose another checkpoint folder"
            )
        return False

    def claim(self, description: Description) -> None:
        """Note which job the folder belongs to; called when a job begins in it, and when its notes have changed."""
        self.write(_JOB, sealed(description))

    def own(self) -> None:
        """Make this driver the one that runs the job: drivers before it notice and stop."""
        self.root.write(_OWNER, sealed({"owner": self.root._token}))

    def check_owner(self) -> None:
        """Raise CheckpointError if another driver owns the checkpoint: this one was thought dead."""
        if self.root._owner() != self.root._token:
            raise CheckpointError(
                f"Another driver has taken over the checkpoint {self.root.location}, so this one stops. "
                "Only one may run a job at a time"
            )

    def _owner(self) -> object:
        raw = self.read_bytes(_OWNER)
        if len(raw) == 32 and raw.isalnum():
            return raw.decode()  # written by a driver of an earlier version
        try:
            return unsealed(raw)[0].get("owner")
        except ValueError as error:
            raise damaged(self.location, _OWNER, str(error)) from None

    def description(self) -> Description:
        """What the job to which the folder belongs said of itself."""
        return self._described()[0]

    @property
    def summed(self) -> bool:
        """Whether a checksum covers the description: earlier versions wrote none."""
        return self._described()[1]

    def _described(self) -> tuple[Description, bool]:
        try:
            return unsealed(self.read_bytes(_JOB))
        except ValueError as error:
            raise damaged(self.location, _JOB, str(error)) from None

    # -- the seal ---------------------------------------------------------------------------------

    def begin_run(self) -> None:
        """Called before a run of the query: Spark may describe its state anew, so the seal reads that again."""
        self._shape = None

    def seal(self, batch_id: int) -> None:
        """Note digests of what the logs say of a batch that is durable; called before its results are let out.

        Spark's logs and descriptions of state carry no checksums. And a commit file that is lost after the results
        were let out looks as if the batch had never been committed: the batch would be run, and let out, again.
        """
        if self._shape is None:
            self._shape = {name: digest(self.read(name)) for name in state_descriptions(self)}
        logs = {name: digest(self.read(name)) for name in (f"offsets/{batch_id}", f"commits/{batch_id}")}
        body = json.dumps({"batch": batch_id, "files": {**logs, **self._shape}})
        self.write(_SEAL, f"{digest(body)}\n{body}")

    def read_seal(self) -> dict[str, str]:
        """The digests of the files that the last sealed batch rests on, by name; empty if no batch was sealed."""
        if not self.exists(_SEAL):
            return {}
        try:
            sum_, body = self.read(_SEAL).split("\n")
            if sum_ != digest(body):
                raise ValueError("its checksum does not match")
            return dict(json.loads(body)["files"])
        except ValueError as error:
            raise damaged(self.location, _SEAL, str(error)) from None
