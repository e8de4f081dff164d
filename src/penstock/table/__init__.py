"""Public names on PyFlink's path `pyflink.table`: SQL over streams, and the column types that file formats take."""

from penstock.api.table import StreamTableEnvironment, Table, TableResult
from penstock.api.table_sink import SparkTableSink
from penstock.core.types.data_types import DataTypes

__all__ = ["DataTypes", "SparkTableSink", "StreamTableEnvironment", "Table", "TableResult"]
