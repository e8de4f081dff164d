"""The list of running jobs: each job has an entry in a folder of its user, and one beside its checkpoint.

A process that wants something of a job finds it here and asks through its control channel. Entries are a format on
disk: jobs that were started by another version of Penstock are listed, found and canceled too.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from urllib.parse import urlparse

from penstock.core.config.variables import STATE_DIR
from penstock.core.errors import JobNotFoundError
from penstock.core.processes import runs
from penstock.core.whole_files import write_whole

__all__ = [
    "CHANNELS",
    "RunningJob",
    "find_job",
    "forget_dead",
    "jobs_folder",
    "local_path",
    "remove_entry",
    "running_jobs",
    "write_entry",
]

_BESIDE = "penstock/running.json"
CHANNELS = "penstock/mailbox"
"""Where the control channels of jobs lie beside their checkpoint."""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """The entry of a job: what other processes know of it. The names of the fields are the keys in its file.

    `mark` tells the job's process from a later one with the same number. `mailbox` is the folder of its control
    channel, `engine` the name of its host.

    >>> from penstock.core.processes import process_mark
    >>> job = RunningJob("5f1a", "words", os.getpid(), process_mark(os.getpid()), socket.gethostname())
    >>> job.alive
    True
    """

    job_id: str
    name: str
    pid: int
    mark: str
    machine: str
    started_ms: int = 0
    status: str = "RUNNING"
    engine: str = "streaming"
    script: str = ""
    checkpoint: str = ""
    mailbox: str = ""

    @property
    def here(self) -> bool:
        """Whether it runs on this machine."""
        return self.machine == socket.gethostname()

    @property
    def alive(self) -> bool:
        """Whether its process still runs. A job of another machine counts as alive, since this one cannot tell."""
        return not self.here or runs(self.pid, self.mark)

    @property
    def short_id(self) -> str:
        return self.job_id[:8]


def jobs_folder() -> Path:
    """Where the jobs of this user are listed: `PENSTOCK_STATE_DIR`, else under the user's state directory."""
    given = STATE_DIR.get()
    if given:
        return Path(given) / "jobs"
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else _home()) / "penstock" / "jobs"


def _home() -> Path:
    """The user's state directory; a temporary folder for a user without a home, as in some containers."""
    try:
        return Path.home() / ".local" / "state"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"state-{os.getuid()}"


def local_path(location: str) -> Path | None:
    """A checkpoint's folder if this machine's file system holds it.

    >>> local_path("file:/data/c"), local_path("hdfs://h/c")
    (PosixPath('/data/c'), None)
    """
    if not location:
        return None
    scheme = urlparse(location).scheme
    if scheme not in ("", "file"):
        return None
    return Path(urlparse(location).path if scheme else location).absolute()


# -- writing ------------------------------------------------------------------------------------------------


def write_entry(job: RunningJob) -> None:
    """List a job, or update its entry after a change. OSError if the folder cannot be written."""
    text = json.dumps(asdict(job), indent=2)
    for place in _places(job):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, text)


def remove_entry(job: RunningJob) -> None:
    """Take a job off the list; the entry of a successor on the same checkpoint stays."""
    for place in _places(job):
        found = _read(place)
        if found is not None and found.job_id == job.job_id:
            with contextlib.suppress(OSError):
                place.unlink()


def _places(job: RunningJob) -> list[Path]:
    beside = local_path(job.checkpoint)
    return [jobs_folder() / f"{job.job_id}.json", *([beside / _BESIDE] if beside else [])]


# -- reading ------------------------------------------------------------------------------------------------


def _read(path: Path) -> RunningJob | None:
    """The entry in a file; None if the file is gone or is not an entry. Keys of a later version are ignored."""
    known = {f.name for f in fields(RunningJob)}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return RunningJob(**{key: value for key, value in data.items() if key in known})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def running_jobs() -> list[RunningJob]:
    """This user's running jobs, the oldest first; removes the entries of jobs whose process has died."""
    found = [job for path in jobs_folder().glob("*.json") if (job := _read(path)) is not None]
    for job in found:
        if not job.alive:
            _forget(job)
    return sorted((job for job in found if job.alive), key=lambda job: (job.started_ms, job.job_id))


def _forget(job: RunningJob) -> None:
    """Remove the entry and the control channel of a job whose process has died, which could not do so itself."""
    remove_entry(job)
    channel, beside = Path(job.mailbox), local_path(job.checkpoint)
    if channel.parent == jobs_folder() or (beside is not None and channel.parent == beside / CHANNELS):
        shutil.rmtree(channel, ignore_errors=True)


def forget_dead(checkpoint: str) -> None:
    """Clear up after the last job on a checkpoint if its process has died; called before the next job is listed."""
    beside = local_path(checkpoint)
    job = _read(beside / _BESIDE) if beside is not None else None
    if job is not None and not job.alive:
        _forget(job)


def find_job(wanted: str) -> RunningJob:
    """The running job with this name, id (or the beginning of one), process number or checkpoint folder.

    JobNotFoundError if no job, or more than one, fits.
    """
    beside = local_path(wanted)
    if beside is not None and (job := _read(beside / _BESIDE)) is not None and job.alive:
        return job
    running = running_jobs()
    found = [job for job in running if _fits(job, wanted)]
    if len(found) == 1:
        return found[0]
    raise JobNotFoundError(_ambiguous(wanted, found) if found else _unknown(wanted, running))


def _fits(job: RunningJob, wanted: str) -> bool:
    place = local_path(wanted)
    return (
        wanted in (job.name, str(job.pid), job.checkpoint)
        or (len(wanted) >= 4 and job.job_id.startswith(wanted))
        or (bool(job.checkpoint) and place is not None and place == local_path(job.checkpoint))
    )


def _ambiguous(wanted: str, found: list[RunningJob]) -> str:
    ids = ", ".join(job.short_id for job in found)
    return f"{len(found)} running jobs are called {wanted!r}: give an id instead ({ids})"


def _unknown(wanted: str, running: list[RunningJob]) -> str:
    if not running:
        return f"No running job {wanted!r}: no job of this user runs on this machine"
    names = ", ".join(f"{job.name!r} ({job.short_id})" for job in running)
    return f"No running job {wanted!r}. There are: {names}"
