"""Public names on PyFlink's path `pyflink.common`."""

from penstock.connectors.files.encoders import Encoder
from penstock.connectors.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.connectors.formats.csv_messages import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.connectors.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.connectors.formats.schemas import (
    ByteArraySchema,
    DeserializationSchema,
    SerializationSchema,
    SimpleStringSchema,
)
from penstock.core.config import Configuration
from penstock.core.config.execution_config import ExecutionConfig
from penstock.core.config.option import ConfigOption, ConfigOptions
from penstock.core.constants import InputDependencyConstraint
from penstock.core.time.spans import Duration, Instant, Time
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.core.types.row import Row, RowKind
from penstock.core.types.serializer import TypeSerializer
from penstock.core.types.type_info import TypeInformation, Types
from penstock.jobs.client import JobClient, JobExecutionResult, JobID, JobStatus
from penstock.jobs.futures import CompletableFuture
from penstock.jobs.restart_strategies import RestartStrategies, RestartStrategyConfiguration

__all__ = [
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]
