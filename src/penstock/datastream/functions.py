"""Public names on PyFlink's path `pyflink.datastream.functions`."""

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
)
from penstock.core.rich import RichFunction
from penstock.core.sink_function import RichSinkFunction, SinkFunction
from penstock.core.source_function import (
    ParallelSourceFunction,
    RichParallelSourceFunction,
    RichSourceFunction,
    SourceContext,
    SourceFunction,
)

__all__ = [
    "AggregateFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "KeySelector",
    "KeyedProcessFunction",
    "MapFunction",
    "ParallelSourceFunction",
    "Partitioner",
    "ProcessFunction",
    "ReduceFunction",
    "RichFunction",
    "RichParallelSourceFunction",
    "RichSinkFunction",
    "RichSourceFunction",
    "RuntimeContext",
    "SinkFunction",
    "SourceContext",
    "SourceFunction",
]
