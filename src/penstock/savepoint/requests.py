"""How another process asks a running job for a savepoint or to stop: files beside its checkpoint.

The asker writes `penstock/requests/<id>.json`; the job answers in `<id>.answer.json`, first that it has begun, then
with what came of it.
"""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass

from penstock.core.clock import SystemClock
from penstock.core.errors import JobNotFoundError, SavepointError
from penstock.core.running_jobs import find_job
from penstock.savepoint.files import Folder
from penstock.savepoint.sums import sealed, unsealed

__all__ = ["REQUESTS", "Request", "answer_name", "ask", "request_name"]

REQUESTS = "penstock/requests"
_POLL_MS = 200


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a savepoint at `path` (none if empty), then to go on or to `stop`, draining first or not.

    >>> Request.decode(Request("/data/one", stop=True).encode().encode())
    Request(path='/data/one', stop=True, drain=False)
    """

    path: str = ""
    stop: bool = False
    drain: bool = False

    def encode(self) -> str:
        return sealed(asdict(self))

    @staticmethod
    def decode(raw: bytes) -> Request:
        """ValueError or TypeError if it is damaged, or asks for something unknown."""
        return Request(**unsealed(raw)[0])


def request_name(ident: str) -> str:
    return f"{REQUESTS}/{ident}.json"


def answer_name(ident: str) -> str:
    return f"{REQUESTS}/{ident}.answer.json"


def ask(
    checkpoint: str, request: Request, clock: SystemClock, answer_ms: int, finish_ms: int, limit_ms: int | None = None
) -> str:
    """Ask the job that runs on a checkpoint, and wait for what comes of it: the path of the savepoint, if one was made.

    Waits for as long as the job is seen to live: it is listed on this machine, and its process runs. One that is not
    seen for `answer_ms` and has not begun is taken for not running; for one that has begun and is not seen, as on
    another machine, `finish_ms` is enough. With `limit_ms` each of the two waits ends then, whatever is seen.
    """
    folder, ident = Folder(checkpoint), uuid.uuid4().hex
    if folder.size("penstock/owner") is None:
        raise SavepointError(f"{checkpoint} is not the checkpoint folder of a job of Penstock")
    folder.write(request_name(ident), request.encode())
    try:
        _wait(folder, ident, clock, (answer_ms, limit_ms), "no job answers: none seems to run on it")
        silent = "the job has not finished what was asked of it"
        answer = _wait(folder, ident, clock, (finish_ms, limit_ms), silent, final=True)
    finally:
        folder.delete(request_name(ident))
    folder.delete(answer_name(ident))
    if "error" in answer:
        raise SavepointError(str(answer["error"]))
    return str(answer.get("path", ""))


def _answer(folder: Folder, name: str) -> dict[str, object]:
    try:
        return unsealed(folder.read_bytes(name))[0]
    except ValueError as error:
        raise SavepointError(f"The job's answer is damaged: {folder.at(name)}: {error}. Ask again") from None


def _wait(
    folder: Folder,
    ident: str,
    clock: SystemClock,
    waits_ms: tuple[int, int | None],
    otherwise: str,
    final: bool = False,
) -> dict[str, object]:
    unseen_ms, limit_ms = waits_ms
    began_ms = seen_ms = clock.now_ms()
    while True:
        if folder.size(answer_name(ident)) is not None:
            answer = _answer(folder, answer_name(ident))
            if answer["done"] or not final:
                return answer
        now_ms = clock.now_ms()
        if limit_ms is not None and now_ms - began_ms >= limit_ms:
            raise SavepointError(f"{folder.location}: {_LATE} after {limit_ms / 1000:g} s")
        if now_ms - seen_ms >= unseen_ms:
            if not _lives(folder.location):
                raise SavepointError(f"{folder.location}: {otherwise} after {unseen_ms // 1000} s")
            seen_ms = now_ms
        clock.sleep_ms(_POLL_MS)


_LATE = "the job has not done what was asked of it, which it may still do,"


def _lives(checkpoint: str) -> bool:
    """Whether a job on this checkpoint is seen to live, on this machine: of others nothing is known."""
    try:
        job = find_job(checkpoint)
    except JobNotFoundError:
        return False
    return job.here and job.alive
