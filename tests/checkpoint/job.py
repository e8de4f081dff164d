"""A small job whose checkpoint is damaged: a keyed count with timers, an exactly-once file sink."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.connectors.file_sink import Encoder, FileSink
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ValueStateDescriptor

__all__ = ["RECORDS", "expected", "output", "run"]

RECORDS = 360
BATCH = 30
KEYS = 7
POISON = 230
WINDOW_MS = 50


class Count(KeyedProcessFunction):
    """(key, number of the record in its key, value), and at the end of each window the number so far."""

    def __init__(self, poison: bool) -> None:
        self._poison = poison

    def open(self, runtime_context: RuntimeContext) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        if self._poison and value == POISON:
            raise RuntimeError("poison")
        number = (self._seen.value() or 0) + 1
        self._seen.update(number)
        ctx.timer_service().register_event_time_timer(10 * RECORDS)
        yield ctx.get_current_key(), number, value

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int]]:
        yield ctx.get_current_key(), self._seen.value() or 0, -1


def run(folder: Path, poison: bool = False, parallelism: int = 2, uid: str = "count", **settings: str) -> None:
    """Run the job to its end; `poison`: to a failure in the middle, with a batch begun and not committed."""
    conf = Configuration(
        {
            "penstock.host": "streaming",
            "execution.checkpointing.dir": str(folder / "checkpoint"),
            "restart-strategy.type": "none",
            "penstock.batch.max-records": BATCH,
            "parallelism.default": parallelism,
            **settings,
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, t: v)
    source = DataGeneratorSource(lambda i: i, RECORDS)
    counted = env.from_source(source, strategy, "numbers").uid(f"{uid}-time").key_by(lambda v: v % KEYS)
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.json_encoder()).build()
    counted.process(Count(poison)).uid(uid).sink_to(sink).uid(f"{uid}-sink")
    env.execute("damaged")


def output(folder: Path) -> Counter[tuple[int, ...]]:
    """What readers of the sink's folder see."""
    files = [f for f in (folder / "out").glob("*") if not f.name.startswith(".")]
    return Counter(tuple(json.loads(line)) for f in files for line in f.read_text().splitlines())


def expected() -> Counter[tuple[int, ...]]:
    """What an uninterrupted run gives, but for the order in which two splits arrive at a key."""
    sizes = Counter(v % KEYS for v in range(RECORDS))
    return Counter((key, number, 0) for key, size in sizes.items() for number in range(1, size + 1)) + Counter(
        (key, size, -1) for key, size in sizes.items()
    )
