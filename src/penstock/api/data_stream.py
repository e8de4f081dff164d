"""Streams: what a program is written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from penstock.api.transformation import Transformation, TransformationInput
from penstock.api.wrap import (
    Accumulate,
    KeyedTransform,
    Projection,
    RollingReduce,
    WithKey,
    as_call,
    transform_spec,
)
from penstock.core.compat import warn_once
from penstock.core.errors import ProgramError
from penstock.core.execution_config import ExecutionConfig
from penstock.core.functions import (
    FilterFunction,
    FlatMapFunction,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    ReduceFunction,
)
from penstock.core.given import a_class_of, described
from penstock.core.output_tag import OutputTag
from penstock.core.partition import (
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
from penstock.core.poison import poison_policy
from penstock.core.row import Row
from penstock.core.sink import Sink
from penstock.core.sink_function import SinkFunction
from penstock.core.slots import SlotSharingGroup
from penstock.core.specs import (
    CollectSpec,
    FunctionSinkSpec,
    KeyedProcessSpec,
    OperatorSpec,
    ProcessSpec,
    SinkSpec,
    TimestampsSpec,
)
from penstock.core.state import MapStateDescriptor
from penstock.core.time import Span
from penstock.core.types import TypeInformation, Types
from penstock.core.watermark import WatermarkStrategy
from penstock.core.window_assigners import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.core.windows import WindowAssigner
from penstock.graph.stream_graph import ChainStrategy

if TYPE_CHECKING:
    from penstock.api.cached import CachedDataStream
    from penstock.api.collect import CloseableIterator
    from penstock.api.connected import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
    from penstock.api.environment import StreamExecutionEnvironment
    from penstock.api.interval_join import IntervalJoin
    from penstock.api.joined_streams import CoGroupedStreams, JoinedStreams
    from penstock.api.regular_join import RegularJoin
    from penstock.api.windowed_stream import AllWindowedStream, WindowedStream

T = TypeVar("T")

__all__ = ["DataStream", "DataStreamSink", "KeyedStream"]


class _Named:
    """Settings shared by streams and sinks; they apply to the operator just added."""

    _transformation: Transformation

    def get_name(self) -> str:
        return self._transformation.name

    def name(self, name: str):  # type: ignore[no-untyped-def]
        """Shown in plans, metrics and errors."""
        self._transformation.name = name
        return self

    def uid(self, uid: str):  # type: ignore[no-untyped-def]
        """Under which the operator's state is found again after the program changed."""
        if not isinstance(uid, str) or not uid:
            raise ProgramError(f"Operator '{self._transformation.name}': a uid is a non-empty string, got {uid!r}")
        self._transformation.uid = uid
        return self

    def set_parallelism(self, parallelism: int):  # type: ignore[no-untyped-def]
        """How many subtasks run the operator."""
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ProgramError(
                f"Operator '{self._transformation.name}': parallelism must be at least 1, got {parallelism!r}"
            )
        self._transformation.parallelism = parallelism
        return self

    def set_description(self, description: str):  # type: ignore[no-untyped-def]
        """A longer text for plans."""
        self._transformation.description = description
        return self

    def on_poison(self, policy: str | OutputTag):  # type: ignore[no-untyped-def]
        """What becomes of a record on which the operator's function raises (F9).

        `fail` the job, `skip` and count it (metric `poisonRecords`), or with a tag send `(record, error text)` to
        that side output. What the failing call has yielded is dropped, what it did to state stays. Key selectors
        and partitioners behind the operator are covered too. Default: the setting `penstock.poison`.
        """
        try:
            self._transformation.poison = poison_policy(policy)
        except ValueError as error:
            raise ProgramError(f"Operator '{self._transformation.name}': on_poison() {error}") from None
        return self

    def disable_chaining(self):  # type: ignore[no-untyped-def]
        """Run the operator in a task of its own."""
        self._transformation.chain = ChainStrategy.NEVER
        return self

    def set_max_parallelism(self, max_parallelism: int):  # type: ignore[no-untyped-def]
        """Bounds the operator's parallelism; the number of key groups is the job's."""
        if not isinstance(max_parallelism, int) or max_parallelism < 1:
            raise ProgramError(
                f"Operator '{self._transformation.name}': the maximum parallelism must be at least 1, "
                f"got {max_parallelism!r}"
            )
        self._transformation.max_parallelism = max_parallelism
        warn_once("DataStream.set_max_parallelism")
        return self

    def set_uid_hash(self, uid_hash: str):  # type: ignore[no-untyped-def]
        """Accepted, without effect."""
        warn_once("DataStream.set_uid_hash")
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup):  # type: ignore[no-untyped-def]
        """Accepted, without effect."""
        if not isinstance(slot_sharing_group, str | SlotSharingGroup):
            raise TypeError(
                f"slot_sharing_group() takes a name or a SlotSharingGroup, got {type(slot_sharing_group).__name__}"
            )
        warn_once("DataStream.slot_sharing_group")
        return self


