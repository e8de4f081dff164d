"""Dialects: how each kind of database is connected to, and how values are passed to it."""

from __future__ import annotations

import datetime
import decimal
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from penstock.core.errors import ProgramError

__all__ = ["Dialect", "MySql", "PostgreSql", "Sqlite", "dialect_of"]


@dataclass(frozen=True)
class Dialect(ABC):
    """A database, picklable: made from a JDBC address, on the driver; connected to there and in workers."""

    driver_name: ClassVar[str]
    mark: ClassVar[str] = "?"
    name_types: ClassVar[tuple[str, str]] = ("VARCHAR(255)", "VARCHAR(64)")
    """Columns for the names of a sink and of a generation, which must be told apart to the letter."""
    unless_there: ClassVar[str] = "ON CONFLICT DO NOTHING"
    """Ends an INSERT that leaves a row alone if its key is there. How many rows it reports is not looked at."""
    locked: ClassVar[str] = " FOR UPDATE"
    """Ends a SELECT whose rows nobody else may change, nor read in this way, until the transaction ends."""

    @abstractmethod
    def check(self) -> None:
        """Refuse if what is needed to reach the database is not installed."""

    @abstractmethod
    def connect(self) -> Any:
        """A DB-API connection; nothing is committed by itself."""

    @abstractmethod
    def begin(self, connection: object) -> None:
        """Start a transaction that is going to write."""

    @abstractmethod
    def may_pass(self, error: Exception) -> bool:
        """Whether another try, on another connection, may succeed."""

    def adapt(self, value: object) -> Any:
        """A value as the driver takes it."""
        return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


# -- SQLite ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sqlite(Dialect):
    """A database in a file, by Python's own driver. Driver and workers must see the same file.

    >>> Sqlite("/tmp/x.db").adapt(datetime.datetime(2024, 5, 6, 7, 8, 9))
    '2024-05-06 07:08:09'
    """

    path: str
    driver_name: ClassVar[str] = "org.sqlite.JDBC"
    locked: ClassVar[str] = ""  # BEGIN IMMEDIATE has locked the whole database

    def check(self) -> None:
        """The driver comes with Python."""

    def connect(self) -> Any:
        return sqlite3.connect(self.path, timeout=60.0, isolation_level=None, check_same_thread=False)

    def begin(self, connection: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def may_pass(self, error: Exception) -> bool:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR)

    def adapt(self, value: object) -> Any:
        value = super().adapt(value)
        make = next((make for cls, make in _SQLITE_VALUES if isinstance(value, cls)), None)
        return value if make is None else make(value)


_SQLITE_VALUES: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (bool, int),
    (decimal.Decimal, str),
    (datetime.datetime, lambda moment: moment.isoformat(" ")),
    (datetime.date, datetime.date.isoformat),
    (datetime.time, datetime.time.isoformat),
)
"""What Python's driver of SQLite does not take, and what it is given instead; a datetime is also a date."""


def _sqlite(rest: str, url: str) -> Dialect:
    if not rest or rest.startswith(":memory:"):
        raise ProgramError(f"{url!r} names no file: a database in memory is not seen by the workers")
    return Sqlite(os.path.abspath(rest))


# -- PostgreSQL --------------------------------------------------------------------------------------------

_PARAMETERS = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
    "targetServerType": "target_session_attrs",
    "options": "options",
}
_SERVERS = {"any": "any", "primary": "read-write", "master": "read-write", "secondary": "standby"}


@dataclass(frozen=True)
class PostgreSql(Dialect):
    """PostgreSQL by psycopg 3: `pip install 'penstock[postgres]'`."""

    address: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    driver_name: ClassVar[str] = "org.postgresql.Driver"
    mark: ClassVar[str] = "%s"

    def check(self) -> None:
        try:
            import psycopg  # noqa: F401
        except ImportError as error:
            raise ProgramError(
                f"jdbc:postgresql needs psycopg ({error}): pip install 'penstock[postgres]', on the workers too"
            ) from error

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(self.address, user=self.user, password=self.password)  # None: as the address says

    def begin(self, connection: object) -> None:
        """The driver does so with the first statement."""

    def may_pass(self, error: Exception) -> bool:
        import psycopg

        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def _postgresql(rest: str, url: str, user: str | None, password: str | None) -> Dialect:
    place, _, query = rest.partition("?")
    if not place.startswith("//"):
        place = f"//localhost/{quote(place)}"
    return PostgreSql(f"postgresql:{place}{_query(query, url)}", user, password)


