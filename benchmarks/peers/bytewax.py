"""Bytewax: one worker, no recovery store. Keys are strings, because Bytewax takes no others; sources make them so."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Any

import bytewax.operators as op
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import TestingSink, run_main

from benchmarks import events
from benchmarks.envs import DATA
from benchmarks.files import CSV, JSON, answer_of, file_of
from benchmarks.inputs import NOTHING, Answer, checksum_of, records
from benchmarks.model import RATE, Outcome
from benchmarks.params import EventParams, FileParams, SumParams
from benchmarks.peers import bytewax_events
from benchmarks.peers.bytewax_events import Item
from benchmarks.worker import EVENT_JOBS, serve

STEP = 1_000
VERSIONS = {"bytewax": version("bytewax")}


class Given(DynamicSource[Any], StatelessSourcePartition[Any]):
    """Hands out the first so many items to the one worker, a step at a time; notes when the warm-up was over."""

    def __init__(self, count: int, between: Callable[[int, int], list[Any]], warmup: int = 0) -> None:
        self.count, self.between, self.warmup = count, between, warmup
        self.at, self.begun = 0, 0.0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Given:
        return self

    def next_batch(self) -> list[Any]:
        if self.at >= self.count:
            raise StopIteration
        if not self.begun and self.at >= self.warmup:
            self.begun = perf_counter()
        start, self.at = self.at, min(self.count, self.at + STEP)
        return self.between(start, self.at)


class Consumer(DynamicSink[Item], StatelessSinkPartition[Item]):
    """Counts and adds up what arrives; notes when the warm-up was over and when the last came."""

    def __init__(self, warmup: int) -> None:
        self.warmup, self.answer = warmup, NOTHING
        self.begun: tuple[float, int] | None = None
        self.ended = 0.0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Consumer:
        return self

    def write_batch(self, items: list[Item]) -> None:
        self.answer += Answer(len(items), checksum_of([(int(key), total) for key, total in items]))
        self.ended = perf_counter()
        if self.begun is None and self.answer.emitted >= self.warmup:
            self.begun = (self.ended, self.answer.emitted)


def add(total: int | None, value: int) -> tuple[int, int]:
    """The job: new state, output."""
    new = (total or 0) + value
    return new, new


def _items(keys: int, start: int, stop: int) -> list[Item]:
    return [(str(key), value) for key, value in records(start, stop, keys)]


def running_sum(params: SumParams) -> Outcome:
    """Records after the warm-up by the time they took to arrive."""
    consumer = Consumer(params.warmup)
    flow = Dataflow("running_sum")
    stream: Any = op.input("given", flow, Given(params.records, partial(_items, params.keys)))
    op.output("consumer", op.stateful_map("sum", stream, add), consumer)
    run_main(flow)
    assert consumer.begun is not None
    began, before = consumer.begun
    rate = (consumer.answer.emitted - before) / (consumer.ended - began)
    return Outcome({RATE: rate}, consumer.answer, versions=VERSIONS)


class Total(DynamicSink[Any], StatelessSinkPartition[Any]):
    """Adds up what the event-time jobs emit up to a cut."""

    def __init__(self, cut_ms: int) -> None:
        self.cut_ms, self.answer = cut_ms, NOTHING

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Total:
        return self

    def write_batch(self, items: list[events.Emitted]) -> None:
        self.answer += events.answer_of(items, self.cut_ms)


def event_time(params: EventParams) -> Outcome:
    """Records after the warm-up by the time from when the source had handed it out to the end of everything."""
    make = bytewax_events.item_of(params.what)
    source = Given(params.records, lambda start, stop: list(map(make, range(start, stop))), params.warmup)
    total = Total(events.cut_of(params.what, params.records))
    flow = Dataflow("event_time")
    stream: Any = op.input("given", flow, source)
    op.output("total", bytewax_events.PROGRAMS[params.what](stream), total)
    run_main(flow)
    rate = (params.records - params.warmup) / (perf_counter() - source.begun)
    return Outcome({RATE: rate}, total.answer, versions=VERSIONS)


PAIRS: dict[str, Callable[[str], Item]] = {
    CSV: lambda text: _pair(*text.split(",", 3)[1:3]),
    JSON: lambda text: _pair(*operator.itemgetter("key", "value")(json.loads(text))),
}


def _pair(key: str | int, value: str | int) -> Item:
    return str(key), int(value)


def of_file(params: FileParams) -> Outcome:
    """Lines that Python parses; the whole time."""
    path = file_of(params.kind, params.records, DATA)
    found: list[Item] = []
    flow = Dataflow("of_file")
    lines: Any = op.input("lines", flow, FileSource(path, batch_size=STEP, get_fs_id=lambda _: "here"))
    sums = op.fold_final("sum", op.map("pair", lines, PAIRS[params.kind]), int, operator.add)
    op.output("found", sums, TestingSink(found))
    started = perf_counter()
    run_main(flow)
    rate = params.records / (perf_counter() - started)
    return Outcome({RATE: rate}, answer_of([(int(key), total) for key, total in found]), versions=VERSIONS)


if __name__ == "__main__":
    serve({"running-sum": running_sum, "files": of_file, **dict.fromkeys(EVENT_JOBS, event_time)})
