"""Failures of Spark as errors that a user can act on, and Penstock's own errors on their way through the JVM."""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.core.config.variables import JVM_TRACE
from penstock.core.errors import DamagedCheckpointError, JobFailedError, PenstockError

__all__ = ["carried_error", "errors_travel", "looks_damaged", "translate"]

_DAMAGE = re.compile(
    r"hecksum|CORRUPT|orrupt|CANNOT_READ_DELTA|CANNOT_READ_CHECKPOINT|CHECKPOINT_RB|FAILED_READ|FileNotFoundException"
    r"|does not exist|Incomplete log file|MALFORMED|UNEXPECTED_(?:FILE|CHECKPOINT)|EOFException|StreamCorrupted"
    r"|STATE_STORE|magic|ZipException|JsonParse|MISSING_METADATA|Unable to read|batch \d+ doesn't exist",
)
_NOISE = re.compile(r"\s|\.\.\. \d+ more|(JVM|Driver) stacktrace|Traceback|An exception was raised by the Python Proxy")
_PATH = re.compile(r"(?:file:)?(/[^\s'\",()\[\]]+)")


def translate(error: BaseException, checkpoint: str | None = None) -> PenstockError:
    """The error to show for a failure; called by hosts for whatever Spark raises.

    It is the error that a worker sent, if one did. Else, if the text speaks of a damaged file in `checkpoint`, one that
    names the file. Else one with those lines of the JVM's text that say something.
    """
    if isinstance(error, PenstockError):
        return error
    text = str(error)
    carried = carried_error(text)
    if carried is not None:
        return carried
    if checkpoint is not None:
        damaged = _damaged_file(text, checkpoint)
        if damaged:
            return DamagedCheckpointError(
                f"The checkpoint is damaged: {damaged}\n{_telling(text)}\n"
                "Restore the file from a copy, or start from a savepoint or a new checkpoint folder"
            )
    return JobFailedError(f"{_telling(text)}\nSet {JVM_TRACE.name}=1 to see the whole trace{_whole(text)}")


def looks_damaged(text: str) -> bool:
    """Whether the text of a failure may come from a damaged file."""
    return _DAMAGE.search(text) is not None


def _damaged_file(text: str, checkpoint: str) -> str | None:
    if not looks_damaged(text):
        return None
    root = checkpoint.removeprefix("file:").rstrip("/")
    paths = [m.group(1).rstrip(".:;") for m in _PATH.finditer(text)]
    inside = [p for p in paths if p.startswith(root + "/")]
    return inside[0] if inside else None


def _telling(text: str) -> str:
    """The lines that say something: the causes if there are any, without the frames of Java and Python."""
    told = text.partition("=== Streaming Query ===")[0]
    lines = [line for line in told.splitlines() if line.strip() and not _NOISE.match(line)]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return "\n".join(list(dict.fromkeys(causes))[-3:] or lines[:25])


def _whole(text: str) -> str:
    return f"\n{text}" if JVM_TRACE.get() else ""


# -- errors on their way from workers to the driver -------------------------------------------------

_MARK = re.compile(r"PENSTOCK\[([A-Za-z0-9+/=]+)\]")


@contextmanager
def errors_travel() -> Iterator[None]:
    """Inside, in a worker, Penstock's errors are wrapped so that they survive the way through the JVM to the driver."""
    try:
        yield
    except PenstockError as error:
        packed = base64.b64encode(pickle.dumps(error)).decode()
        raise RuntimeError(f"PENSTOCK[{packed}]\n{error}") from None


def carried_error(text: str) -> PenstockError | None:
    """The error that a worker sent, if the text of a failure holds one; called on the driver."""
    found = _MARK.search(text)
    if found is None:
        return None
    error = pickle.loads(base64.b64decode(found.group(1)))
    assert isinstance(error, PenstockError)
    return error
