"""Penstock, through the names a program uses: a generator, ``key_by``, a ``KeyedProcessFunction``, a sink.

Streaming host, parallelism = cores, every micro-batch a checkpoint. The sink's writers count and add up what arrives;
their committables carry the sums to the driver, so that the answer is made of committed batches only.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.disk import BytesWritten
from benchmarks.envs import DATA
from benchmarks.events import answer_of, cut_of
from benchmarks.files import file_of
from benchmarks.inputs import NOTHING, WEIGHT, Answer, record
from benchmarks.jobs.growth import growth_record
from benchmarks.jobs.long_list import key_metrics
from benchmarks.machine import cores
from benchmarks.model import BATCH_MS, BYTES, FIRST_MS, RATE, Outcome
from benchmarks.params import (
    EmptyBatchParams,
    EventParams,
    FileParams,
    GrowthParams,
    LongListParams,
    StartParams,
    SumParams,
)
from benchmarks.peers.pattern_runtime import patterns
from benchmarks.peers.penstock_events import PROGRAMS, sharing
from benchmarks.peers.penstock_files import sum_file
from benchmarks.peers.penstock_latency import latency
from benchmarks.peers.penstock_runtime import runtime
from benchmarks.peers.window_runtime import windows
from benchmarks.worker import EVENT_JOBS, serve, since_start_ms
from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.core.contracts.source import Position, SourceClock
from penstock.datastream import (
    CommitRequest,
    Committer,
    DataStream,
    KeyedProcessFunction,
    RuntimeContext,
    Sink,
    SinkWriter,
    StreamExecutionEnvironment,
    SupportsCommitter,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.jobs.client import JobClient

# -- the program ------------------------------------------------------------------------------------------


class Sum(KeyedProcessFunction):
    """The job."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield value[0], total


class Gather(KeyedProcessFunction):
    """Appends to the key's list; at record number ``records`` reads it and emits its size and sum."""

    def __init__(self, records: int) -> None:
        self.records = records

    def open(self, runtime_context: RuntimeContext) -> None:
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        if value[1] < self.records:
            self.items.add(value[1])
        elif value[1] == self.records:
            found = list(self.items.get())
            yield len(found), sum(found)


