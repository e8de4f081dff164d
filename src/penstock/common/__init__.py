"""Public names on PyFlink's path `pyflink.common`."""

from penstock.connectors.encoders import Encoder
from penstock.connectors.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.connectors.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.connectors.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.connectors.formats.schemas import (
    ByteArraySchema,
    DeserializationSchema,
    SerializationSchema,
    SimpleStringSchema,
)
from penstock.core.client import JobClient, JobExecutionResult, JobStatus
from penstock.core.config import Configuration
from penstock.core.row import Row, RowKind
from penstock.core.time import Duration, Time
from penstock.core.types import TypeInformation, Types
from penstock.core.watermark import WatermarkStrategy

__all__ = [
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "ByteArraySchema",
    "Configuration",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "JobClient",
    "JobExecutionResult",
    "JobStatus",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "Types",
    "WatermarkStrategy",
]
