"""Public names on PyFlink's path `pyflink.datastream.connectors.jdbc`."""

from penstock.connectors.sql.jdbc import JdbcSink
from penstock.connectors.sql.options import JdbcConnectionOptions, JdbcExecutionOptions

__all__ = ["JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"]
