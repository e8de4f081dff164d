"""How a `JdbcSink` reaches its database, and how many rows it writes at a time."""

from __future__ import annotations

from typing import ClassVar

from penstock.connectors.sql.dialects import Dialect, dialect_of
from penstock.core.config.compat import warn_once
from penstock.core.errors import ProgramError

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions"]


class _ConnectionBuilder:
    """Builds `JdbcConnectionOptions`."""

    def __init__(self) -> None:
        self._url = ""
        self._driver_name: str | None = None
        self._user_name: str | None = None
        self._password: str | None = None

    def with_url(self, url: str) -> _ConnectionBuilder:
        """`jdbc:postgresql://host:port/database`, the same with `mysql` or `mariadb`, or `jdbc:sqlite:/file`."""
        self._url = url
        return self

    def with_driver_name(self, driver_name: str) -> _ConnectionBuilder:
        """Accepted: the address says which driver is used."""
        self._driver_name = driver_name
        return self

    def with_user_name(self, user_name: str) -> _ConnectionBuilder:
        self._user_name = user_name
        return self

    def with_password(self, password: str) -> _ConnectionBuilder:
        self._password = password
        return self

    def build(self) -> JdbcConnectionOptions:
        if not self._url:
            raise ProgramError("JdbcConnectionOptions need an address: call with_url(...)")
        return JdbcConnectionOptions(self._url, self._driver_name, self._user_name, self._password)


class JdbcConnectionOptions:
    """Where a database is, and as who to connect.

    >>> builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    >>> builder.with_url("jdbc:sqlite:/tmp/shop.db").build().get_db_url()
    'jdbc:sqlite:/tmp/shop.db'
    """

    JdbcConnectionOptionsBuilder: ClassVar = _ConnectionBuilder

    def __init__(self, url: str, driver_name: str | None, user_name: str | None, password: str | None) -> None:
        self._url, self._driver_name, self._user_name, self._password = url, driver_name, user_name, password
        self.dialect: Dialect = dialect_of(url, user_name, password)
        if driver_name not in (None, self.dialect.driver_name):
            warn_once("JdbcConnectionOptions.with_driver_name")

    def get_db_url(self) -> str:
        """The address of the database."""
        return self._url

    def get_driver_name(self) -> str | None:
        """The driver that was named; it has no effect."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """The user, or None."""
        return self._user_name

    def get_password(self) -> str | None:
        """The password, or None."""
        return self._password


class _ExecutionBuilder:
    """Builds `JdbcExecutionOptions`."""

    def __init__(self) -> None:
        self._size, self._interval_ms, self._retries = 5000, 0, 3

    def with_batch_size(self, size: int) -> _ExecutionBuilder:
        """How many rows `JdbcSink.sink` writes at a time; 0: all of a micro-batch."""
        self._size = _not_negative("with_batch_size", size)
        return self

    def with_batch_interval_ms(self, interval_ms: int) -> _ExecutionBuilder:
        if interval_ms:
            warn_once("JdbcExecutionOptions.with_batch_interval_ms")
        self._interval_ms = interval_ms
        return self

    def with_max_retries(self, max_retries: int) -> _ExecutionBuilder:
        """How often a transaction is tried again after an error that may pass, before the job fails."""
        self._retries = _not_negative("with_max_retries", max_retries)
        return self

    def build(self) -> JdbcExecutionOptions:
        return JdbcExecutionOptions(self._size, self._interval_ms, self._retries)


def _not_negative(name: str, value: int) -> int:
    if not isinstance(value, int) or value < 0:
        raise ProgramError(f"JdbcExecutionOptions.{name} takes a whole number of at least 0, got {value!r}")
    return value


class JdbcExecutionOptions:
    """How rows are written.

    >>> JdbcExecutionOptions.builder().with_batch_size(100).build().get_batch_size()
    100
    """

    Builder: ClassVar = _ExecutionBuilder

    def __init__(self, batch_size: int, batch_interval_ms: int, max_retries: int) -> None:
        self._size, self._interval_ms, self._retries = batch_size, batch_interval_ms, max_retries

    def get_batch_interval_ms(self) -> int:
        """The interval that was set; rows are written with their batch here."""
        return self._interval_ms

    def get_batch_size(self) -> int:
        """How many rows go to the database in one statement."""
        return self._size

    def get_max_retries(self) -> int:
        """How often a batch that failed is tried again."""
        return self._retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """The options of a sink for which none are given."""
        return _ExecutionBuilder().build()

    @staticmethod
    def builder() -> _ExecutionBuilder:
        """Begin options for writing."""
        return _ExecutionBuilder()
