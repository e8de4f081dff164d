"""Public names on PyFlink's path `pyflink.datastream`."""

from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream, DataStreamSink, KeyedStream
from penstock.api.environment import StreamExecutionEnvironment
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
from penstock.core.python_source import PythonSource, Timestamped
from penstock.core.rich import RichFunction
from penstock.core.sink import CommitRequest, Committer, Sink, SinkWriter, SupportsCommitter
from penstock.core.sink_function import RichSinkFunction, SinkFunction
from penstock.core.source import Source
from penstock.core.source_function import (
    ParallelSourceFunction,
    RichParallelSourceFunction,
    RichSourceFunction,
    SourceContext,
    SourceFunction,
)

__all__ = [
    "AggregateFunction",
    "CloseableIterator",
    "CommitRequest",
    "Committer",
    "DataStream",
    "DataStreamSink",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "OutputTag",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessFunction",
    "PythonSource",
    "ReduceFunction",
    "RichFunction",
    "RichParallelSourceFunction",
    "RichSinkFunction",
    "RichSourceFunction",
    "RuntimeContext",
    "Sink",
    "SinkFunction",
    "SinkWriter",
    "Source",
    "SourceContext",
    "SourceFunction",
    "StreamExecutionEnvironment",
    "SupportsCommitter",
    "TimeDomain",
    "TimerService",
    "Timestamped",
]
