"""Public names on PyFlink's path `pyflink.datastream`."""

from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream, DataStreamSink, KeyedStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    OperatorStateStore,
)
from penstock.core.functions import (
    AggregateFunction,
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
    RuntimeContext,
    TimeDomain,
    TimerService,
)
from penstock.core.output_tag import OutputTag
from penstock.core.sink import CommitRequest, Committer, Sink, SinkWriter, SupportsCommitter
from penstock.core.source import Source

__all__ = [
    "AggregateFunction",
    "CheckpointedFunction",
    "CloseableIterator",
    "CommitRequest",
    "Committer",
    "DataStream",
    "DataStreamSink",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "OperatorStateStore",
    "OutputTag",
    "Partitioner",
    "ProcessFunction",
    "ReduceFunction",
    "RuntimeContext",
    "Sink",
    "SinkWriter",
    "Source",
    "StreamExecutionEnvironment",
    "SupportsCommitter",
    "TimeDomain",
    "TimerService",
]
