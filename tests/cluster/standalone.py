"""Starts a standalone Spark cluster on loopback from the installed PySpark, and leaves nothing behind."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from penstock.spark.startup.java import find_java
from tests.effort import HANG_S
from tests.kill.processes import below, kill, wait_for

__all__ = ["Cluster", "standalone_cluster"]

LOOPBACK = "127.0.0.1"
PATIENCE = float(HANG_S)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running cluster: its address and the process numbers of its workers."""

    master: str
    workers: tuple[int, ...]


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        master = f"spark://{LOOPBACK}:{_start_master(folder, started)}"
        started.extend(_spark_class(folder, f"worker-{n}", *_worker(folder, n, master)) for n in range(workers))
        for number in range(workers):
            _wait_for_line(folder / f"worker-{number}.log", "Successfully registered with master")
        yield Cluster(master, tuple(p.pid for p in started[1:]))
    finally:
        for process in reversed(started):
            family = below(process.pid)
            process.kill()
            process.wait()
            for child in family:
                kill(child)


def _start_master(folder: Path, started: list[subprocess.Popen[bytes]]) -> int:
    port = _free_port()
    options = ("--host", LOOPBACK, "--port", str(port), "--webui-port", "0")
    started.append(_spark_class(folder, "master", "org.apache.spark.deploy.master.Master", *options))
    _wait_for_line(folder / "master.log", "I have been elected leader")
    return port


def _worker(folder: Path, number: int, master: str) -> tuple[str, ...]:
    place = str(folder / f"work-{number}")
    size = ("--cores", "1", "--memory", "1g")
    name = "org.apache.spark.deploy.worker.Worker"
    return (name, "--host", LOOPBACK, "--webui-port", "0", "--work-dir", place, *size, master)


def _spark_class(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    home = os.path.dirname(pyspark.__file__)
    environment = {
        **os.environ,
        "JAVA_HOME": find_java(),
        "SPARK_HOME": home,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with open(folder / f"{name}.log", "wb") as log:
        return subprocess.Popen(
            [os.path.join(home, "bin", "spark-class"), *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_line(log: Path, text: str) -> None:
    if not wait_for(lambda: text in log.read_text(errors="replace"), PATIENCE, 0.1):
        raise AssertionError(f"{log.name} does not say {text!r}:\n{log.read_text(errors='replace')[-2_000:]}")
