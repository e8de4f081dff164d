"""PyFlink's ``KeyedProcessFunction`` with ``ValueState``; ``BENCH_VARIANT`` process or thread is its execution mode.

Tuned: bundles of up to 100,000 records and one second, a state cache that holds all keys, object reuse, the heap state
backend, no checkpoints. One subtask: with two, process mode was not clearly faster and thread mode slower, in a few
runs on a busy machine. The consumer is chained to the function, so that no output has to travel. Throughput is
taken inside the pipeline, where the output arrives.
"""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.functions import FlatMapFunction, KeyedProcessFunction, MapFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.java_gateway import get_gateway

from benchmarks.envs import DATA
from benchmarks.events import cut_of, step_of
from benchmarks.files import CSV, JSON, KEYS, file_of
from benchmarks.inputs import WEIGHT, Answer, checksum_of, record
from benchmarks.jobs.latency import percentiles
from benchmarks.model import FIRST_MS, RATE, Outcome
from benchmarks.params import EventParams, FileParams, LatencyParams, StartParams, SumParams
from benchmarks.peers import flink_nexmark
from benchmarks.peers.flink_events import PROGRAMS, Progress, progress
from benchmarks.peers.flink_source import numbers
from benchmarks.worker import EVENT_JOBS, serve, since_start_ms

SUBTASKS = {"process": 1, "thread": 1}
MARK_EVERY = 500
STATES = 500_000
"""So many values may the caches of event-time jobs hold: keys times windows."""

Mark = tuple[float, int]


class Sum(KeyedProcessFunction):  # type: ignore[misc]
    """The job."""

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[tuple[int, int]]:
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield value[0], total


