"""Streams: what a program is written with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from penstock.api.operator_settings import OperatorSettings
from penstock.api.transformation import Transformation, TransformationInput
from penstock.api.wrap import Projection, as_call, transform_spec
from penstock.core.config.compat import warn_once
from penstock.core.config.execution_config import ExecutionConfig
from penstock.core.contracts.sink import Sink
from penstock.core.errors import ProgramError
from penstock.core.functions.base import (
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
)
from penstock.core.functions.sink import SinkFunction
from penstock.core.given import a_class_of, described, instance_of
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.partition import (
    Broadcast,
    Custom,
    Exchange,
    Forward,
    Global,
    Hash,
    Rebalance,
    Rescale,
    Shuffle,
)
from penstock.core.program.specs import (
    CollectSpec,
    FunctionSinkSpec,
    OperatorSpec,
    ProcessSpec,
    SinkSpec,
    TimestampsSpec,
)
from penstock.core.state.keyed import MapStateDescriptor
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.core.types.type_info import TypeInformation, Types
from penstock.core.types.type_variables import K, R, Win
from penstock.core.windows.window import WindowAssigner
from penstock.graph.stream_graph import ChainStrategy

if TYPE_CHECKING:
    from penstock.api.cached import CachedDataStream
    from penstock.api.collect import CloseableIterator
    from penstock.api.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
    from penstock.api.environment import StreamExecutionEnvironment
    from penstock.api.joined_streams import CoGroupedStreams, JoinedStreams
    from penstock.api.keyed_stream import KeyedStream
    from penstock.api.windowed_stream import AllWindowedStream

T_co = TypeVar("T_co", covariant=True)

__all__ = ["DataStream", "DataStreamSink"]


class DataStreamSink(OperatorSettings):
    """The end of a stream."""

    def __init__(self, transformation: Transformation) -> None:
        self._sink = transformation

    @property
    def _transformation(self) -> Transformation:
        return self._sink


class DataStream(OperatorSettings, Generic[T_co]):
    """A stream of records. Methods add operators to the program; nothing runs before `execute`."""

    def __init__(self, env: StreamExecutionEnvironment, inputs: tuple[TransformationInput, ...]) -> None:
        self._env = env
        self._inputs = inputs

    @property
    def _transformation(self) -> Transformation:
        read = self._inputs[0]
        if len(self._inputs) != 1 or read.tag is not None or read.exchange is not None:
            raise ProgramError(
                f"A name, uid, parallelism or chaining belongs to an operator, not to what union(), key_by(), a side "
                f"output or a redistribution makes of '{read.source.name}': set it on the operator before or after"
            )
        return read.source

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """The environment that the stream belongs to."""
        return self._env

    def get_type(self) -> TypeInformation[object]:
        """The hint its records were given; without one, pickled Python objects."""
        read = self._inputs[0]
        known = read.source.output_type if read.tag is None else read.source.side_types.get(read.tag)
        return Types.PICKLED_BYTE_ARRAY() if known is None else known

    def _typed(self, type_info: TypeInformation[object] | None) -> Self:
        self._inputs[0].source.output_type = type_info
        return self

    def get_execution_config(self) -> ExecutionConfig:
        """The settings of the stream's environment."""
        return self._env.get_config()

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Accepted, without effect."""
        warn_once("DataStream.set_buffer_timeout")
        return self

    def start_new_chain(self) -> Self:
        """Begin a task with this operator."""
        self._transformation.chain = ChainStrategy.HEAD
        return self

    def force_non_parallel(self) -> Self:
        """Run the operator in one subtask."""
        self._transformation.parallelism = 1
        return self

    # -- operators --------------------------------------------------------------------------------

    def map(
        self, func: Callable[[T_co], R] | MapFunction[T_co, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """One record in, one out."""
        return self._transform("map", "Map", func)._typed(output_type)

    def flat_map(
        self,
        func: Callable[[T_co], Iterable[R] | None] | FlatMapFunction[T_co, R],
        output_type: TypeInformation[object] | None = None,
    ) -> DataStream[R]:
        """One record in, any number out."""
        return self._transform("flat_map", "FlatMap", func)._typed(output_type)

    def filter(self, func: Callable[[T_co], bool] | FilterFunction[T_co]) -> DataStream[T_co]:
        """Keep the records that `func` answers true for."""
        return self._transform("filter", "Filter", func)._typed(self.get_type())

    def _transform(self, operation: str, name: str, func: object) -> DataStream[Any]:
        return self._add(name, transform_spec(operation, func))

    def process(
        self, func: ProcessFunction[T_co, R], output_type: TypeInformation[object] | None = None
    ) -> DataStream[R]:
        """See each record with its timestamp and the clocks."""
        if isinstance(func, KeyedProcessFunction):
            raise ProgramError(
                f"process() with {type(func).__name__}, a KeyedProcessFunction, needs a keyed stream: call key_by first"
            )
        return self._add("Process", ProcessSpec(instance_of(func, ProcessFunction, "process()")))._typed(output_type)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy[T_co]) -> DataStream[T_co]:
        """Give records their event time and the stream its watermarks."""
        strategy = instance_of(watermark_strategy, WatermarkStrategy, "assign_timestamps_and_watermarks()")
        return self._add("Timestamps/Watermarks", TimestampsSpec(strategy))._typed(self.get_type())

    def key_by(
        self, key_selector: Callable[[T_co], K] | KeySelector[T_co, K], key_type: TypeInformation[object] | None = None
    ) -> KeyedStream[T_co, K]:
        """Partition by key: all records of a key go to the same subtask."""
        from penstock.api.keyed_stream import KeyedStream

        return KeyedStream(self._env, self._exchanged(Hash(as_call("key_by", key_selector))))

    def union(self, *streams: DataStream[T_co]) -> DataStream[T_co]:
        """This stream and others as one."""
        inputs = self._inputs + tuple(f for s in streams for f in s._inputs)
        return DataStream(self._env, inputs)

    @overload
    def connect(self, ds: DataStream[R]) -> ConnectedStreams[T_co, R]: ...
    @overload
    def connect(self, ds: BroadcastStream[R]) -> BroadcastConnectedStream[T_co, R]: ...
    def connect(
        self, ds: DataStream[R] | BroadcastStream[R]
    ) -> ConnectedStreams[T_co, R] | BroadcastConnectedStream[T_co, R]:
        """This stream and another, of another type, as the two inputs of one operator."""
        from penstock.api.connected import connect

        return connect(self, ds)

    def project(self, *field_indexes: int) -> DataStream[tuple[Any, ...]]:
        """Keep some fields of tuples, in the given order."""
        return self._add("Projection", transform_spec("map", Projection(field_indexes)))

    def window_all(self, window_assigner: WindowAssigner[T_co, Win]) -> AllWindowedStream[T_co, Win]:
        """Windows of the whole stream, in one subtask."""
        from penstock.api.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def join(self, other_stream: DataStream[R]) -> JoinedStreams[T_co, R]:
        """Pairs of records of this stream and another that share a key and a window."""
        from penstock.api.joined_streams import JoinedStreams

        return JoinedStreams(self, other_stream)

    def co_group(self, other_stream: DataStream[R]) -> CoGroupedStreams[T_co, R]:
        """All records of this stream and another that share a key and a window."""
        from penstock.api.joined_streams import CoGroupedStreams

        return CoGroupedStreams(self, other_stream)

    def cache(self) -> CachedDataStream[T_co]:
        """Keep the records of a bounded stream: the next job that uses it computes it, later ones read them."""
        from penstock.api.cached import cached

        return cached(self._env, self._inputs)

    def get_side_output(self, output_tag: OutputTag[R]) -> DataStream[R]:
        """The records that the operator emitted with this tag."""
        if len(self._inputs) != 1 or self._inputs[0].tag is not None:
            raise ProgramError("get_side_output() belongs to the operator that emits it: call it before union()")
        if output_tag.type_info is not None:
            self._inputs[0].source.side_types[output_tag.tag_id] = output_tag.type_info
        return DataStream(self._env, (TransformationInput(self._inputs[0].source, output_tag.tag_id),))

    # -- exchanges --------------------------------------------------------------------------------

    def forward(self) -> DataStream[T_co]:
        """To the subtask with the same number."""
        return DataStream(self._env, self._exchanged(Forward()))

    def rebalance(self) -> DataStream[T_co]:
        """In turn to all subtasks."""
        return DataStream(self._env, self._exchanged(Rebalance()))

    def rescale(self) -> DataStream[T_co]:
        """In turn to the subtasks near the sender."""
        return DataStream(self._env, self._exchanged(Rescale()))

    def shuffle(self) -> DataStream[T_co]:
        """To pseudo-random subtasks."""
        return DataStream(self._env, self._exchanged(Shuffle()))

    @overload
    def broadcast(self) -> DataStream[T_co]: ...
    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor[Any, Any],
        *other_broadcast_state_descriptors: MapStateDescriptor[Any, Any],
    ) -> BroadcastStream[T_co]: ...
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor[Any, Any] | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor[Any, Any],
    ) -> DataStream[T_co] | BroadcastStream[T_co]:
        """Every record to every subtask; with descriptors, to be connected with another stream."""
        sent: DataStream[T_co] = DataStream(self._env, self._exchanged(Broadcast()))
        if broadcast_state_descriptor is None:
            return sent
        from penstock.api.connected import BroadcastStream

        return BroadcastStream(sent, [broadcast_state_descriptor, *other_broadcast_state_descriptors])

    def global_(self) -> DataStream[T_co]:
        """To the first subtask."""
        return DataStream(self._env, self._exchanged(Global()))

    def partition_custom(
        self,
        partitioner: Callable[[K, int], int] | Partitioner[K],
        key_selector: Callable[[T_co], K] | KeySelector[T_co, K],
    ) -> DataStream[T_co]:
        """To the subtask that the partitioner chooses for a record's key, of the number that it is given."""
        exchange = Custom(as_call("partition_custom", partitioner), as_call("key_by", key_selector))
        return DataStream(self._env, self._exchanged(exchange))

    def _exchanged(self, exchange: Exchange) -> tuple[TransformationInput, ...]:
        return tuple(TransformationInput(f.source, f.tag, exchange) for f in self._inputs)

    # -- sinks ------------------------------------------------------------------------------------

    def sink_to(self, sink: Sink[T_co]) -> DataStreamSink:
        """Write to a two-phase sink."""
        if isinstance(sink, SinkFunction) and not isinstance(sink, Sink):
            raise TypeError(f"sink_to() takes a Sink, got {type(sink).__name__}, a SinkFunction: use add_sink()")
        return self._add_sink("Writer", SinkSpec(instance_of(sink, Sink, "sink_to()")))

    def add_sink(self, sink_func: SinkFunction[T_co] | Callable[[T_co], object]) -> DataStreamSink:
        """Call a function for each record as it comes: at-least-once, since a batch that failed is run again.

        A `TwoPhaseCommitSinkFunction` is exactly-once.
        """
        if isinstance(sink_func, Sink) and isinstance(sink_func, SinkFunction):
            return self.sink_to(sink_func)
        if isinstance(sink_func, Sink):
            raise TypeError(f"add_sink() takes a SinkFunction, got {type(sink_func).__name__}, a Sink: use sink_to()")
        wrong = isinstance(sink_func, Function) or not callable(sink_func) or a_class_of(sink_func, Function, Sink)
        if not isinstance(sink_func, SinkFunction) and wrong:
            raise TypeError(f"add_sink() takes a SinkFunction or a function, got {described(sink_func)}")
        return self._add_sink("Sink: Unnamed", FunctionSinkSpec(sink_func))

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print every record on the driver's standard output, with its subtask where there are several."""
        return self._add_sink("Print to Std. Out", CollectSpec(self._env._next_name(), True, sink_identifier or ""))

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink:
        """As `print`, on the driver's standard error."""
        spec = CollectSpec(self._env._next_name(), True, sink_identifier or "", to_err=True)
        return self._add_sink("Print to Std. Err", spec)

    @overload
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: None = None
    ) -> CloseableIterator[T_co]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None = None, *, limit: int) -> list[T_co]: ...
    @overload
    def execute_and_collect(self, job_execution_name: str | None, limit: int) -> list[T_co]: ...
    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[T_co] | list[T_co]:
        """Run the job and iterate over this stream's records; with `limit`, a list of the first ones."""
        name = self._env._next_name()
        self._add_sink("Collect", CollectSpec(name, False))
        return self._env._collect(name, job_execution_name, limit)

    def to_data_frame(self, schema: TypeInformation[object] | None = None) -> Any:
        """Run the program and give this stream's records as a Spark DataFrame. The input must be bounded.

        Columns come from `schema` (a row or tuple type; another type gives the one column `f0`), else from the
        first records. The records wait in Parquet files, not in memory.
        """
        from penstock.api.frames import data_frame_of

        return data_frame_of(self, schema)

    def _add_sink(self, name: str, spec: OperatorSpec) -> DataStreamSink:
        return DataStreamSink(self._env._add_transformation(name, spec, self._inputs))

    def _add(self, name: str, spec: OperatorSpec) -> DataStream[Any]:
        return DataStream(self._env, (TransformationInput(self._env._add_transformation(name, spec, self._inputs)),))
