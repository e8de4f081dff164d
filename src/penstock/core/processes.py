"""Tells processes of this machine apart, also when the system gives a process number out again."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["process_mark", "runs"]


def process_mark(pid: int) -> str:
    """When the process began, as the system counts it; empty where the system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def runs(pid: int, mark: str) -> bool:
    """Whether the process with this number runs and is the one that began at this mark.

    >>> runs(os.getpid(), process_mark(os.getpid())), runs(os.getpid(), "another beginning")
    (True, False)
    """
    return _exists(pid) and process_mark(pid) == mark


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the process runs for another user
        return True
    return True
