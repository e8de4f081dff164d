"""Public names on PyFlink's path `pyflink.datastream`."""

from penstock.api.async_data_stream import (
    AsyncDataStream,
)
from penstock.api.cached import CachedDataStream
from penstock.api.collect import CloseableIterator
from penstock.api.connected import (
    BroadcastConnectedStream,
    BroadcastStream,
    ConnectedStreams,
)
from penstock.api.data_stream import DataStream, DataStreamSink, KeyedStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.async_function import (
    AsyncFunction,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from penstock.core.co_functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
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
    "AsyncDataStream",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BroadcastConnectedStream",
    "BroadcastProcessFunction",
    "BroadcastStream",
    "CachedDataStream",
    "CloseableIterator",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "CommitRequest",
    "Committer",
    "ConnectedStreams",
    "DataStream",
    "DataStreamSink",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
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