class DataStream(_Named, Generic[T]):
    """A stream of records. Methods add operators to the program; nothing runs before `execute` (P1)."""

    def __init__(self, env: StreamExecutionEnvironment, inputs: tuple[TransformationInput, ...]) -> None:
        self._env = env
        self._inputs = inputs

    @property
    def _transformation(self) -> Transformation:  # type: ignore[override]
        read = self._inputs[0]
        if len(self._inputs) != 1 or read.tag is not None or read.exchange is not None:
            raise ProgramError(
                f"A name, uid, parallelism or chaining belongs to an operator, not to what union(), key_by(), a side "
                f"output or a redistribution makes of '{read.source.name}': set it on the operator before or after"
            )
        return read.source

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._env

    def get_type(self) -> TypeInformation:
        """The hint its records were given; without one, pickled Python objects."""
        read = self._inputs[0]
        known = read.source.output_type if read.tag is None else read.source.side_types.get(read.tag)
        return Types.PICKLED_BYTE_ARRAY() if known is None else known

    def _typed(self, type_info: TypeInformation | None) -> Self:
        self._inputs[0].source.output_type = type_info
        return self

    def get_execution_config(self) -> ExecutionConfig:
        return self._env.get_config()

    def set_buffer_timeout(self, timeout_millis: int) -> DataStream[T]:
        """Accepted, without effect."""
        warn_once("DataStream.set_buffer_timeout")
        return self

    def start_new_chain(self) -> DataStream[T]:
        """Begin a task with this operator."""
        self._transformation.chain = ChainStrategy.HEAD
        return self

    def force_non_parallel(self) -> DataStream[T]:
        self._transformation.parallelism = 1
        return self

    # -- operators --------------------------------------------------------------------------------

    def map(
        self, func: Callable[[T], Any] | MapFunction, output_type: TypeInformation | None = None
    ) -> DataStream[Any]:
        """One record in, one out."""
        return self._transform("map", "Map", func)._typed(output_type)

    def flat_map(
        self, func: Callable[[T], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream[Any]:
        """One record in, any number out."""
        return self._transform("flat_map", "FlatMap", func)._typed(output_type)

    def filter(self, func: Callable[[T], bool] | FilterFunction) -> DataStream[T]:
        """Keep the records that `func` answers true for."""
        return self._transform("filter", "Filter", func)._typed(self.get_type())

    def _transform(self, operation: str, name: str, func: Any) -> DataStream[Any]:
        return self._add(name, transform_spec(operation, func))

    def process(self, func: ProcessFunction, output_type: TypeInformation | None = None) -> DataStream[Any]:
        """See each record with its timestamp and the clocks."""
        if isinstance(func, KeyedProcessFunction):
            raise ProgramError(
                f"process() with {type(func).__name__}, a KeyedProcessFunction, needs a keyed stream: call key_by first"
            )
        return self._add("Process", ProcessSpec(_instance(func, ProcessFunction, "process()")))._typed(output_type)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream[T]:
        """Give records their event time and the stream its watermarks."""
        strategy = _instance(watermark_strategy, WatermarkStrategy, "assign_timestamps_and_watermarks()")
        return self._add("Timestamps/Watermarks", TimestampsSpec(strategy))._typed(self.get_type())

    def key_by(
        self, key_selector: Callable[[T], Any] | KeySelector, key_type: TypeInformation | None = None
    ) -> KeyedStream[T]:
        """Partition by key: all records of a key go to the same subtask (G5)."""
        return KeyedStream(self._env, self._exchanged(Hash(as_call("key_by", key_selector))))

    def union(self, *streams: DataStream[T]) -> DataStream[T]:
        """This stream and others as one."""
        inputs = self._inputs + tuple(f for s in streams for f in s._inputs)
        return DataStream(self._env, inputs)

    @overload
    def connect(self, ds: DataStream[Any]) -> ConnectedStreams: ...
    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...
    def connect(self, ds: DataStream[Any] | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """This stream and another, of another type, as the two inputs of one operator."""
        from penstock.api.connected import connect

        joined: ConnectedStreams | BroadcastConnectedStream = connect(self, ds)
        return joined

    def project(self, *field_indexes: int) -> DataStream[Any]:
        """Keep some fields of tuples, in the given order."""
        return self._add("Projection", transform_spec("map", Projection(field_indexes)))

    def window_all(self, window_assigner: WindowAssigner) -> AllWindowedStream:
        """Windows of the whole stream, in one subtask."""
        from penstock.api.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def join(self, other_stream: DataStream[Any]) -> JoinedStreams:
        """Pairs of records of this stream and another that share a key and a window (W8)."""
        from penstock.api.joined_streams import JoinedStreams

        return JoinedStreams(self, other_stream)

    def co_group(self, other_stream: DataStream[Any]) -> CoGroupedStreams:
        """All records of this stream and another that share a key and a window (W8)."""
        from penstock.api.joined_streams import CoGroupedStreams

        return CoGroupedStreams(self, other_stream)

    def cache(self) -> CachedDataStream[T]:
        """Keep the records of a bounded stream: the next job that uses it computes it, later ones read them."""
        from penstock.api.cached import cached

        return cached(self._env, self._inputs)

    def get_side_output(self, output_tag: OutputTag) -> DataStream[Any]:
        """What the operator sent to a tag."""
        if len(self._inputs) != 1 or self._inputs[0].tag is not None:
            raise ProgramError("get_side_output() belongs to the operator that emits it: call it before union()")
        if output_tag.type_info is not None:
            self._inputs[0].source.side_types[output_tag.tag_id] = output_tag.type_info
        return DataStream(self._env, (TransformationInput(self._inputs[0].source, output_tag.tag_id),))

    # -- exchanges --------------------------------------------------------------------------------

    def forward(self) -> DataStream[T]:
        return DataStream(self._env, self._exchanged(Forward()))

    def rebalance(self) -> DataStream[T]:
        return DataStream(self._env, self._exchanged(Rebalance()))

    def rescale(self) -> DataStream[T]:
        return DataStream(self._env, self._exchanged(Rescale()))

    def shuffle(self) -> DataStream[T]:
        return DataStream(self._env, self._exchanged(Shuffle()))

    @overload
    def broadcast(self) -> DataStream[T]: ...
    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> BroadcastStream: ...
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream[T] | BroadcastStream:
        """Every record to every subtask; with descriptors, to be connected with another stream (S3)."""
        sent: DataStream[T] = DataStream(self._env, self._exchanged(Broadcast()))
        if broadcast_state_descriptor is None:
            return sent
        from penstock.api.connected import BroadcastStream

        return BroadcastStream(sent, [broadcast_state_descriptor, *other_broadcast_state_descriptors])

    def global_(self) -> DataStream[T]:
        return DataStream(self._env, self._exchanged(Global()))

    def partition_custom(
        self,
        partitioner: Callable[[Any, int], int] | Partitioner,
        key_selector: Callable[[T], Any] | KeySelector,
    ) -> DataStream[T]:
        exchange = Custom(as_call("partition_custom", partitioner), as_call("key_by", key_selector))
        return DataStream(self._env, self._exchanged(exchange))

    def _exchanged(self, exchange: Exchange) -> tuple[TransformationInput, ...]:
        return tuple(TransformationInput(f.source, f.tag, exchange) for f in self._inputs)

    # -- sinks ------------------------------------------------------------------------------------

    def sink_to(self, sink: Sink) -> DataStreamSink:
        """Write to a two-phase sink."""
        if isinstance(sink, SinkFunction) and not isinstance(sink, Sink):
            raise TypeError(f"sink_to() takes a Sink, got {type(sink).__name__}, a SinkFunction: use add_sink()")
        return self._add_sink("Writer", SinkSpec(_instance(sink, Sink, "sink_to()")))

    def add_sink(self, sink_func: SinkFunction | Callable[[T], Any]) -> DataStreamSink:
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

    def execute_and_collect(
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[T] | list[T]:
        """Run the job and iterate over this stream's records; with `limit`, a list of the first ones."""
        name = self._env._next_name()
        self._add_sink("Collect", CollectSpec(name, False))
        return self._env._collect(name, job_execution_name, limit)

    def to_data_frame(self, schema: TypeInformation | None = None) -> Any:
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


_PARTITIONING: dict[type[Exchange], str] = {Custom: "partition_custom", Global: "global_"}
"""Calls that are not named as their exchange is."""


class KeyedStream(DataStream[T]):
    """A stream partitioned by key: operators on it have state and timers per key."""

    def _exchanged(self, exchange: Exchange) -> tuple[TransformationInput, ...]:
        """A key's records are where its state is, so that nothing but another `key_by` may send them elsewhere."""
        if not isinstance(exchange, Hash):
            call = _PARTITIONING.get(type(exchange), type(exchange).__name__.lower())
            raise ProgramError(
                f"{call}() cannot override the partitioning of a stream that was keyed after "
                f"'{self._inputs[0].source.name}': call it before key_by(), or on the result of an operator"
            )
        return super()._exchanged(exchange)

    def process(  # type: ignore[override]
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream[Any]:
        """See each record with its key's state and timers."""
        function = _instance(func, KeyedProcessFunction, "process() on a keyed stream")
        return self._add("KeyedProcess", KeyedProcessSpec(function))._typed(output_type)

    def reduce(self, func: Callable[[T, T], T] | ReduceFunction) -> DataStream[T]:
        """Combine each record with what its key has come to so far, and emit that."""
        return self._add("Reduce", KeyedProcessSpec(RollingReduce(func)))._typed(self.get_type())

    def window(self, window_assigner: WindowAssigner) -> WindowedStream:
        """Windows of each key (W1)."""
        from penstock.api.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Windows of `size` records of a key; with `slide`, one that begins every so many records."""
        assigner = CountSlidingWindowAssigner(size, slide) if slide else CountTumblingWindowAssigner(size)
        return self.window(assigner)

    def time_window(self, size: Span, slide: Span | None = None) -> WindowedStream:
        """The older name of tumbling and sliding event-time windows (X5)."""
        if slide is None:
            return self.window(TumblingEventTimeWindows.of(size))
        return self.window(SlidingEventTimeWindows.of(size, slide))

    def interval_join(self, other_stream: KeyedStream[Any]) -> IntervalJoin:
        """Pairs of records of a key whose timestamps lie in a certain distance (W8)."""
        from penstock.api.interval_join import IntervalJoin

        return IntervalJoin(self, other_stream)

    def regular_join(self, other_stream: KeyedStream[Any]) -> RegularJoin:
        """All pairs of records of a key, as a database joins two tables (W8)."""
        from penstock.api.regular_join import RegularJoin

        return RegularJoin(self, other_stream)

    def sum(self, position_to_sum: int | str = 0) -> DataStream[T]:
        """The rolling sum of a field of each key."""
        return self._accumulate("sum", position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream[T]:
        """The rolling minimum of a field; the other fields are those of the key's first record."""
        return self._accumulate("min", position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream[T]:
        """The rolling maximum of a field; the other fields are those of the key's first record."""
        return self._accumulate("max", position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream[T]:
        """The record with the smallest field so far; of equal ones the first."""
        return self._accumulate("min_by", position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream[T]:
        """The record with the largest field so far; of equal ones the first."""
        return self._accumulate("max_by", position_to_max_by)

    def execute_and_collect(  # type: ignore[override]
        self, job_execution_name: str | None = None, limit: int | None = None
    ) -> CloseableIterator[Row] | list[Row]:
        """Run the job and iterate over this stream's records, each in a row with its key: `Row(f0=key, f1=value)`."""
        plain: DataStream[T] = DataStream(self._env, tuple(TransformationInput(f.source, f.tag) for f in self._inputs))
        exchange = self._inputs[0].exchange
        assert isinstance(exchange, Hash)
        name = self._env._next_name()
        plain._add_sink("Collect", CollectSpec(name, False, shape=WithKey(exchange.selector)))
        return self._env._collect(name, job_execution_name, limit)

    def _accumulate(self, operation: str, position: int | str) -> DataStream[T]:
        return self.reduce(Accumulate(operation, position))

    def _transform(self, operation: str, name: str, func: Any) -> DataStream[Any]:
        if isinstance(func, Function):
            as_call(operation, func)
            return self._add(name, KeyedProcessSpec(KeyedTransform(operation, func)))
        return super()._transform(operation, name, func)


class DataStreamSink(_Named):
    """The end of a stream."""

    def __init__(self, transformation: Transformation) -> None:
        self._transformation = transformation


def _instance(given: Any, expected: type, where: str) -> Any:
    if not isinstance(given, expected):
        raise TypeError(f"{where} takes a {expected.__name__}, got {described(given)}")
    return given
