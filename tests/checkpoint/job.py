"""A small job whose checkpoint is damaged: a keyed count with timers, an exactly-once file sink."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ValueStateDescriptor

__all__ = ["difference", "run", "run_unnamed"]

RECORDS = 260
BATCH = 30
KEYS = 7
POISON = 200


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


def run(
    folder: Path,
    poison: bool = False,
    parallelism: int = 2,
    uid: str = "count",
    restarts: int = 0,
    name: str = "damaged",
) -> None:
    """Run the job to its end; `poison`: to a failure in the middle, with a batch begun and not committed."""
    conf = Configuration(
        {
            "penstock.host": "streaming",
            "execution.checkpointing.dir": str(folder / "checkpoint"),
            "restart-strategy.fixed-delay.attempts": restarts,
            "penstock.batch.max-records": BATCH,
            "parallelism.default": parallelism,
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, t: v)
    source = DataGeneratorSource(lambda i: i, RECORDS)
    counted = env.from_source(source, strategy, "numbers").uid(f"{uid}-time").key_by(lambda v: v % KEYS)
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.json_encoder()).build()
    counted.process(Count(poison)).uid(uid).sink_to(sink).uid(f"{uid}-sink")
    env.execute(name)


def run_unnamed(folder: Path, function: Any, name: str, **settings: Any) -> list[Any]:
    """A job of which no operator has a uid; what it has printed when it ends."""
    conf = Configuration(
        {
            "penstock.host": "streaming",
            "execution.checkpointing.dir": str(folder / "checkpoint"),
            "penstock.batch.max-records": 10,
            **settings,
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    numbers = env.from_collection(list(range(20))).map(function).key_by(lambda v: v % 2).reduce(lambda a, b: a + b)
    return list(numbers.execute_and_collect(name))


def difference(folder: Path) -> str:
    """How the committed files differ from an uninterrupted run; empty if they do not.

    Which of two splits reaches a key first is not fixed, so numbers and values are compared each for themselves.
    """
    found = _committed(folder / "out")
    sizes = Counter(v % KEYS for v in range(RECORDS))
    numbers = sorted((k, n) for k, n, v in found if v >= 0)
    totals = sorted((k, n) for k, n, v in found if v < 0)
    if sorted(v for _, _, v in found if v >= 0) != list(range(RECORDS)):
        return "values are missing or double"
    if numbers != sorted((k, n) for k, size in sizes.items() for n in range(1, size + 1)):
        return "numbers are missing or double"
    return "" if totals == sorted(sizes.items()) else f"totals are {totals}"


def _committed(folder: Path) -> list[tuple[int, int, int]]:
    files = [f for f in folder.rglob("*") if f.is_file() and not f.name.startswith(".")]
    return [tuple(json.loads(line)) for f in files for line in f.read_text().splitlines()]
