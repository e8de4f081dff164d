"""The integrity of a checkpoint: finds files that are missing, truncated or altered, and names them."""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from penstock.core.errors import DamagedCheckpointError
from penstock.spark.streaming.offsets import intact

if TYPE_CHECKING:
    from penstock.spark.checkpoint.folder import Checkpoint

__all__ = ["check_logs", "check_state", "damaged", "digest", "state_descriptions"]


_SIGNED = {"timestampMs", "creator"}
"""What Spark notes beside a checksum. Spark does not load a file whose note lacks them."""


def digest(text: str) -> str:
    """The digest by which the seal knows a file."""
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def damaged(location: str, name: str, what: str) -> DamagedCheckpointError:
    """The error that names a damaged file, and says how to go on."""
    return DamagedCheckpointError(
        f"The checkpoint is damaged: {location}/{name}: {what}. "
        "Restore the file from a copy, or start from a new checkpoint folder"
    )


def check_logs(checkpoint: Checkpoint, stages: int, partitions: int) -> None:
    """Raise DamagedCheckpointError if Spark's logs have holes or altered entries; called before a job goes on.

    Spark would silently start from another batch, or from nothing. The JVM of a predecessor may still be writing, so
    commits are listed before and after offsets.
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
    _check_metadata(checkpoint, bool(offsets))
    _check_offsets(checkpoint, offsets[-2:])
    if committed >= 0:
        _check_commit(checkpoint, committed, stages, partitions)


def _check_seal(checkpoint: Checkpoint) -> None:
    for name, expected in checkpoint.read_seal().items():
        if not checkpoint.exists(name):
            raise damaged(checkpoint.location, name, "is missing although the results of its batch are out")
        if digest(checkpoint.read(name)) != expected:
            raise damaged(checkpoint.location, name, "has been altered")


def _check_metadata(checkpoint: Checkpoint, begun: bool) -> None:
    """The name Spark gives the query; another one would do as well, none would not."""
    if not checkpoint.exists("metadata"):
        if begun:
            raise damaged(checkpoint.location, "metadata", "is missing although the job has been run")
        return
    try:
        uuid.UUID(json.loads(checkpoint.read("metadata"))["id"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(checkpoint.location, "metadata", str(error)) from None


def _check_offsets(checkpoint: Checkpoint, batch_ids: list[int]) -> None:
    """Each offset must be whole. Spark takes settings over from the last one, so they must not have changed."""
    settings = [_read_offset(checkpoint, batch_id) for batch_id in batch_ids]
    if any(len(s) == len(settings[0]) and s != settings[0] for s in settings):
        raise damaged(checkpoint.location, f"offsets/{batch_ids[-1]}", "its settings are not those of the batch before")


def _read_offset(checkpoint: Checkpoint, batch_id: int) -> dict[str, str]:
    name = f"offsets/{batch_id}"
    try:
        version, meta, positions, *_ = checkpoint.read(name).splitlines()
        if version != "v1" or not intact(json.loads(positions)):
            raise ValueError("the checksum of its positions does not match")
        return dict(json.loads(meta)["conf"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(checkpoint.location, name, str(error)) from None


def _check_commit(checkpoint: Checkpoint, batch_id: int, stages: int, partitions: int) -> None:
    """The commit must name the state of every stage and partition: where it names none, Spark would begin anew."""
    name = f"commits/{batch_id}"
    try:
        version, body = checkpoint.read(name).splitlines()
        ids = json.loads(body).get("stateUniqueIds") or {}
        found = {stage: len(parts) for stage, parts in ids.items()}
        if version != "v2" or found != {str(stage): partitions for stage in range(stages)}:
            raise ValueError("it does not name the state of every stage and partition")
    except (ValueError, AttributeError, TypeError) as error:
        raise damaged(checkpoint.location, name, str(error)) from None


# -- state, looked at only when Spark could not load it -------------------------------------------------


def check_state(checkpoint: Checkpoint) -> None:
    """Raise DamagedCheckpointError for the first file of committed state whose checksum does not match.

    Called when a query failed: Spark says that state cannot be loaded, but not always which file is to blame.
    """
    committed = max(checkpoint.batches("commits"), default=-1)
    if committed < 0:
        return
    ids = json.loads(checkpoint.read(f"commits/{committed}").splitlines()[1]).get("stateUniqueIds") or {}
    for name in state_descriptions(checkpoint):
        _check_description(checkpoint, name)
    for stage, partitions in ids.items():
        for partition, (unique,) in enumerate(partitions):
            _check_store(checkpoint, f"state/{stage}/{partition}", f"{committed + 1}_{unique}")


def state_descriptions(checkpoint: Checkpoint) -> list[str]:
    """The files in which Spark describes the state of each stage: the newest description, and the schemas."""
    found = []
    for stage in checkpoint.names("state"):
        folder = f"state/{stage}/_metadata/v2"
        newest = max((int(n) for n in checkpoint.names(folder) if n.isdigit()), default=None)
        found += [f"{folder}/{newest}"] if newest is not None else []
        schemas = f"state/{stage}/_stateSchema/default"
        found += [f"{schemas}/{name}" for name in checkpoint.names(schemas) if not name.startswith(".")]
    return found


def _check_description(checkpoint: Checkpoint, name: str) -> None:
    text = checkpoint.read(name)
    try:
        if "/_metadata/" in name:
            json.loads(text.removeprefix("v2\n"))
        elif "v3" not in text[:4]:
            raise ValueError("it does not begin as it should")
    except ValueError as error:
        raise damaged(checkpoint.location, name, str(error)) from None


def _check_store(checkpoint: Checkpoint, folder: str, version: str) -> None:
    names = checkpoint.names(folder)
    if f"{version}.changelog" not in names and f"{version}.zip" not in names:
        raise damaged(checkpoint.location, f"{folder}/{version}.changelog", "is missing although it was committed")
    for name in names:
        if f"{name}.crc" in names:
            # Spark may remove old versions meanwhile, but not the files that it needs
            with suppress(FileNotFoundError):
                _check_sum(checkpoint, f"{folder}/{name}")


def _check_sum(checkpoint: Checkpoint, name: str) -> None:
    try:
        expected = json.loads(checkpoint.read(f"{name}.crc"))
        size, value = int(expected["mainFileSize"]), int(expected["value"])
        if expected["algorithm"] != "CRC32C" or not expected.keys() >= _SIGNED:
            raise ValueError("it is not as Spark writes it")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(checkpoint.location, f"{name}.crc", str(error)) from None
    data = checkpoint.read_bytes(name)
    if len(data) != size:
        raise damaged(checkpoint.location, name, f"has {len(data)} bytes, had {size} when it was written")
    if checkpoint.crc32c(data) & 0xFFFFFFFF != value & 0xFFFFFFFF:
        raise damaged(checkpoint.location, name, "its checksum does not match")
