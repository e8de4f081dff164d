"""What a running job is asked for, by its own process or by another through files beside its checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from penstock.core.clock import Clock
from penstock.core.errors import JobFailedError
from penstock.savepoint.requests import REQUESTS, Request, answer_name, request_name
from penstock.savepoint.sealed_json import sealed
from penstock.spark.checkpoint.folder import Checkpoint

__all__ = ["Asked", "Inbox"]

_LOOK_MS = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with the place where its answer goes: the path of the savepoint, empty if none was wanted."""

    request: Request
    answer: Future[str] = field(default_factory=Future)


class Inbox:
    """Requests in the order in which they came."""

    def __init__(self, checkpoint: Checkpoint, clock: Clock) -> None:
        self._checkpoint, self._clock = checkpoint, clock
        self._waiting: deque[Asked] = deque()
        self._seen: set[str] = set()
        self._looked_ms = 0
        self._closed = False

    def put(self, request: Request) -> Future[str]:
        """A request of this process."""
        asked = Asked(request)
        self._waiting.append(asked)
        if self._closed:
            self.close()
        return asked.answer

    def peek(self) -> Request | None:
        """The request whose turn it is, as far as is known; may be called from any thread."""
        return self._waiting[0].request if self._waiting else None

    def first(self) -> Asked | None:
        """The request whose turn it is; it stays until it is done. Files are looked for now and then."""
        now_ms = self._clock.now_ms()
        if now_ms - self._looked_ms >= _LOOK_MS:
            self._looked_ms = now_ms
            self._look()
        return self._waiting[0] if self._waiting else None

    def done(self) -> None:
        """The first request has been answered."""
        self._waiting.popleft()

    def close(self) -> None:
        """The job has ended: who still waits is told."""
        self._closed = True
        while self._waiting:
            asked = self._waiting.popleft()
            if not asked.answer.done():
                asked.answer.set_exception(JobFailedError("The job ended before it could do what was asked of it"))

    def _look(self) -> None:
        names = [n for n in self._checkpoint.names(REQUESTS) if n.endswith(".json") and ".answer" not in n]
        for name in names:
            if name not in self._seen:
                self._seen.add(name)
                self._take(name.removesuffix(".json"), self._checkpoint.read_bytes(f"{REQUESTS}/{name}"))

    def _take(self, ident: str, raw: bytes) -> None:
        write: Callable[[str], None] = lambda body: self._checkpoint.write(answer_name(ident), body)  # noqa: E731
        try:
            request = Request.decode(raw)
        except (ValueError, TypeError) as error:
            where = f"{self._checkpoint.location}/{request_name(ident)}"
            write(sealed({"done": True, "error": f"The job does not understand what is asked in {where}: {error}"}))
            return
        write(sealed({"done": False}))
        self.put(request).add_done_callback(lambda answer: write(_answer(answer)))


def _answer(answer: Future[str]) -> str:
    error = answer.exception()
    return sealed({"done": True, **({"error": str(error)} if error is not None else {"path": answer.result()})})
