"""The job that is killed: two stateful stages, each with exactly-once sinks. Run as a process of its own.

Record i has the key i mod KEYS, the value i and the timestamp 10 i. The first stage numbers the records of
each key; the second adds up, per group of keys and window of event time, what the first one emitted, and is
told by timers when a window is complete.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.common import Configuration, Time, WatermarkStrategy
from penstock.core.contracts.source import Position, SourceClock
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    AsyncRetryStrategy,
    DataStream,
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.async_retry_predicates import has_exception_predicate
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.runtime.batch_output import BatchOutput
from penstock.runtime.commit_coordinator import CommitCoordinator
from tests.kill.moments import Moment, pause
from tests.kill.patterns import OUT_OF_TIME, matched
from tests.kill.sinks import create_tables, file_sink, sql_sink

KEYS = 24
GROUPS = 8
STEP_MS = 10
WINDOW_MS = 2_000
PARALLELISM = 2
BATCH = 60
"""Records of a split in a batch."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What a run of the job is told on its command line."""

    folder: str
    records: int = 3_000
    per_second: float = 400.0
    master: str = ""
    deterministic: bool = True
    failures_per_million: int = 0
    restarts: int = 1_000
    asynchronous: bool = False
    patterns: bool = False
    postgres: str = ""
    """The JDBC address of an empty database; without it, files and SQLite alone are written."""

    def to_arguments(self) -> list[str]:
        return [f"{name}={value}" for name, value in asdict(self).items()]

    @staticmethod
    def from_arguments(arguments: Sequence[str]) -> JobOptions:
        given = dict(a.split("=", 1) for a in arguments)
        return JobOptions(
            given["folder"],
            int(given["records"]),
            float(given["per_second"]),
            given["master"],
            given["deterministic"] == "True",
            int(given["failures_per_million"]),
            int(given["restarts"]),
            given["asynchronous"] == "True",
            given["patterns"] == "True",
            given["postgres"],
        )

    @property
    def checkpoint(self) -> str:
        return os.path.join(self.folder, "checkpoint")

    @property
    def numbered(self) -> str:
        return os.path.join(self.folder, "numbered")

    @property
    def windows(self) -> str:
        return os.path.join(self.folder, "windows")

    @property
    def out_of_time(self) -> str:
        return os.path.join(self.folder, "out-of-time")

    @property
    def databases(self) -> dict[str, str]:
        """JDBC addresses by name; matches are written to files alone."""
        found = {"SQLite": f"jdbc:sqlite:{os.path.join(self.folder, 'tables.db')}", "PostgreSQL": self.postgres}
        return {name: url for name, url in found.items() if url and not self.patterns}


def record(index: int) -> tuple[int, int]:
    return index % KEYS, index


def timestamp(value: int) -> int:
    return value * STEP_MS


def window_of(value: int) -> int:
    """The last timestamp of the window a value belongs to."""
    return timestamp(value) // WINDOW_MS * WINDOW_MS + WINDOW_MS - 1


def payload_of(value: int) -> int:
    """What the deterministic job makes of a value."""
    return value * 7919 % 1_000_003


class Number(KeyedProcessFunction):
    """Numbers the records of a key: (key, number, value, payload)."""

    def __init__(self, deterministic: bool, failures_per_million: int) -> None:
        self._deterministic, self._failures = deterministic, failures_per_million

    def open(self, runtime_context: RuntimeContext) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: tuple[int, int], ctx: Any) -> Iterator[tuple[int, int, int, int]]:
        if self._failures and int.from_bytes(os.urandom(4), "big") % 1_000_000 < self._failures:
            raise RuntimeError("fails at random")
        number = (self._seen.value() or 0) + 1
        self._seen.update(number)
        yield value[0], number, value[1], self._payload(value[1])

    def _payload(self, value: int) -> int:
        if self._deterministic:
            return payload_of(value)
        return int.from_bytes(os.urandom(4), "big") ^ (time.time_ns() & 0xFFFF)


