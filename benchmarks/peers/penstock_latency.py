"""Latency in Penstock: a generator at a fixed rate, and a sink that notes when results are committed."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.inputs import NOTHING, WEIGHT, Answer, record
from benchmarks.jobs.latency import SAMPLE, percentiles
from benchmarks.machine import cores
from benchmarks.model import Outcome
from benchmarks.params import LatencyParams
from penstock.common import Configuration, WatermarkStrategy
from penstock.core.contracts.source import Position, SourceClock
from penstock.datastream import (
    CommitRequest,
    Committer,
    KeyedProcessFunction,
    RuntimeContext,
    Sink,
    SinkWriter,
    StreamExecutionEnvironment,
    SupportsCommitter,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.state import ValueStateDescriptor

STARTED = "started"


class Paced(DataGeneratorSource):
    """(key, value, index) at a fixed rate; leaves a note of when the first was due."""

    def __init__(self, keys: int, count: int, rate: int, folder: str) -> None:
        super().__init__(lambda index: (*record(index, keys), index), count, RateLimiterStrategy.per_second(rate))
        self.folder = folder

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        Path(self.folder, STARTED).write_text(str(clock.started_ms))
        return super().advance(split, splits, start, base, limit, clock)


class Sum(KeyedProcessFunction):
    """(key, sum, index)."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[tuple[int, int, int]]:
        total = (self.total.value() or 0) + value[1]
        self.total.update(total)
        yield value[0], total, value[2]


class Writer(SinkWriter):
    def __init__(self, name: str) -> None:
        self.name, self.answer, self.indices = name, NOTHING, list[int]()

    def write(self, value: Any, timestamp: int | None) -> None:
        self.write_all([value], None)

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self.answer += Answer(len(values), sum([key * WEIGHT ^ total for key, total, _ in values]))
        self.indices += [index for _, _, index in values if index % SAMPLE == 0]

    def prepare_commit(self) -> list[Any]:
        return [(self.name, self.answer.emitted, self.answer.checksum, self.indices)]


class Notes(Committer):
    """A file for each batch and subtask; the time is that of its first commit."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def commit(self, requests: Sequence[CommitRequest]) -> None:
        now_ms = time.time() * 1000
        for request in requests:
            name, *rest = request.get_committable()
            path = Path(self.folder, f"{name}.json")
            if not path.exists():
                path.write_text(json.dumps([now_ms, *rest]))


class Noting(Sink, SupportsCommitter):
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def create_writer(self, context: Any) -> SinkWriter:
        return Writer(f"{context.batch_id}-{context.subtask_index}")

    def create_committer(self) -> Committer:
        return Notes(self.folder)


def latency(params: LatencyParams) -> Outcome:
    """Percentiles over the records that were due after the warm-up."""
    folder = tempfile.mkdtemp()
    settings = {"penstock.host": "streaming", "execution.checkpointing.dir": tempfile.mkdtemp()}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    env.set_parallelism(cores())
    source = Paced(params.keys, params.rate * params.seconds, params.rate, folder)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
    stream.key_by(lambda value: value[0]).process(Sum()).sink_to(Noting(folder))
    result = env.execute("latency")
    answer, latencies = _read(Path(folder), params)
    return Outcome({**percentiles(latencies), "batches": float(result.batches)}, answer)


def _read(folder: Path, params: LatencyParams) -> tuple[Answer, list[float]]:
    started_ms = float((folder / STARTED).read_text())
    answer, latencies = NOTHING, list[float]()
    for path in folder.glob("*.json"):
        at_ms, emitted, checksum, indices = json.loads(path.read_text())
        answer += Answer(emitted, checksum)
        due = ((index, started_ms + index * 1000 / params.rate) for index in indices)
        latencies += [at_ms - due_ms for index, due_ms in due if index >= params.warmup_s * params.rate]
    return answer, latencies
