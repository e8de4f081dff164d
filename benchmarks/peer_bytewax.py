"""Bytewax's ``stateful_map``: one worker, no recovery store, input in memory before the clock starts.

Keys are strings, because Bytewax takes no others; the source gives them so, and that costs nothing here.
"""

from __future__ import annotations

import gc
from importlib.metadata import version
from time import perf_counter
from typing import Any

import bytewax.operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import run_main

from benchmarks.inputs import NOTHING, Answer, checksum_of, records
from benchmarks.model import RATE, Outcome
from benchmarks.params import SumParams
from benchmarks.worker import serve

STEP = 1_000

Item = tuple[str, int]


class Given(StatelessSourcePartition[Item]):
    """Hands out a list, a step at a time."""

    def __init__(self, items: list[Item]) -> None:
        self.items, self.at = items, 0

    def next_batch(self) -> list[Item]:
        if self.at >= len(self.items):
            raise StopIteration
        start, self.at = self.at, self.at + STEP
        return self.items[start : self.at]


class GivenSource(DynamicSource[Item]):
    """`Given` for the one worker."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Given:
        return Given(self.items)


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


def running_sum(params: SumParams) -> Outcome:
    """Records after the warm-up by the time they took to arrive."""
    items = [(str(key), value) for key, value in records(0, params.records, params.keys)]
    gc.freeze()
    consumer = Consumer(params.warmup)
    flow = Dataflow("running_sum")
    stream: Any = op.input("given", flow, GivenSource(items))
    op.output("consumer", op.stateful_map("sum", stream, add), consumer)
    run_main(flow)
    assert consumer.begun is not None
    began, before = consumer.begun
    rate = (consumer.answer.emitted - before) / (consumer.ended - began)
    return Outcome({RATE: rate}, consumer.answer, versions={"bytewax": version("bytewax")})


if __name__ == "__main__":
    serve({"running-sum": running_sum})
