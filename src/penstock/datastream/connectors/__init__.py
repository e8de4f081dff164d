"""Public names on PyFlink's path `pyflink.datastream.connectors`."""

from penstock.connectors.files.buckets import BucketAssigner, RollingPolicy
from penstock.connectors.files.sink import FileSink, OutputFileConfig, StreamingFileSink
from penstock.connectors.files.source import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from penstock.connectors.hybrid_source import HybridSource, HybridSourceBuilder
from penstock.connectors.sequences import NumberSequenceSource
from penstock.connectors.sql.jdbc import JdbcSink
from penstock.connectors.sql.options import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.core.contracts.sink import DeliveryGuarantee, Sink
from penstock.core.contracts.source import Source

__all__ = [
    "BucketAssigner",
    "DeliveryGuarantee",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "HybridSource",
    "HybridSourceBuilder",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RollingPolicy",
    "Sink",
    "Source",
    "StreamFormat",
    "StreamingFileSink",
]
