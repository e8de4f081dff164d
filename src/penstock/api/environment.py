"""The environment: where programs begin, and where they are run from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar, overload

from penstock.api.cached import Cache
from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream
from penstock.api.settings import Settings
from penstock.api.transformation import Transformation, TransformationInput, freeze
from penstock.api.unexecuted import programs
from penstock.connectors.data_frame import DataFrameSource
from penstock.connectors.files.source import FileSource, StreamFormat
from penstock.connectors.formats.files import InputFormat
from penstock.connectors.sequences import CollectionSource, NumberSequenceSource
from penstock.connectors.socket_source import SocketTextStreamFunction
from penstock.core.config import Configuration
from penstock.core.config.options.job import JOB_NAME
from penstock.core.contracts.source import Source
from penstock.core.errors import ProgramError, RecordError
from penstock.core.functions.source import FunctionSource, SourceFunction
from penstock.core.given import described
from penstock.core.program.specs import OperatorSpec, SourceSpec
from penstock.core.time.watermarks import WatermarkStrategy
from penstock.core.types.coercion import coerce
from penstock.core.types.row import Row
from penstock.core.types.type_info import RowTypeInfo, TypeInformation
from penstock.graph.stream_graph import StreamGraph
from penstock.jobs.client import JobClient, JobExecutionResult

T = TypeVar("T")

__all__ = ["StreamExecutionEnvironment"]


class StreamExecutionEnvironment(Settings):
    """Builds a program and runs it: on embedded local Spark, or the cluster it was submitted to."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        from penstock.launch import base_configuration

        self._configuration = base_configuration()
        if configuration is not None:
            self._configuration.add_all(configuration)
        self._program = programs.enter()
        self._transformations: list[Transformation] = []
        self._caches: list[Cache] = []
        self._names = self._order = 0
        self._spark: object = None
        self._tabled: list[Transformation] = []

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        """An environment with the settings of the configuration file and the command line, and then those given."""
        return StreamExecutionEnvironment(configuration)

    # -- sources ----------------------------------------------------------------------------------

    @overload
    def from_collection(self, collection: Iterable[object], type_info: RowTypeInfo) -> DataStream[Row]: ...
    @overload
    def from_collection(
        self, collection: Iterable[T], type_info: TypeInformation[object] | None = None
    ) -> DataStream[T]: ...
    def from_collection(
        self, collection: Iterable[object], type_info: TypeInformation[object] | None = None
    ) -> DataStream[Any]:
        """A stream of the items of a collection (any iterable; taken now), in the form that `type_info` says."""
        if not isinstance(collection, Iterable):
            raise TypeError(f"from_collection() takes a list or another iterable, got {type(collection).__name__}")
        items = collection if type_info is None else _conformed(collection, type_info)
        return self._add_source(CollectionSource(items), "Source: Collection")._typed(type_info)

    def from_sequence(self, start: int, end: int) -> DataStream[int]:
        """The numbers from `start` to `end`, both included."""
        return self._add_source(NumberSequenceSource(start, end), "Source: Sequence")

    def from_source(
        self,
        source: Source[T],
        watermark_strategy: WatermarkStrategy[Any],
        source_name: str,
        type_info: TypeInformation[object] | None = None,
    ) -> DataStream[T]:
        """A stream read from a source, with its event time."""
        if not isinstance(source, Source):
            raise TypeError(f"from_source() takes a Source, got {described(source)}")
        return self._add_source(source, f"Source: {source_name}", _needed(watermark_strategy), type_info)

    def read_text_file(self, path: str, charset_name: str = "UTF-8") -> DataStream[str]:
        """The lines of a file, of the files below a folder, or of those that match a pattern."""
        lines = StreamFormat.text_line_format(charset_name)
        return self._add_source(FileSource.for_record_stream_format(lines, path).build(), "Source: Text File")

    def create_input(
        self, input_format: InputFormat[T], type_info: TypeInformation[object] | None = None
    ) -> DataStream[T]:
        """A stream of the records that an input format reads."""
        if not isinstance(input_format, InputFormat):
            raise TypeError(f"create_input() takes an InputFormat, got {type(input_format).__name__}")
        source = FileSource(input_format.file_format, (input_format.path,))
        return self._add_source(source, "Source: Input Format", declared=type_info)

    def add_source(
        self,
        source_func: SourceFunction[T],
        source_name: str = "Custom Source",
        type_info: TypeInformation[object] | None = None,
    ) -> DataStream[T]:
        """A stream of what a function emits by itself. It cannot rewind: at-most-once."""
        if not isinstance(source_func, SourceFunction):
            raise TypeError(
                f"add_source() takes a SourceFunction, got {described(source_func)}. A Source goes to from_source()"
            )
        return self._add_source(FunctionSource(source_func), f"Source: {source_name}", declared=type_info)

    def socket_text_stream(
        self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0
    ) -> DataStream[str]:
        """Text received on a socket, cut at `delimiter`; at-most-once.

        When the server closes the connection the stream ends, unless fewer than `max_retry` connections were
        lost (−1: however many): then it connects again. A server that cannot be reached fails the job.
        """
        function = SocketTextStreamFunction(hostname, port, delimiter, max_retry)
        return self.add_source(function, "Socket Stream")

    def from_data_frame(self, data_frame: object, source_name: str = "DataFrame") -> DataStream[Row]:
        """The rows of a Spark DataFrame, each a `Row` with the frame's column names.

        A batch DataFrame is a bounded source, a streaming one (`spark.readStream`) an unbounded one. All of it
        passes through one task, in the frame's order: redistribute behind it (`rebalance`, `key_by`) for more.
        """
        if not hasattr(data_frame, "mapInArrow") or not hasattr(data_frame, "isStreaming"):
            raise TypeError(f"from_data_frame() takes a Spark DataFrame, got {type(data_frame).__name__}")
        return self._add_source(DataFrameSource(data_frame, not data_frame.isStreaming), f"Source: {source_name}")

    def get_spark_session(self) -> Any:
        """A session on the Spark that runs this environment's jobs: make DataFrames for `from_data_frame` with it."""
        from penstock.launch import spark_session

        if self._spark is None:
            self._spark = spark_session(self._configuration, self.get_parallelism())
        return self._spark

    def _add_source(
        self,
        source: Source[T],
        name: str,
        strategy: WatermarkStrategy[T] | None = None,
        declared: TypeInformation[object] | None = None,
    ) -> DataStream[T]:
        transformation = self._add_transformation(name, SourceSpec(source, strategy, declared), ())
        stream: DataStream[T] = DataStream(self, (TransformationInput(transformation),))
        return stream._typed(declared)

    # -- running ----------------------------------------------------------------------------------

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the program and wait for its end."""
        return self.execute_async(job_name).wait()

    def execute_async(self, job_name: str | None = None) -> JobClient:
        """Start the program and return at once."""
        from penstock.launch import launch

        fills = self._fill_caches()
        graph = self.get_stream_graph(job_name)
        client = launch(graph, self._configuration, self.get_parallelism(), self.get_max_parallelism())
        for cache in fills:
            cache.filled_by(client)
        return client

    def _fill_caches(self) -> list[Cache]:
        """Caches that the program about to run fills, each with a sink in it."""
        for cache in self._caches:
            cache.settle()
        fills = [cache for cache in self._caches if cache.wanted_by(self._transformations)]
        for cache in fills:
            self._add_transformation("Fill Cache", cache.sink(), (TransformationInput(cache.transformation),))
        return fills

    def get_stream_graph(self, job_name: str | None = None, clear: bool = True) -> StreamGraph:
        """The program since the last one, frozen, with all that it is fed from."""
        programs.used(self._program)
        nodes, edges = freeze(d for d in self._transformations if not any(d is tabled for tabled in self._tabled))
        if clear:
            self._transformations = []
        return StreamGraph(job_name or self._said.get(JOB_NAME), nodes, edges)

    def get_execution_plan(self) -> str:
        """The program as Flink's JSON: its operators, and how they are fed; runs nothing."""
        from penstock.launch import execution_plan

        graph = self.get_stream_graph(clear=False)
        return execution_plan(graph, self._configuration, self.get_parallelism(), self.get_max_parallelism())

    def close(self) -> None:
        """Forget what was written and not run."""
        programs.used(self._program)
        self._transformations = []

    def explain(self) -> str:
        """Stream graph, job graph and execution graph as text; runs nothing."""
        from penstock.launch import explain

        graph = self.get_stream_graph(clear=False)
        return explain(graph, self._configuration, self.get_parallelism(), self.get_max_parallelism())

    def draw(self, form: str = "svg", graph: str | None = None) -> str:
        """The graphs as svg, html, mermaid, json or text; of `stream`, `job`, `execution` one, or all. Runs nothing.

        >>> env = StreamExecutionEnvironment()
        >>> _ = env.from_collection([1]).map(str).print()
        >>> env.draw("mermaid", "job").splitlines()[0]
        'flowchart LR'
        """
        from penstock.launch import planned

        program = self.get_stream_graph(clear=False)
        graphs = planned(program, self._configuration, self.get_parallelism(), self.get_max_parallelism())
        return graphs.render(form, graph)

    def _collect(self, name: str, job_name: str | None, limit: int | None) -> CloseableIterator[Any] | list[Any]:
        client = self.execute_async(job_name)
        results = CloseableIterator(client.results(name), client.close)
        if limit is None:
            return results
        with results:
            return list(islice(results, limit))

    def _add_transformation(
        self, name: str, spec: OperatorSpec, inputs: Sequence[TransformationInput]
    ) -> Transformation:
        self._order += 1
        transformation = Transformation(self._order, name, spec, tuple(inputs))
        self._transformations.append(transformation)
        programs.built(self._program, name)
        return transformation

    def _next_name(self) -> str:
        self._names += 1
        return f"results-{self._names}"


def _conformed(collection: Iterable[object], type_info: TypeInformation[T]) -> list[T]:
    items = []
    for number, item in enumerate(collection):
        try:
            items.append(coerce(type_info, item, wrap=True))
        except RecordError as error:
            raise ProgramError(f"from_collection(): item {number}: {error}") from error
    return items


def _needed(strategy: WatermarkStrategy[T]) -> WatermarkStrategy[T] | None:
    """None for a strategy that has no effect."""
    if not isinstance(strategy, WatermarkStrategy):
        raise TypeError(f"from_source() takes a WatermarkStrategy, got {type(strategy).__name__}")
    return None if strategy.without_effect else strategy
