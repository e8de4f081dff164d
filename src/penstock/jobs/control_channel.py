"""The control channel: how another process asks something of a running job, through files.

The asker writes a request. The job takes it, may answer that it has begun, and answers with what came of it. There are
two places for these files, and one protocol for both: a folder of the job's own on this machine (`LocalChannel`), and
a folder beside a checkpoint, which may be on any file system (`checkpoint_channel`). The names and the contents of the
files are a format on disk: a job that was started by an earlier version reads and writes them too.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from penstock.core.whole_files import write_whole
from penstock.savepoint.sealed_json import sealed, unsealed

__all__ = ["REQUESTS", "ControlChannel", "Files", "LocalChannel", "Request", "checkpoint_channel"]

REQUESTS = "penstock/requests"
"""Where requests lie beside a checkpoint."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a job: `cancel`, `savepoint`, ... with its arguments."""

    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)


class Files(Protocol):
    """What a channel needs of a folder: a local one, a savepoint's (Arrow), a checkpoint's (Spark)."""

    @property
    def location(self) -> str: ...

    def exists(self, name: str) -> bool: ...

    def names(self, folder: str) -> list[str]:
        """The files in a folder, the oldest first if the file system tells; none if the folder does not exist."""

    def read_bytes(self, name: str) -> bytes: ...

    def write(self, name: str, text: str) -> None:
        """Write the file whole or not at all."""

    def delete(self, name: str) -> None:
        """Remove the file, if it is there."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a channel names its files.

    `only`: the one action of this channel; the file of a request then holds nothing but its arguments. `kept`: a
    request stays until its asker removes it, so that the next driver of the job finds it if this one dies.
    """

    folder: str
    request: str
    answer: str
    only: str = ""
    kept: bool = False

    def request_name(self, request_id: str) -> str:
        return os.path.join(self.folder, self.request.format(request_id))

    def answer_name(self, request_id: str) -> str:
        return os.path.join(self.folder, self.answer.format(request_id))

    def request_id(self, name: str) -> str | None:
        """The request that a file in the folder holds; None if the file is not a request."""
        head, _, tail = self.request.partition("{}")
        ident = name.removeprefix(head).removesuffix(tail)
        return ident if name == self.request.format(ident) and "." not in ident else None

    def encode(self, request: Request) -> str:
        arguments = dict(request.arguments)
        return sealed(arguments if self.only else {"action": request.action, "arguments": arguments})

    def decode(self, request_id: str, raw: bytes) -> Request:
        """ValueError if the file is damaged."""
        data = unsealed(raw)[0]
        if self.only:
            return Request(self.only, data, request_id)
        arguments = data.get("arguments", {})
        if not isinstance(arguments, dict):
            raise ValueError(f"its arguments are not an object: {arguments!r}")
        return Request(str(data.get("action")), arguments, request_id)


_LOCAL = Layout("", "request-{}.json", "answer-{}.json")
_BESIDE_CHECKPOINT = Layout(REQUESTS, "{}.json", "{}.answer.json", only="savepoint", kept=True)


