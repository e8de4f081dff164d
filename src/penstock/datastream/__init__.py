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
from penstock.api.data_stream import DataStream, DataStreamSink
from penstock.api.environment import StreamExecutionEnvironment
from penstock.api.interval_join import IntervalJoin, IntervalJoined
from penstock.api.joined_streams import CoGroupedStreams, JoinedStreams
from penstock.api.keyed_stream import KeyedStream
from penstock.api.regular_join import RegularJoin
from penstock.api.windowed_stream import WindowedStream
from penstock.core.contracts.python_source import PythonSource, Timestamped
from penstock.core.contracts.sink import CommitRequest, Committer, Sink, SinkWriter, SupportsCommitter
from penstock.core.contracts.source import Source
from penstock.core.contracts.transactions import CheckpointCommitter, GenericWriteAheadSink, TwoPhaseCommitSinkFunction
from penstock.core.functions.asynchronous import (
    AsyncFunction,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from penstock.core.functions.base import (
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
from penstock.core.functions.checkpointed import (
    CheckpointedFunction,
    CheckpointListener,
    FunctionInitializationContext,
    FunctionSnapshotContext,
    OperatorStateStore,
)
from penstock.core.functions.connected import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from penstock.core.functions.join import (
    CoGroupFunction,
    FlatJoinFunction,
    JoinFunction,
    ProcessJoinFunction,
    TaggedUnion,
)
from penstock.core.functions.rich import (
    RichAggregateFunction,
    RichAllWindowFunction,
    RichAsyncFunction,
    RichCoFlatMapFunction,
    RichCoGroupFunction,
    RichCoMapFunction,
    RichFilterFunction,
    RichFlatJoinFunction,
    RichFlatMapFunction,
    RichFunction,
    RichJoinFunction,
    RichMapFunction,
    RichReduceFunction,
    RichWindowFunction,
)
from penstock.core.functions.sink import RichSinkFunction, SinkFunction
from penstock.core.functions.source import (
    ParallelSourceFunction,
    RichParallelSourceFunction,
    RichSourceFunction,
    SourceContext,
    SourceFunction,
)
from penstock.core.functions.window import ProcessWindowFunction, WindowFunction
from penstock.core.program.execution_mode import RuntimeExecutionMode
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.poison import FailedTimer, FailedWindow
from penstock.core.program.slots import MemorySize, SlotSharingGroup
from penstock.core.state.backends import (
    EmbeddedRocksDBStateBackend,
    FsStateBackend,
    HashMapStateBackend,
    MemoryStateBackend,
    PredefinedOptions,
    RocksDBStateBackend,
    StateBackend,
)
from penstock.core.state.checkpoint_storage import (
    CheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from penstock.core.state.checkpointing import CheckpointConfig, CheckpointingMode, ExternalizedCheckpointRetention
from penstock.core.windows.triggers import Trigger, TriggerResult
from penstock.core.windows.window import (
    CountWindow,
    GlobalWindow,
    MergingWindowAssigner,
    TimeWindow,
    Window,
    WindowAssigner,
)

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
    "CheckpointCommitter",
    "CheckpointConfig",
    "CheckpointListener",
    "CheckpointStorage",
    "CheckpointedFunction",
    "CheckpointingMode",
    "CloseableIterator",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoGroupedStreams",
    "CoMapFunction",
    "CoProcessFunction",
    "CommitRequest",
    "Committer",
    "ConnectedStreams",
    "CountWindow",
    "DataStream",
    "DataStreamSink",
    "EmbeddedRocksDBStateBackend",
    "ExternalizedCheckpointRetention",
    "FailedTimer",
    "FailedWindow",
    "FileSystemCheckpointStorage",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "FsStateBackend",
    "Function",
    "FunctionInitializationContext",
    "FunctionSnapshotContext",
    "GenericWriteAheadSink",
    "GlobalWindow",
    "HashMapStateBackend",
    "IntervalJoin",
    "IntervalJoined",
    "JobManagerCheckpointStorage",
    "JoinFunction",
    "JoinedStreams",
    "KeySelector",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStream",
    "MapFunction",
    "MemorySize",
    "MemoryStateBackend",
    "MergingWindowAssigner",
    "OperatorStateStore",
    "OutputTag",
    "ParallelSourceFunction",
    "Partitioner",
    "PredefinedOptions",
    "ProcessFunction",
    "ProcessJoinFunction",
    "ProcessWindowFunction",
    "PythonSource",
    "ReduceFunction",
    "RegularJoin",
    "RichAggregateFunction",
    "RichAllWindowFunction",
    "RichAsyncFunction",
    "RichCoFlatMapFunction",
    "RichCoGroupFunction",
    "RichCoMapFunction",
    "RichFilterFunction",
    "RichFlatJoinFunction",
    "RichFlatMapFunction",
    "RichFunction",
    "RichJoinFunction",
    "RichMapFunction",
    "RichParallelSourceFunction",
    "RichReduceFunction",
    "RichSinkFunction",
    "RichSourceFunction",
    "RichWindowFunction",
    "RocksDBStateBackend",
    "RuntimeContext",
    "RuntimeExecutionMode",
    "Sink",
    "SinkFunction",
    "SinkWriter",
    "SlotSharingGroup",
    "Source",
    "SourceContext",
    "SourceFunction",
    "StateBackend",
    "StreamExecutionEnvironment",
    "SupportsCommitter",
    "TaggedUnion",
    "TimeDomain",
    "TimeWindow",
    "TimerService",
    "Timestamped",
    "Trigger",
    "TriggerResult",
    "TwoPhaseCommitSinkFunction",
    "Window",
    "WindowAssigner",
    "WindowFunction",
    "WindowedStream",
]
