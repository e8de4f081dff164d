"""Public names on PyFlink's path `pyflink.table`."""

from penstock.api.table import StreamTableEnvironment, Table, TableResult
from penstock.api.table_sink import SparkTableSink

__all__ = ["SparkTableSink", "StreamTableEnvironment", "Table", "TableResult"]