class Consume(FlatMapFunction):  # type: ignore[misc]
    """Counts and adds up what arrives, notes the time every now and then, and leaves a file when it is closed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, runtime_context: Any) -> None:
        self.count = self.checksum = 0
        self.marks: list[Mark] = []

    def flat_map(self, value: Any) -> tuple[()]:
        self.count += 1
        self.checksum += value[0] * WEIGHT ^ value[1]
        if self.count % MARK_EVERY == 0:
            self.marks.append((time.time(), self.count))
        return ()

    def close(self) -> None:
        self.marks.append((time.time(), self.count))
        # not named by the subtask's index: asking for it fails in thread mode
        name = f"{os.getpid()}-{id(self)}.json"
        Path(self.folder, name).write_text(json.dumps([self.count, self.checksum, self.marks]))


def running_sum(params: SumParams) -> Outcome:
    """Records after the warm-up by the time they took to arrive."""
    mode = os.environ["BENCH_VARIANT"]
    environment = StreamExecutionEnvironment.get_execution_environment(_configuration(mode, params.keys))
    folder = tempfile.mkdtemp()
    _program(environment, params, folder)
    environment.execute("running sum")
    consumers = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    answer = Answer(sum(count for count, _, _ in consumers), sum(checksum for _, checksum, _ in consumers))
    rate = _rate([[(at, n) for at, n in marks] for _, _, marks in consumers], params.warmup)
    return Outcome({RATE: rate}, answer, versions=_versions())


def event_time(params: EventParams) -> Outcome:
    """Records by which event time came further, after the warm-up, by the time that took."""
    mode, folder = os.environ["BENCH_VARIANT"], tempfile.mkdtemp()
    nexmark = flink_nexmark.queries()
    environment = StreamExecutionEnvironment.get_execution_environment(_configuration(mode, STATES))
    if params.what in nexmark:
        stream = nexmark[params.what](flink_nexmark.events(environment, params.records))
    else:
        stream = PROGRAMS[params.what](environment, params.records)
    consumer = Progress(folder, cut_of(params.what, params.records))
    stream.flat_map(consumer, Types.LONG()).set_parallelism(1).print()
    environment.execute(params.what)
    answer, rate = progress(folder, params, step_of(params.what))
    return Outcome({RATE: rate}, answer, versions=_versions())


class Pace(MapFunction):  # type: ignore[misc]
    """(key, value, due): holds each record back until it is due."""

    def __init__(self, rate: int, keys: int) -> None:
        self.rate, self.keys = rate, keys

    def open(self, runtime_context: Any) -> None:
        self.started: float | None = None

    def map(self, index: int) -> tuple[int, int, float]:
        if self.started is None:
            self.started = time.time() - index / self.rate
        due = self.started + index / self.rate
        time.sleep(max(0.0, due - time.time()))
        return (*record(index, self.keys), due)


class PacedSum(Sum):
    """(key, sum, due)."""

    def process_element(self, value: Any, ctx: Any) -> Iterator[tuple[int, int, float]]:
        for key, total in super().process_element(value, ctx):
            yield key, total, value[2]


class Late(Consume):
    """Notes how long after it was due each record arrives."""

    def flat_map(self, value: Any) -> tuple[()]:
        self.marks.append((time.time() - value[2], self.count))
        return super().flat_map(value)


def latency(params: LatencyParams) -> Outcome:
    """Percentiles over the records that were due after the warm-up."""
    mode, folder = os.environ["BENCH_VARIANT"], tempfile.mkdtemp()
    environment = StreamExecutionEnvironment.get_execution_environment(_configuration(mode, params.keys))
    environment.set_buffer_timeout(0)
    indices = numbers(environment, params.rate * params.seconds)
    triple = Types.TUPLE([Types.LONG(), Types.LONG(), Types.DOUBLE()])
    keyed = indices.map(Pace(params.rate, params.keys), triple).key_by(lambda value: value[0], Types.LONG())
    keyed.process(PacedSum(), triple).flat_map(Late(folder), Types.LONG()).print()
    environment.execute("latency")
    ((count, checksum, marks),) = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    late = [seconds * 1000 for seconds, number in marks if params.warmup_s * params.rate <= number and seconds < 1e6]
    return Outcome(percentiles(late), Answer(count, checksum), versions=_versions())


def of_file(params: FileParams) -> Outcome:
    """Lines, parsed by Python; in batch mode the sums come at the end."""
    mode, parse = os.environ["BENCH_VARIANT"], _PARSE[params.kind]
    environment = StreamExecutionEnvironment.get_execution_environment(_configuration(mode, KEYS))
    environment.set_runtime_mode(RuntimeExecutionMode.BATCH)
    path = str(file_of(params.kind, params.records, DATA))
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
    lines = environment.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    keyed = lines.map(parse, pair).key_by(lambda found: found[0], Types.LONG())
    started = time.time()
    with keyed.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect() as results:
        sums = [(key, total) for key, total in results]
    rate = params.records / (time.time() - started)
    return Outcome({RATE: rate}, Answer(len(sums), checksum_of(sums)), versions=_versions())


def _of_csv(line: str) -> tuple[int, int]:
    fields = line.split(",")
    return int(fields[1]), int(fields[2])


def _of_json(line: str) -> tuple[int, int]:
    found = json.loads(line)
    return found["key"], found["value"]


_PARSE = {CSV: _of_csv, JSON: _of_json}


def start_up(params: StartParams) -> Outcome:
    """Left as it is, but for the mode."""
    configuration = Configuration()
    for name in ("python.client.executable", "python.executable"):
        configuration.set_string(name, sys.executable)
    configuration.set_string("python.execution-mode", os.environ["BENCH_VARIANT"])
    environment = StreamExecutionEnvironment.get_execution_environment(configuration)
    environment.set_parallelism(1)
    word = Types.TUPLE([Types.STRING(), Types.LONG()])
    words = environment.from_collection(list(params.lines)).flat_map(str.split, Types.STRING())
    keyed = words.map(lambda text: (text, 1), word).key_by(lambda pair: pair[0], Types.STRING())
    with keyed.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect() as results:
        found = [next(results)]
        first_ms = since_start_ms()
        found += results
    return Outcome({FIRST_MS: first_ms}, Answer(len(found), len(found)), versions=_versions())


def _configuration(mode: str, keys: int) -> Configuration:
    settings = {
        "parallelism.default": str(SUBTASKS[mode]),
        "pipeline.object-reuse": "true",
        "python.client.executable": sys.executable,
        "python.executable": sys.executable,
        "python.execution-mode": mode,
        "python.fn-execution.bundle.size": "100000",
        "python.fn-execution.bundle.time": "1000",
        "python.map-state.read-cache-size": str(2 * keys),
        "python.map-state.write-cache-size": str(2 * keys),
        "python.state.cache-size": str(2 * keys),
        "rest.port": "0",
    }
    configuration = Configuration()
    for key, value in settings.items():
        configuration.set_string(key, value)
    return configuration


def _program(environment: StreamExecutionEnvironment, params: SumParams, folder: str) -> None:
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    records = numbers(environment, params.records).map(_maker(params.keys), pair)
    keyed = records.key_by(lambda pair: pair[0], Types.LONG())
    keyed.process(Sum(), pair).flat_map(Consume(folder), Types.LONG()).print()


def _maker(keys: int) -> Callable[[int], tuple[int, int]]:
    return lambda index: record(index, keys)


def _rate(marks: list[list[Mark]], warmup: int) -> float:
    """Over all subtasks: from the moment when ``warmup`` records had arrived to the last arrival."""
    steps = sorted(step for own in marks for step in _steps(own))
    arrived, begun = 0, None
    for at, count in steps:
        arrived += count
        if begun is None and arrived >= warmup:
            begun = (at, arrived)
        if count:
            ended = at
    assert begun is not None
    return (arrived - begun[1]) / (ended - begun[0])


def _steps(marks: list[Mark]) -> Iterator[Mark]:
    """From counts to how many came since the mark before."""
    before = 0
    for at, count in marks:
        yield at, count - before
        before = count


def _versions() -> dict[str, str]:
    java = str(get_gateway().jvm.java.lang.System.getProperty("java.version"))
    return {"apache-flink": version("apache-flink"), "java": java}


if __name__ == "__main__":
    # the interpreter that thread mode embeds does not know that it belongs to a virtual environment
    os.environ["PYTHONPATH"] = os.pathsep.join([os.environ.get("PYTHONPATH", ""), sysconfig.get_path("purelib")])
    serve(
        {
            "running-sum": running_sum,
            "start-up": start_up,
            "latency": latency,
            "files": of_file,
            **dict.fromkeys(EVENT_JOBS, event_time),
        }
    )
