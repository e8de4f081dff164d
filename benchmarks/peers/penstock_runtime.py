"""Penstock's runtime alone, without Spark: chunk rows into one subtask, whose sink takes what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from time import perf_counter
from typing import Any

from benchmarks.inputs import Answer
from benchmarks.model import RATE, Outcome
from benchmarks.params import RuntimeParams
from benchmarks.peers import functions
from penstock.common import Configuration, Types
from penstock.core.program.job import JobPlan
from penstock.core.time.clock import SystemClock
from penstock.datastream import KeyedProcessFunction, Sink, SinkWriter, StreamExecutionEnvironment
from penstock.datastream.state import ValueStateDescriptor
from penstock.launch import plan_options
from penstock.plan.compile import compile_job
from penstock.runtime.chunk import DATA, BatchInfo, ChunkRow, Payload, channel_id, encode_payload
from penstock.runtime.memory import raise_gc_threshold
from penstock.runtime.state.store import MemoryStore
from penstock.runtime.task import VertexTask

CHUNK = 8192
KEPT: list[Any] = []


class KeepingWriter(SinkWriter):
    """Keeps all there is."""

    def write(self, value: Any, timestamp: int | None) -> None:
        KEPT.append(value)

    def write_all(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        KEPT.extend(values)


class KeepingSink(Sink):
    """In this process."""

    def create_writer(self, context: Any) -> SinkWriter:
        return KeepingWriter()


class Counter(functions.Counter, KeyedProcessFunction):
    """The shared function, as Penstock wants it."""

    descriptor = ValueStateDescriptor("count", Types.LONG())


def runtime(params: RuntimeParams) -> Outcome:
    """The best of some passes. The cycle collector is set as in a worker; the loop is as fast either way."""
    raise_gc_threshold()
    measure = {"chain": _chain, "counter": _counter}[params.what]
    passes = [measure(params) for _ in range(params.passes)]
    seconds = min(seconds for seconds, _ in passes)
    return Outcome({RATE: params.records / seconds}, passes[0][1], [seconds for seconds, _ in passes])


def _chain(params: RuntimeParams) -> tuple[float, Answer]:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([0]).rebalance()
    stream.map(functions.FIRST).filter(functions.KEEP).map(functions.LAST).sink_to(KeepingSink())
    given = functions.chain_input(params.records)
    return _timed(_plan(env), given, None), functions.chain_answer(KEPT)


def _counter(params: RuntimeParams) -> tuple[float, Answer]:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([(0, 0)]).key_by(itemgetter(0)).process(Counter()).sink_to(KeepingSink())
    given = functions.counter_input(params.records, params.keys)
    return _timed(_plan(env), given, [key for key, _ in given]), functions.counter_answer(KEPT)


def _plan(env: StreamExecutionEnvironment) -> JobPlan:
    return compile_job(env.get_stream_graph(), plan_options(Configuration(), "streaming", 1, 128))


def _timed(plan: JobPlan, given: list[Any], keys: list[Any] | None) -> float:
    """One batch: decode chunks, run the chain, keep the output, write the state."""
    vertex = next(v for v in plan.vertices if not v.is_source)
    task = VertexTask(plan, vertex, 0, MemoryStore(), SystemClock(), lambda row: None, None)
    rows = _rows(vertex.vertex_id, channel_id(vertex.in_edges[0].edge_id, 0), given, keys)
    KEPT.clear()
    started = perf_counter()
    task.begin(BatchInfo("benchmark", 0, 0))
    for row in rows:
        task.process(row)
    task.end()
    seconds = perf_counter() - started
    task.close()
    return seconds


def _rows(target: int, channel: int, given: list[Any], keys: list[Any] | None) -> list[ChunkRow]:
    return [
        ChunkRow(0, target, channel, seq, DATA, encode_payload(_payload(given, keys, first), "benchmark", "benchmark"))
        for seq, first in enumerate(range(0, len(given), CHUNK))
    ]


def _payload(given: list[Any], keys: list[Any] | None, first: int) -> Payload:
    part = slice(first, first + CHUNK)
    return Payload(given[part], None, None if keys is None else keys[part], [])
