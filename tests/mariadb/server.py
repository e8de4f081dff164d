"""Starts and ends a MariaDB server, not as root."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from tests.postgres.server import ROOT, free_port, run, unprivileged

__all__ = ["USER", "MariaDb", "mariadb_server"]

USER = "root"


@dataclass(frozen=True, slots=True)
class MariaDb:
    """A running server; anybody on this machine may connect as the one user there is."""

    port: int
    database: str = "shop"

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{self.database}"

    def connect(self, database: str | None) -> Any:
        return pymysql.connect(host="127.0.0.1", port=self.port, user=USER, database=database, autocommit=True)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, if it has any."""
        with closing(self.connect(self.database)) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []


@contextmanager
def mariadb_server() -> Iterator[MariaDb]:
    """A server with an empty database, gone afterwards."""
    found = subprocess.run([ROOT / "scripts" / "ensure_mariadb.sh"], check=True, stdout=subprocess.PIPE, text=True)
    install, program = found.stdout.split()
    folder = Path(tempfile.mkdtemp(prefix="penstock-mariadb-"))
    try:
        who = unprivileged(folder)
        run([install, "--no-defaults", f"--datadir={folder}/data", *_QUICK_INIT], folder, who)
        with _running(program, folder, who) as server:
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_QUICK_INIT = ("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")


@contextmanager
def _running(program: str, folder: Path, who: dict[str, Any]) -> Iterator[MariaDb]:
    server = MariaDb(free_port())
    options = [
        "--no-defaults",
        f"--datadir={folder}/data",
        f"--socket={folder}/socket",
        f"--pid-file={folder}/pid",
        f"--port={server.port}",
        "--bind-address=127.0.0.1",
        "--character-set-server=utf8mb4",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-fast-shutdown=2",
        "--skip-name-resolve",
    ]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([program, *options], cwd=folder, stdout=log, stderr=log, **who)
    try:
        _wait(server, process, folder / "log")
        yield server
    finally:
        process.terminate()
        process.wait()


def _wait(server: MariaDb, process: subprocess.Popen[bytes], log: Path) -> None:
    """For as long as it takes: a server that cannot start ends."""
    while process.poll() is None:
        with suppress(pymysql.OperationalError), closing(server.connect(None)) as connection:
            connection.cursor().execute(f"create database {server.database}")
            return
        time.sleep(0.05)
    raise AssertionError(f"MariaDB did not start\n{log.read_text(errors='replace')}")
