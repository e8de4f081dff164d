"""Public names on PyFlink's path `pyflink.common.serialization`."""

from penstock.connectors.file_sink import BulkWriterFactory, Encoder

__all__ = ["BulkWriterFactory", "Encoder"]