def _query(query: str, url: str) -> str:
    """Parameters under the names of PostgreSQL's own library."""
    given: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name == "currentSchema":
            given["options"] = f"-csearch_path={value}"
        elif name in _PARAMETERS:
            given[_PARAMETERS[name]] = _SERVERS.get(value, value) if name == "targetServerType" else value
        else:
            known = ", ".join(sorted({*_PARAMETERS, "currentSchema"}))
            raise ProgramError(f"{url!r}: the parameter {name!r} is not known here, only {known}")
    return f"?{urlencode(given, quote_via=quote)}" if given else ""


# -- MySQL and MariaDB -------------------------------------------------------------------------------------

_MYSQL_PARAMETERS = ("connectTimeout", "password", "serverSslCert", "user")
_MYSQL_PASSES = frozenset(
    (1020, 1040, 1053, 1077, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1927, 2002, 2003, 2006, 2013)
)
"""Numbers of errors after which another try may succeed: no connection, a lost one, a shutdown, locks."""


@dataclass(frozen=True)
class MySql(Dialect):
    """MySQL and MariaDB by PyMySQL: `pip install 'penstock[mysql]'`. Tables must be of an engine with transactions."""

    host: str
    port: int
    database: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    timeout_s: float = 10.0
    authority: str | None = None
    driver_name: ClassVar[str] = "com.mysql.cj.jdbc.Driver"
    mark: ClassVar[str] = "%s"
    # texts are compared without regard to case and blanks at the end, bytes are not
    name_types: ClassVar[tuple[str, str]] = ("VARBINARY(1020)", "VARBINARY(64)")
    unless_there: ClassVar[str] = "ON DUPLICATE KEY UPDATE batch = batch"

    def check(self) -> None:
        try:
            import pymysql  # noqa: F401
        except ImportError as error:
            raise ProgramError(
                f"jdbc:mysql and jdbc:mariadb need PyMySQL ({error}): pip install 'penstock[mysql]', on the workers too"
            ) from error

    def connect(self) -> Any:
        import pymysql

        return pymysql.connect(
            host=self.host,
            port=self.port,
            database=self.database,
            user=self.user,
            password=self.password or "",
            connect_timeout=self.timeout_s,
            ssl_ca=self.authority,
            charset="utf8mb4",
            autocommit=False,
        )

    def begin(self, connection: object) -> None:
        """The server does so with the first statement."""

    def may_pass(self, error: Exception) -> bool:
        import pymysql

        number = error.args[0] if error.args else None
        return isinstance(error, pymysql.InterfaceError) or (
            isinstance(error, pymysql.MySQLError) and number in _MYSQL_PASSES
        )


def _mysql(rest: str, url: str, user: str | None, password: str | None) -> Dialect:
    parts = urlsplit(rest)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(given.keys() - set(_MYSQL_PARAMETERS)):
        known = ", ".join(_MYSQL_PARAMETERS)
        raise ProgramError(f"{url!r}: the parameter {unknown[0]!r} is not known here, only {known}")
    if not parts.hostname or not parts.path.strip("/") or "," in parts.netloc:
        raise ProgramError(f"{url!r} must name one host and a database: jdbc:mysql://host:port/name")
    try:
        port, wait_ms = parts.port or 3306, float(given.get("connectTimeout", 10_000))
    except ValueError as error:
        raise ProgramError(f"{url!r} is not an address of MySQL or MariaDB: {error}") from error
    return MySql(
        parts.hostname,
        port,
        unquote(parts.path.strip("/")),
        user if user is not None else given.get("user"),
        password if password is not None else given.get("password"),
        wait_ms / 1000,
        given.get("serverSslCert"),
    )


def dialect_of(url: str, user: str | None = None, password: str | None = None) -> Dialect:
    """The database behind a JDBC address.

    >>> dialect_of("jdbc:postgresql://db:5432/shop?currentSchema=sales", "me")
    PostgreSql(address='postgresql://db:5432/shop?options=-csearch_path%3Dsales', user='me')
    """
    scheme, _, rest = url.removeprefix("jdbc:").partition(":")
    if url.startswith("jdbc:") and scheme == "sqlite":
        return _sqlite(rest, url)
    if url.startswith("jdbc:") and scheme == "postgresql":
        return _postgresql(rest, url, user, password)
    if url.startswith("jdbc:") and scheme in ("mysql", "mariadb"):
        return _mysql(rest, url, user, password)
    raise ProgramError(
        f"{url!r} is no database known here: use jdbc:postgresql://host:port/name, jdbc:mysql://host:port/name, "
        "jdbc:mariadb://host:port/name or jdbc:sqlite:/file"
    )