class AddUp(KeyedProcessFunction):
    """Adds up the payloads of a group per window; a timer says when a window is complete."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._sums = runtime_context.get_map_state(MapStateDescriptor("sums"))

    def process_element(self, value: tuple[int, int, int, int], ctx: Any) -> None:
        end = window_of(value[2])
        count, total = self._sums.get(end) or (0, 0)
        self._sums.put(end, (count + 1, total + value[3]))
        ctx.timer_service().register_event_time_timer(end)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[tuple[int, int, int, int]]:
        count, total = self._sums.get(timestamp) or (0, 0)
        self._sums.remove(timestamp)
        yield ctx.get_current_key(), timestamp, count, total


class Lookup(AsyncFunction):
    """Gives a record back after a nap; now and then the call fails, and is made again, or never ends (O5)."""

    async def async_invoke(self, value: Any) -> list[Any]:
        chance = int.from_bytes(os.urandom(2), "big") % 100
        if chance < 5:
            raise ConnectionError("fails at random")
        await asyncio.sleep(60 if chance > 97 else chance / 20_000)
        return [value]

    def timeout(self, value: Any) -> list[Any]:
        return [value]


RETRY = AsyncRetryStrategy.fixed_delay(100, 1, None, has_exception_predicate)
TIMEOUT = Time.milliseconds(40)


# -- pauses at well-defined moments, so that kills find every state a batch can be in ------------------


class _PausingCoordinator(CommitCoordinator):
    """Pauses between the end of a batch's work and Spark's commit of it."""

    def hold(self, output: BatchOutput) -> None:
        super().hold(output)
        pause(Moment.STATE_WRITTEN)


class _PausingSource(DataGeneratorSource):
    """Pauses between two batches."""

    def advance(
        self, split: int, splits: int, start: Position, base: Position, limit: int, clock: SourceClock
    ) -> Position:
        if split == 0:
            pause(Moment.SINK_COMMITTED)
        return super().advance(split, splits, start, base, limit, clock)


class _FirstOfBatch:
    """Pauses before the records of a batch are sent on."""

    def __call__(self, value: tuple[int, int]) -> tuple[int, int]:
        if value[0] == 0:
            pause(Moment.OFFSET_WRITTEN)
        return value


# -- the program -----------------------------------------------------------------------------------------


def configuration(options: JobOptions) -> Configuration:
    conf = (
        Configuration()
        .set_string("penstock.host", "streaming")
        .set_string("execution.checkpointing.dir", options.checkpoint)
        .set_integer("restart-strategy.fixed-delay.attempts", options.restarts)
        .set_integer("restart-strategy.fixed-delay.delay", 100)
        .set_integer("parallelism.default", PARALLELISM)
        .set_integer("penstock.batch.max-records", BATCH)
    )
    if options.master:
        conf.set_string("spark.master", options.master).set_string("spark.executor.memory", "512m")
    return conf


def build(env: StreamExecutionEnvironment, options: JobOptions) -> None:
    source = _PausingSource(record, options.records, RateLimiterStrategy.per_second(options.per_second))
    strategy: Any = WatermarkStrategy.for_monotonous_timestamps()
    records = env.from_source(source, strategy.with_timestamp_assigner(lambda v, t: timestamp(v[1])), "records").map(
        _FirstOfBatch()
    )
    if options.asynchronous:
        records = AsyncDataStream.ordered_wait_with_retry(records, Lookup(), TIMEOUT, RETRY).uid("ordered")
    numbered = (
        records.key_by(lambda v: v[0])
        .process(Number(options.deterministic, options.failures_per_million))
        .uid("number")
    )
    _sinks(numbered, "numbered", options)
    grouped = numbered.key_by(lambda v: v[0] % GROUPS)
    if options.patterns:
        windows = matched(grouped).uid("patterns")
        windows.get_side_output(OUT_OF_TIME).sink_to(file_sink(options.out_of_time)).uid("out-of-time")
    else:
        windows = grouped.process(AddUp()).uid("add-up")
    if options.asynchronous:
        windows = AsyncDataStream.unordered_wait_with_retry(windows, Lookup(), TIMEOUT, RETRY).uid("unordered")
    _sinks(windows, "windows", options)


def _sinks(stream: DataStream[Any], name: str, options: JobOptions) -> None:
    """The same records to every sort of target."""
    stream.sink_to(file_sink(os.path.join(options.folder, name))).uid(name)
    for database, url in options.databases.items():
        stream.sink_to(sql_sink(url, name)).uid(f"{name} in {database}")


def main(arguments: Sequence[str]) -> None:
    import penstock.spark.streaming.job as host

    host.CommitCoordinator = _PausingCoordinator  # type: ignore[attr-defined]
    options = JobOptions.from_arguments(arguments)
    for url in options.databases.values():
        create_tables(url)
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    build(env, options)
    result = env.execute("killed")
    print(f"finished: {result}", flush=True)
    pages = sum(subtask["state_pages"] for subtask in result.metrics["subtasks"] if "PatternMatch" in subtask["name"])
    print(f"state of patterns: {pages} pages", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
