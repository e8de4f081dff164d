"""Public names on PyFlink's path `pyflink.datastream.formats`."""

from penstock.connectors.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from penstock.connectors.formats.columnar import (
    AvroParquetReaders,
    AvroParquetWriters,
    OrcBulkWriters,
    OrcColumnarRowInputFormat,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.connectors.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema, CsvSchemaBuilder
from penstock.connectors.formats.csv_messages import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.connectors.formats.json import JsonReaderFormat, JsonRowDeserializationSchema, JsonRowSerializationSchema

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroParquetReaders",
    "AvroParquetWriters",
    "AvroReaderFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
    "GenericRecordAvroTypeInfo",
    "JsonReaderFormat",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
    "OrcBulkWriters",
    "OrcColumnarRowInputFormat",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
]
