"""Public names on PyFlink's path `pyflink.datastream.formats.csv`."""

from penstock.connectors.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema, CsvSchemaBuilder
from penstock.connectors.formats.csv_messages import CsvRowDeserializationSchema, CsvRowSerializationSchema

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]
