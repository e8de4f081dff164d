"""The job of the soak: a fixed rate, state that should not grow, an exactly-once sink. A process of its own.

Record i has the key i mod KEYS and the timestamp i / rate. The first stage keeps, for each key, how many records it has
seen and the last ten of them; the second counts, per group and window of event time, what the first one let through.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Time, WatermarkStrategy
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows

KEYS = 20_000
GROUPS = 50
WINDOW_MS = 10_000
PARALLELISM = 2


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """What a run of the job is told on its command line."""

    folder: str
    records: int
    per_second: int

    def to_arguments(self) -> list[str]:
        return [str(value) for value in asdict(self).values()]

    @staticmethod
    def from_arguments(arguments: Sequence[str]) -> SoakOptions:
        return SoakOptions(arguments[0], int(arguments[1]), int(arguments[2]))

    @property
    def checkpoint(self) -> Path:
        return Path(self.folder, "checkpoint")

    @property
    def output(self) -> Path:
        return Path(self.folder, "windows")

    @property
    def metrics(self) -> Path:
        return Path(self.folder, "metrics.json")

    def window_of(self, index: int) -> int:
        """The end of the window a record belongs to."""
        return index * 1000 // self.per_second // WINDOW_MS * WINDOW_MS + WINDOW_MS


class Keep(KeyedProcessFunction):
    """How many records a key has had, and the last ten."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen"))
        self._last = runtime_context.get_list_state(ListStateDescriptor("last"))

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self._seen.update((self._seen.value() or 0) + 1)
        self._last.update([*list(self._last.get())[-9:], value])
        yield value


class Count(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Named(ProcessWindowFunction):
    def process(self, key: int, context: Any, elements: Any) -> Iterator[tuple[int, int, int]]:
        yield key, context.window().end, *elements

    def clear(self, context: Any) -> None: ...


def build(env: StreamExecutionEnvironment, options: SoakOptions) -> None:
    rate = options.per_second
    source = DataGeneratorSource(int, options.records, RateLimiterStrategy.per_second(rate))
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    records = env.from_source(
        source, strategy.with_timestamp_assigner(lambda value, _: value * 1000 // rate), "records"
    )
    kept = records.key_by(lambda v: v % KEYS).process(Keep()).uid("keep")
    counted = kept.key_by(lambda v: v % GROUPS).window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS)))
    sink = FileSink.for_row_format(str(options.output), Encoder.json_encoder()).build()
    counted.aggregate(Count(), Named()).uid("count").sink_to(sink).uid("windows")


def configuration(options: SoakOptions) -> Configuration:
    return (
        Configuration()
        .set_string("penstock.host", "streaming")
        .set_string("execution.checkpointing.dir", str(options.checkpoint))
        .set_integer("restart-strategy.fixed-delay.attempts", 100_000)
        .set_integer("restart-strategy.fixed-delay.delay", 100)
        .set_integer("parallelism.default", PARALLELISM)
    )


def main(arguments: Sequence[str]) -> None:
    options = SoakOptions.from_arguments(arguments)
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    build(env, options)
    client = env.execute_async("soak")
    ended = threading.Event()
    telling = threading.Thread(target=_tell, args=(client, options, ended), daemon=True)
    telling.start()
    try:
        client.wait()
    finally:
        ended.set()
    print("finished", flush=True)


def _tell(client: Any, options: SoakOptions, ended: threading.Event) -> None:
    """Write the job's own figures every second, for who watches."""
    while not ended.wait(1.0):
        metrics = client.get_metrics()
        batches = metrics["batch_ms"][-20:]
        told = {
            "state_bytes": sum(subtask.get("state_bytes", 0) for subtask in metrics["subtasks"]),
            "batch_ms": sum(batches) // len(batches) if batches else None,
        }
        fresh = options.metrics.with_suffix(".new")
        fresh.write_text(json.dumps(told))
        os.replace(fresh, options.metrics)


if __name__ == "__main__":
    main(sys.argv[1:])
