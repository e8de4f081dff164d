"""Public names on PyFlink's path `pyflink.common.serialization`."""

from penstock.connectors.files.encoders import Encoder
from penstock.connectors.formats.bulk import BulkWriterFactory
from penstock.connectors.formats.schemas import (
    ByteArraySchema,
    DeserializationSchema,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringSchema,
)

__all__ = [
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]
