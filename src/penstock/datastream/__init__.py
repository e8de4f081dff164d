"""Public names on PyFlink's path `pyflink.datastream`."""

from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream, DataStreamSink, KeyedStream
from penstock.api.environment import StreamExecutionEnvironment
from penstock.core.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from penstock.core.checkpointing import CheckpointConfig, CheckpointingMode, ExternalizedCheckpointRetention
from penstock.core.execution_mode import RuntimeExecutionMode
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
from penstock.core.slots import MemorySize, SlotSharingGroup
from penstock.core.source import Source
from penstock.core.state_backend import (
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    StateBackend,
)

__all__ = [
    "AggregateFunction",
    "CheckpointConfig",
    "CheckpointStorage",
    "CheckpointingMode",
    "CloseableIterator",
    "CommitRequest",
    "Committer",
    "DataStream",
    "DataStreamSink",
    "EmbeddedRocksDBStateBackend",
    "ExternalizedCheckpointRetention",
    "FileSystemCheckpointStorage",
    "FilterFunction",
    "FlatMapFunction",
    "FsStateBackend",
    "Function",
    "HashMapStateBackend",
    "JobManagerCheckpointStorage",
    "KeySelector",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "MemorySize",
    "MemoryStateBackend",
    "OutputTag",
    "Partitioner",
    "PredefinedOptions",
    "ProcessFunction",
    "ReduceFunction",
    "RocksDBStateBackend",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "Sink",
    "SinkWriter",
    "SlotSharingGroup",
    "Source",
    "StateBackend",
    "StreamExecutionEnvironment",
    "SupportsCommitter",
    "TimeDomain",
    "TimerService",
]
