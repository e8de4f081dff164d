"""How other processes speak to a running job: files in a folder, a request and its answer."""

from __future__ import annotations

import contextlib
import json
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.core.whole_files import write_whole

__all__ = ["Mailbox", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of a job: `cancel`, `savepoint`, ... with its arguments."""

    action: str
    arguments: dict[str, Any] = field(default_factory=dict)
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)


class Mailbox:
    """The folder of one job. Every file appears whole; a request is taken once, an answer read once.

    >>> import tempfile
    >>> box = Mailbox(tempfile.mkdtemp())
    >>> asked = box.ask("cancel")
    >>> (taken,) = box.take()
    >>> box.reply(taken, {"status": "CANCELED"})
    >>> box.answer(asked), box.take()
    ({'status': 'CANCELED'}, [])
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def open(self) -> None:
        """Make the folder, empty: what was asked of a predecessor does not concern this job."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.clear()

    def clear(self) -> None:
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)

    def ask(self, action: str, **arguments: object) -> Request:
        """Put a request in; the job takes it within a moment."""
        request = Request(action, arguments)
        self._write(f"request-{request.request_id}", {"action": action, "arguments": arguments})
        return request

    def answer(self, request: Request) -> dict[str, Any] | None:
        """What the job answered, told once; None as long as it has not."""
        path = self.folder / f"answer-{request.request_id}.json"
        found = self._read(path)
        if found is not None:
            path.unlink(missing_ok=True)
        return found

    def close(self) -> None:
        """The job has ended, or who asked is done: remove the folder unless an answer waits in it for somebody."""
        for path in self.folder.glob("request-*.json"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def take(self) -> list[Request]:
        """Requests that have come, oldest first; each is given out once."""
        paths = sorted(self.folder.glob("request-*.json"), key=lambda path: path.stat().st_mtime_ns)
        return [request for path in paths if (request := self._taken(path)) is not None]

    def _taken(self, path: Path) -> Request | None:
        data = self._read(path)
        path.unlink(missing_ok=True)
        if data is None:
            return None
        return Request(str(data.get("action")), dict(data.get("arguments", {})), path.stem.removeprefix("request-"))

    def reply(self, request: Request, answer: dict[str, Any]) -> None:
        self._write(f"answer-{request.request_id}", answer)

    def _write(self, name: str, data: dict[str, Any]) -> None:
        write_whole(self.folder / f"{name}.json", json.dumps(data))

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return data if isinstance(data, dict) else None
