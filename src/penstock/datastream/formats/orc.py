"""Public names on PyFlink's path `pyflink.datastream.formats.orc`."""

from penstock.connectors.formats.columnar import OrcBulkWriters, OrcColumnarRowInputFormat

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]
