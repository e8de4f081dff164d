"""Public names on PyFlink's path `pyflink.datastream.functions`."""

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
)

__all__ = [
    "AggregateFunction",
    "CheckpointedFunction",
    "FilterFunction",
    "FlatMapFunction",
    "Function",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "KeySelector",
    "KeyedProcessFunction",
    "MapFunction",
    "OperatorStateStore",
    "Partitioner",
    "ProcessFunction",
    "ReduceFunction",
    "RuntimeContext",
]
