"""Public names on PyFlink's path `pyflink.datastream.formats.parquet`."""

from penstock.connectors.file_sink import ParquetBulkWriters

__all__ = ["ParquetBulkWriters"]
