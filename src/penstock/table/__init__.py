"""Public names on PyFlink's path `pyflink.table`."""

from penstock.api.table import StreamTableEnvironment, Table, TableResult

__all__ = ["StreamTableEnvironment", "Table", "TableResult"]
