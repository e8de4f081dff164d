"""The environment: where programs begin, and where they are run from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from penstock.api.cached import Cache
from penstock.api.collect import CloseableIterator
from penstock.api.data_stream import DataStream
from penstock.api.draft import Draft, Feed, freeze
from penstock.api.settings import Settings
from penstock.connectors.file_source import FileSource, StreamFormat
from penstock.connectors.formats.files import InputFormat
from penstock.connectors.sequences import CollectionSource, NumberSequenceSource
from penstock.core.client import JobClient, JobExecutionResult
from penstock.core.config import Configuration
from penstock.core.errors import OperatorError, ProgramError
from penstock.core.shape import shape_of
from penstock.core.source import Source
from penstock.core.specs import OperatorSpec, SourceSpec
from penstock.core.types import TypeInformation
from penstock.core.watermark import WatermarkStrategy
from penstock.graph.stream_graph import StreamGraph

T = TypeVar("T")

__all__ = ["StreamExecutionEnvironment"]


class StreamExecutionEnvironment(Settings):
    """Builds a program and runs it: on embedded local Spark, or the cluster it was submitted to (P2)."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        from penstock.launch import base_configuration

        self._configuration = base_configuration()
        if configuration is not None:
            self._configuration.add_all(configuration)
        self._drafts: list[Draft] = []
        self._caches: list[Cache] = []
        self._names = self._order = 0

    @staticmethod
    def get_execution_environment(configuration: Configuration | None = None) -> StreamExecutionEnvironment:
        return StreamExecutionEnvironment(configuration)

    # -- sources ----------------------------------------------------------------------------------

    def from_collection(self, collection: Iterable[T], type_info: TypeInformation | None = None) -> DataStream[T]:
        """A stream of the items of a collection."""
        source = _collection(collection, type_info)
        return self._add_source(source, "Source: Collection")._typed(type_info)

    def from_sequence(self, start: int, end: int) -> DataStream[int]:
        """The numbers from `start` to `end`, both included."""
        return self._add_source(NumberSequenceSource(start, end), "Source: Sequence")

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream[Any]:
        """A stream read from a source, with its event time."""
        if not isinstance(source, Source):
            raise TypeError(f"from_source() takes a Source, got {type(source).__name__}")
        return self._add_source(source, f"Source: {source_name}", _needed(watermark_strategy))._typed(type_info)

    def read_text_file(self, path: str, charset_name: str = "UTF-8") -> DataStream[str]:
        """The lines of a file, of the files below a folder, or of those that match a pattern."""
        lines = StreamFormat.text_line_format(charset_name)
        return self._add_source(FileSource.for_record_stream_format(lines, path).build(), "Source: Text File")

    def create_input(self, input_format: InputFormat, type_info: TypeInformation | None = None) -> DataStream[Any]:
        """A stream of the records that an input format reads."""
        if not isinstance(input_format, InputFormat):
            raise TypeError(f"create_input() takes an InputFormat, got {type(input_format).__name__}")
        source = FileSource(input_format.file_format, (input_format.path,))
        return self._add_source(source, "Source: Input Format")._typed(type_info)

    def _add_source(self, source: Source, name: str, strategy: WatermarkStrategy | None = None) -> DataStream[Any]:
        return DataStream(self, (Feed(self._draft(name, SourceSpec(source, strategy), ())),))

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
        fills = [cache for cache in self._caches if cache.wanted_by(self._drafts)]
        for cache in fills:
            self._draft("Fill Cache", cache.sink(), (Feed(cache.draft),))
        return fills

    def get_stream_graph(self, job_name: str | None = None, clear: bool = True) -> StreamGraph:
        """The program since the last one, frozen, with all that it is fed from."""
        nodes, edges = freeze(self._drafts)
        if clear:
            self._drafts = []
        return StreamGraph(job_name or "Penstock Job", nodes, edges)

    def get_execution_plan(self) -> str:
        """The program as Flink's JSON: its operators, and how they are fed; runs nothing."""
        from penstock.launch import execution_plan

        graph = self.get_stream_graph(clear=False)
        return execution_plan(graph, self._configuration, self.get_parallelism(), self.get_max_parallelism())

    def close(self) -> None:
        """Forget what was written and not run."""
        self._drafts = []

    def explain(self) -> str:
        """Stream graph, job graph and execution graph as text; runs nothing."""
        from penstock.launch import explain

        graph = self.get_stream_graph(clear=False)
        return explain(graph, self._configuration, self.get_parallelism(), self.get_max_parallelism())

    def _collect(self, name: str, job_name: str | None, limit: int | None) -> CloseableIterator[Any] | list[Any]:
        client = self.execute_async(job_name)
        results = CloseableIterator(client.results(name), client.close)
        if limit is None:
            return results
        with results:
            return [value for value, _ in zip(results, range(limit), strict=False)]

    def _draft(self, name: str, spec: OperatorSpec, inputs: Sequence[Feed]) -> Draft:
        self._order += 1
        draft = Draft(self._order, name, spec, tuple(inputs))
        self._drafts.append(draft)
        return draft

    def _next_name(self) -> str:
        self._names += 1
        return f"results-{self._names}"


def _collection(collection: Iterable[Any], type_info: TypeInformation | None) -> CollectionSource:
    """The items, in the declared type."""
    shape = shape_of(type_info)
    try:
        return CollectionSource(collection if shape is None else map(shape, collection))
    except OperatorError as error:
        raise ProgramError(f"from_collection(): {error}") from error


def _needed(strategy: WatermarkStrategy) -> WatermarkStrategy | None:
    """None for a strategy that has no effect."""
    if not isinstance(strategy, WatermarkStrategy):
        raise TypeError(f"from_source() takes a WatermarkStrategy, got {type(strategy).__name__}")
    return None if strategy.without_effect else strategy