class ControlChannel:
    """Both ends of the channel to one job. Every file appears whole; a request is taken once, an answer told once.

    The asker calls `ask`, then `begun` and `answer` until there is one. The job calls `take` and `reply`, all from one
    thread. Neither end waits: the caller has a clock of its own.
    """

    def __init__(self, files: Files, layout: Layout) -> None:
        self._files, self._layout = files, layout
        self._taken: set[str] = set()

    # -- the asker ----------------------------------------------------------------------------------------------

    def ask(self, action: str, **arguments: object) -> Request:
        """Write a request, which the job takes when it next looks. OSError if the folder cannot be written."""
        request = Request(action, arguments)
        self._files.write(self._layout.request_name(request.request_id), self._layout.encode(request))
        return request

    def begun(self, request: Request) -> bool:
        """Whether the job has taken the request and said so, or is done with it."""
        return self._read_answer(request) is not None

    def answer(self, request: Request) -> dict[str, object] | None:
        """What came of the request, told once; None as long as the job is not done. ValueError if it is damaged."""
        found = self._read_answer(request)
        # an answer of an earlier version to a request that is done at once does not say that it is done
        if found is None or not found.pop("done", True):
            return None
        self._files.delete(self._layout.answer_name(request.request_id))
        return found

    def _read_answer(self, request: Request) -> dict[str, object] | None:
        name = self._layout.answer_name(request.request_id)
        if not self._files.exists(name):
            return None
        try:
            return unsealed(self._files.read_bytes(name))[0]
        except ValueError as error:
            where = f"{self._files.location}/{name}"
            raise ValueError(f"The job's answer is damaged: {where}: {error}. Ask again") from None

    def withdraw(self, request: Request) -> None:
        """The asker waits no longer: remove the request, which the job may have begun."""
        self._files.delete(self._layout.request_name(request.request_id))

    # -- the job ------------------------------------------------------------------------------------------------

    def take(self) -> list[Request]:
        """Requests that have come, the oldest first; each is given out once. A damaged one is answered here."""
        found = [self._take(name) for name in self._files.names(self._layout.folder) if name not in self._taken]
        return [request for request in found if request is not None]

    def _take(self, file: str) -> Request | None:
        request_id = self._layout.request_id(file)
        if request_id is None:
            return None
        name = self._layout.request_name(request_id)
        try:
            raw = self._files.read_bytes(name)
        except OSError:  # the asker has removed it meanwhile
            return None
        self._taken.add(file)
        if not self._layout.kept:
            self._files.delete(name)
        try:
            return self._layout.decode(request_id, raw)
        except ValueError as error:
            self.refuse(Request("", {}, request_id), error)
            return None

    def acknowledge(self, request: Request) -> None:
        """Tell the asker that the job has taken the request; called for work that takes long."""
        self._write_answer(request, {"done": False})

    def reply(self, request: Request, answer: Mapping[str, object]) -> None:
        """Tell the asker what came of the request: `error` holds the reason if it could not be done."""
        self._write_answer(request, {"done": True, **answer})

    def refuse(self, request: Request, error: Exception) -> None:
        """Tell the asker that the request makes no sense to this job."""
        where = f"{self._files.location}/{self._layout.request_name(request.request_id)}"
        self.reply(request, {"error": f"The job does not understand what is asked in {where}: {error}"})

    def _write_answer(self, request: Request, answer: Mapping[str, object]) -> None:
        self._files.write(self._layout.answer_name(request.request_id), sealed(answer))


def checkpoint_channel(files: Files) -> ControlChannel:
    """The channel beside a checkpoint, for savepoints; `files` is the checkpoint's folder, on any file system."""
    return ControlChannel(files, _BESIDE_CHECKPOINT)


class LocalChannel(ControlChannel):
    """The channel of one job in a folder of its own on this machine.

    >>> import tempfile
    >>> channel = LocalChannel(tempfile.mkdtemp())
    >>> asked = channel.ask("cancel")
    >>> (taken,) = channel.take()
    >>> channel.reply(taken, {"status": "CANCELED"})
    >>> channel.answer(asked), channel.take()
    ({'status': 'CANCELED'}, [])
    """

    def __init__(self, folder: str | Path) -> None:
        super().__init__(_LocalFiles(Path(folder)), _LOCAL)
        self.folder = Path(folder)

    def open(self) -> None:
        """Make the folder, empty; called by the job. What was asked of a predecessor does not concern this job."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder unless an answer waits in it. The job calls it at its end, an asker when it is done."""
        for path in self.folder.glob("request-*.json"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class _LocalFiles:
    """A folder of this machine. Writing does not make the folder: a job that has ended has removed it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.location = str(folder)

    def exists(self, name: str) -> bool:
        return (self._folder / name).exists()

    def names(self, folder: str) -> list[str]:
        return [path.name for path in sorted((self._folder / folder).glob("*.json"), key=_written_ns)]

    def read_bytes(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def write(self, name: str, text: str) -> None:
        write_whole(self._folder / name, text)

    def delete(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)


def _written_ns(path: Path) -> int:
    """When a file was written; 0 if the other end has removed it meanwhile."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
