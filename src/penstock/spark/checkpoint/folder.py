"""What Penstock writes beside Spark's checkpoint: who it belongs to, and in which shape (F4, F8)."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.core.errors import CheckpointError, ForeignCheckpointError
from penstock.core.whole_files import write_whole
from penstock.savepoint.sealed_json import sealed, unsealed
from penstock.spark.checkpoint.integrity import damaged, digest, state_descriptions

__all__ = ["Checkpoint"]

_JOB = "penstock/job.json"
_OWNER = "penstock/owner"
_SEAL = "penstock/sealed"
_GENERATION = "penstock/generation"


class Checkpoint:
    """A checkpoint folder on any file system that Spark reaches."""

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

    def _at(self, name: str) -> Any:
        return self._path(f"{self.location}/{name}" if name else self.location)

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
        """The content of a file; FileNotFoundError if there is none, whatever the file system."""
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
        """Write whole or not at all. On a local disk Hadoop would start a process for each file, to set its mode."""
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
        """From now on the job goes on from this generation."""
        self.root.write(_GENERATION, sealed({"generation": self.number}))

    def forget_predecessors(self) -> None:
        """Remove older generations, and what the state came from; called once a batch of this one is durable."""
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
        """Whether a job has begun here; a folder that is neither empty nor a job's is refused."""
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

    def claim(self, description: dict[str, Any]) -> None:
        """Make an empty folder a job's."""
        self.write(_JOB, sealed(description))

    def own(self) -> None:
        """This driver is the one that runs the job from now on."""
        self.root.write(_OWNER, sealed({"owner": self.root._token}))

    def check_owner(self) -> None:
        """Refuse to go on once a successor has claimed the checkpoint: this driver was thought dead."""
        if self.root._owner() != self.root._token:
            raise CheckpointError(
                f"Another driver has taken over the checkpoint {self.root.location}, so this one stops. "
                "Only one may run a job at a time"
            )

    def _owner(self) -> Any:
        raw = self.read_bytes(_OWNER)
        if len(raw) == 32 and raw.isalnum():
            return raw.decode()  # of a driver of an earlier version
        try:
            return unsealed(raw)[0].get("owner")
        except ValueError as error:
            raise damaged(self.location, _OWNER, str(error)) from None

    def description(self) -> dict[str, Any]:
        """What the job that owns it said of itself."""
        return self._described()[0]

    @property
    def summed(self) -> bool:
        """Whether a checksum covers the description: older versions wrote none."""
        return self._described()[1]

    def _described(self) -> tuple[dict[str, Any], bool]:
        try:
            return unsealed(self.read_bytes(_JOB))
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
