"""Processes of a job: who they are, and how they are killed. Linux only: /proc."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Process",
    "alive",
    "below",
    "end_when_told",
    "executors",
    "jvm_of",
    "kill",
    "python_workers",
    "send",
    "wait_for",
    "wait_gone",
]


@dataclass(frozen=True, slots=True)
class Process:
    """A process and when it started, so that a number used again is not mistaken for it."""

    pid: int
    parent: int
    started: int
    command: str


def _read(pid: int) -> Process | None:
    with suppress(OSError, IndexError, ValueError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] == "Z":
            return None
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return Process(pid, int(fields[1]), int(fields[19]), command)
    return None


def _all() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := _read(int(name))) is not None:
            yield process


def below(pid: int) -> list[Process]:
    """All descendants of a process, parents before children."""
    children: dict[int, list[Process]] = {}
    for process in _all():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.append(child)
            waiting.append(child.pid)
    return found


def jvm_of(pid: int) -> Process | None:
    """The JVM of a Python driver."""
    return next((p for p in below(pid) if "org.apache.spark.deploy.SparkSubmit" in p.command), None)


_DAEMONS = ("pyspark.daemon", "penstock.spark.startup.daemon")


def python_workers(pid: int) -> list[Process]:
    """Workers that run tasks: children of `pyspark.daemon pyspark.worker`, or of our own daemon."""
    family = below(pid)
    daemons = {p.pid for p in family if any(f" -m {name} " in p.command for name in _DAEMONS)}
    return [p for p in family if p.parent in daemons and p.command.rstrip().endswith("pyspark.worker")]


def executors(worker_pid: int) -> list[Process]:
    """Executors of a standalone cluster's worker."""
    return [p for p in below(worker_pid) if "CoarseGrainedExecutorBackend" in p.command]


def alive(process: Process) -> bool:
    now = _read(process.pid)
    return now is not None and now.started == process.started


def kill(process: Process) -> None:
    """SIGKILL, if it is still the same process."""
    if alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def send(pids: Iterable[int], signal_number: signal.Signals) -> None:
    """A signal to those that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)


def end_when_told() -> None:
    """SIGTERM ends this process as Ctrl-C does: what it started is ended, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def wait_gone(processes: list[Process], seconds: float) -> list[Process]:
    """Wait for processes to end; those that have not."""
    wait_for(lambda: not any(map(alive, processes)), seconds)
    return [p for p in processes if alive(p)]


def wait_for(condition: Callable[[], bool], seconds: float, every: float = 0.02) -> bool:
    """Whether a condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
