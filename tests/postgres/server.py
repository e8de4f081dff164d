"""Starts and ends a PostgreSQL server. Not as root, which it refuses."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

__all__ = ["ROOT", "USER", "Server", "free_port", "postgres_server", "run", "unprivileged"]

ROOT = Path(__file__).parents[2]
USER = "penstock"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; anybody on this machine may connect as the one user there is."""

    port: int
    database: str = "postgres"

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{self.database}"

    def connect(self, **options: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(
            f"postgresql://127.0.0.1:{self.port}/{self.database}", user=USER, autocommit=True, **options
        )

    def run(self, sql: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, if it has any."""
        with self.connect() as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def postgres_server() -> Iterator[Server]:
    """A server with an empty database, gone afterwards."""
    programs = subprocess.run(
        [ROOT / "scripts" / "ensure_postgres.sh"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    folder = Path(tempfile.mkdtemp(prefix="penstock-postgres-"))
    try:
        who = unprivileged(folder)
        run([f"{programs}/initdb", "-D", str(folder / "data"), "-U", USER, *_QUICK_INIT], folder, who)
        with _running(programs, folder, who) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_QUICK_INIT = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")


def unprivileged(folder: Path) -> dict[str, Any]:
    """For root: the user to become, who then owns the folder."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    found = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, found.pw_uid, found.pw_gid)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


def run(command: list[str], folder: Path, who: dict[str, Any]) -> None:
    """A command that must succeed, in a folder, as some user."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **who)
    assert done.returncode == 0, done.stdout


@contextmanager
def _running(programs: str, folder: Path, who: dict[str, Any]) -> Iterator[Server]:
    server = Server(free_port())
    settings = ("listen_addresses=127.0.0.1", f"port={server.port}", "unix_socket_directories=", "fsync=off")
    options = [word for setting in settings for word in ("-c", setting)]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [f"{programs}/postgres", "-D", str(folder / "data"), *options], cwd=folder, stdout=log, stderr=log, **who
        )
    try:
        _wait(server, process, folder / "log")
        yield server
    finally:
        process.send_signal(signal.SIGINT)  # disconnects everybody, then ends
        process.wait()


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """For as long as it takes: a server that cannot start ends."""
    while process.poll() is None:
        with suppress(psycopg.OperationalError):
            server.connect(connect_timeout=2).close()
            return
        time.sleep(0.05)
    raise AssertionError(f"PostgreSQL did not start\n{log.read_text(errors='replace')}")
