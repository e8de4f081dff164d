"""The temporary folder of this process: its own, closed to others, and removed by the next process if this one dies."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import socket
import stat
import tempfile
from hashlib import blake2b
from pathlib import Path

from penstock.core.processes import process_mark, runs

__all__ = ["scratch_folder", "sweep"]

_FOLDERS: dict[int, str] = {}
"""By process number: a forked process needs a folder of its own."""


def scratch_folder() -> str:
    """Where this process may put temporary files; made when first asked for. Removed when the process ends."""
    pid = os.getpid()
    if pid not in _FOLDERS:
        _FOLDERS[pid] = _made(pid)
        atexit.register(_remove, pid, _FOLDERS[pid])
    return _FOLDERS[pid]


def _made(pid: int) -> str:
    base = Path(tempfile.gettempdir()) / f"penstock-{os.getuid()}"
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        if not _is_ours(base):
            raise OSError(f"{base} belongs to somebody else")
        base.chmod(0o700)
        sweep(base)
        folder = base / _name(pid, process_mark(pid))
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:  # a folder without a future: it is not swept if this process is killed
        return tempfile.mkdtemp(prefix="penstock-")
    return str(folder)


def _is_ours(folder: Path) -> bool:
    """Whether the folder is really ours: no other user has made it, or put a link in its place."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _name(pid: int, mark: str) -> str:
    return f"{pid}.{mark}.{_machine()}"


def _machine() -> str:
    """Tells machines and containers apart that share a temporary folder: each counts its processes by itself."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return blake2b(f"{socket.gethostname()} {space}".encode(), digest_size=6).hexdigest()


def sweep(base: Path) -> None:
    """Remove the folders of processes that have died on this machine, without touching anybody else's."""
    for folder in base.iterdir():
        pid, _, rest = folder.name.partition(".")
        mark, _, machine = rest.partition(".")
        if pid.isdigit() and machine == _machine() and not runs(int(pid), mark):
            shutil.rmtree(folder, ignore_errors=True)


def _remove(pid: int, folder: str) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(KeyError):
            del _FOLDERS[pid]