class SteppedSource(DataGeneratorSource):
    """A generator with batches of the sizes that it is told: of ``first`` records up to ``until``, then of ``then``."""

    def __init__(self, function: Callable[[int], Any], count: int, until: int, first: int, then: int) -> None:
        super().__init__(function, count)
        self.until, self.first, self.then = until, first, then

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        until = self.until // splits
        limit = min(self.first // splits, until - start.at) if start.at < until else self.then // splits
        return super().advance(split, splits, start, base, limit, clock)


# -- the consumer -----------------------------------------------------------------------------------------


def _sums(values: Sequence[Any]) -> Answer:
    return Answer(len(values), sum([key * WEIGHT ^ total for key, total in values]))


class CountingWriter(SinkWriter):
    """Counts and adds up the records of one batch and subtask."""

    def __init__(self, name: str, answer_of: Callable[[Sequence[Any]], Answer]) -> None:
        self.name, self.answer_of = name, answer_of
        self.answer = NOTHING

    def write(self, value: Any, timestamp: int | None) -> None:
        self.write_all([value], None)

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self.answer += self.answer_of(values)

    def prepare_commit(self) -> list[Any]:
        return [(self.name, self.answer.emitted, self.answer.checksum)]


class CountingCommitter(Committer):
    """One file for each batch and subtask; to commit again writes the same again."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        for request in requests:
            name, emitted, checksum = request.get_committable()
            Path(self.folder, name).write_text(json.dumps([emitted, checksum]))


class CountingSink(Sink, SupportsCommitter):
    """Two-phase, like every sink of Penstock. ``answer_of`` makes an answer of some records."""

    def __init__(self, folder: str, answer_of: Callable[[Sequence[Any]], Answer]) -> None:
        self.folder, self.answer_of = folder, answer_of

    def create_writer(self, context: Any) -> SinkWriter:
        return CountingWriter(f"{context.batch_id}-{context.subtask_index}", self.answer_of)

    def create_committer(self) -> Committer:
        return CountingCommitter(self.folder)

    def answer(self) -> Answer:
        """Of all batches committed so far."""
        return sum((Answer(*json.loads(path.read_text())) for path in Path(self.folder).iterdir()), NOTHING)


# -- running it -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Started:
    """A job under way, where its checkpoint is, and what it has committed."""

    client: JobClient
    checkpoint: Path
    sink: CountingSink

    def finish(self, batches: int) -> list[float]:
        """Wait for the end; how long each of so many batches took, in ms, from its trigger to its commit."""
        times = [float(ms) for ms in self.client.wait().metrics["batch_ms"]]
        if len(times) != batches:
            raise RuntimeError(f"{batches} batches were expected, {len(times)} were timed: {times}")
        return times


def start(source: DataGeneratorSource, function: KeyedProcessFunction, batch_records: int) -> Started:
    """Start the program on the streaming host. Each of the source's splits gives its share of a batch."""

    def program(env: StreamExecutionEnvironment) -> DataStream[Any]:
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
        return stream.key_by(itemgetter(0)).process(function)

    return start_program(program, batch_records // cores(), _sums)


def start_program(
    program: Callable[[StreamExecutionEnvironment], DataStream[Any]],
    split_records: int,
    answer_of: Callable[[Sequence[Any]], Answer],
    subtasks: int | None = None,
) -> Started:
    """Start any program whose sources' splits give so many records each to a batch."""
    checkpoint, sink = Path(tempfile.mkdtemp()), CountingSink(tempfile.mkdtemp(), answer_of)
    settings = {
        "penstock.host": "streaming",
        "execution.checkpointing.dir": str(checkpoint),
        "penstock.batch.max-records": split_records,
        "penstock.batch.target-ms": 0,  # batches of the same size as the peers', however long they take
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    env.set_parallelism(subtasks or cores())
    program(env).sink_to(sink)
    return Started(env.execute_async("benchmark"), checkpoint, sink)


def versions() -> dict[str, str]:
    """Of Spark, Java and Penstock."""
    from pyspark.sql import SparkSession

    from benchmarks.peers.spark_query import versions as of_spark
    from penstock import __version__

    spark = SparkSession.getActiveSession()
    return {"penstock": __version__, **(of_spark(spark) if spark is not None else {})}


# -- the jobs ---------------------------------------------------------------------------------------------


def running_sum(params: SumParams) -> Outcome:
    """Records by the median time of a batch."""
    keys = params.keys
    job = start(DataGeneratorSource(lambda index: record(index, keys), params.records), Sum(), params.batch_records)
    times = job.finish(params.batches)
    rate = params.batch_records * 1000 / median(times[params.warmup_batches :])
    return Outcome({RATE: rate}, job.sink.answer(), times, versions())


def empty_batch(params: EmptyBatchParams) -> Outcome:
    """The median time of a batch."""
    count = params.batch_records * params.batches
    job = start(DataGeneratorSource(lambda index: record(index, 1000), count), Sum(), params.batch_records)
    times = job.finish(params.batches)
    return Outcome({BATCH_MS: median(times[params.warmup_batches :])}, job.sink.answer(), times, versions())


def growth(params: GrowthParams) -> Outcome:
    """The median time of a small batch, and what the checkpoint grew by for each of its records."""
    keys, small = params.state_keys, params.batch_records
    source = SteppedSource(
        lambda index: growth_record(index, keys), keys + small * params.batches, keys, params.fill_records, small
    )
    job = start(source, Sum(), params.fill_records)
    fill = -(-keys // params.fill_records)
    written = BytesWritten(job.checkpoint)
    written.watch(job.client, fill + params.warmup_batches)
    times = job.finish(fill + params.batches)
    counted = times[fill + params.warmup_batches :]
    per_record = written.since() / (len(counted) * small)
    return Outcome({BATCH_MS: median(counted), BYTES: per_record}, job.sink.answer(), times, versions())


def long_list(params: LongListParams) -> Outcome:
    """One batch more than asked for reads the list; it is not measured."""
    records = params.batch_records * params.batches
    source = DataGeneratorSource(lambda index: (0, index), records + params.batch_records)
    job = start(source, Gather(records), params.batch_records)
    times = job.finish(params.batches + 1)[: params.batches]
    return Outcome(key_metrics(times), job.sink.answer(), times, versions())


def start_up(params: StartParams) -> Outcome:
    """A bounded job on the host that is chosen by itself."""
    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(list(params.lines)).flat_map(str.split)
    counts = words.map(lambda word: (word, 1)).key_by(itemgetter(0)).reduce(lambda a, b: (a[0], a[1] + b[1]))
    results = iter(counts.execute_and_collect())
    found = [next(results)]
    first_ms = since_start_ms()
    found += results
    return Outcome({FIRST_MS: first_ms}, Answer(len(found), len(found)), versions=versions())


def of_file(params: FileParams) -> Outcome:
    """A job over three lines first."""
    for records in (3, params.records):
        sink = CountingSink(tempfile.mkdtemp(), _sums)
        milliseconds = sum_file(str(file_of(params.kind, records, DATA)), params.kind, sink)
    return Outcome({RATE: params.records * 1000 / milliseconds}, sink.answer(), [milliseconds], versions())


def not_durable(params: EventParams) -> Outcome:
    """The bounded host: one job over a tenth of the records, then one over all of them, which counts."""
    for records in (params.records // 10, params.records):
        env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "bounded"}))
        env.set_parallelism(params.subtasks or cores())
        cut_ms = cut_of(params.what, records)
        sink = CountingSink(tempfile.mkdtemp(), lambda emitted, cut_ms=cut_ms: answer_of(emitted, cut_ms))
        PROGRAMS[params.what](env, records).sink_to(sink)
        milliseconds = env.execute("benchmark").get_net_runtime()
    return Outcome({RATE: params.records * 1000 / milliseconds}, sink.answer(), [milliseconds], versions())


def event_time(params: EventParams) -> Outcome:
    """Records by the median time of a batch."""
    if not params.durable:
        return not_durable(params)
    subtasks = params.subtasks or cores()
    program, cut_ms = PROGRAMS[params.what], cut_of(params.what, params.records)
    job = start_program(
        lambda env: program(env, params.records),
        params.batch_records // sharing(params.what, subtasks),
        lambda emitted: answer_of(emitted, cut_ms),
        subtasks,
    )
    times = job.finish(params.batches)
    rate = params.batch_records * 1000 / median(times[params.warmup_batches :])
    return Outcome({RATE: rate}, job.sink.answer(), times, versions())


if __name__ == "__main__":
    serve(
        {
            **dict.fromkeys(EVENT_JOBS, event_time),
            "window-runtime": windows,
            "start-up": start_up,
            "latency": latency,
            "files": of_file,
            "running-sum": running_sum,
            "empty-batch": empty_batch,
            "growth": growth,
            "long-list": long_list,
            "runtime": runtime,
            "patterns": patterns,
        }
    )
