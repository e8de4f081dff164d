"""A golden job, run whole on the hosts named on the command line: two sources, two keyed stages, two sinks.

`python -m tests.cluster.golden FOLDER MASTER HOST…` writes FOLDER/HOST/trips and FOLDER/HOST/totals.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.core.time.spans import Duration
from penstock.datastream import KeyedProcessFunction, OutputTag, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor

__all__ = ["published", "run"]

LONG = OutputTag("long")
TRIP_MS = 1_000


@dataclass(frozen=True)
class Ride:
    """A record of a class that the script defines (P7)."""

    car: str
    metres: int
    at_ms: int


class Trips(KeyedProcessFunction):
    """A trip is all rides of a car in one second of event time; long ones also go to a side output."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._rides = runtime_context.get_list_state(ListStateDescriptor("rides"))

    def process_element(self, value: Ride, ctx: Any) -> None:
        self._rides.add((value.at_ms, value.metres))
        ctx.timer_service().register_event_time_timer(value.at_ms // TRIP_MS * TRIP_MS + TRIP_MS - 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        rides = list(self._rides.get() or ())
        done = [metres for at_ms, metres in rides if at_ms <= timestamp]
        self._rides.update([ride for ride in rides if ride[0] > timestamp])
        trip = (ctx.get_current_key(), timestamp, len(done), sum(done))
        yield trip
        if trip[3] > 2_000:
            yield LONG, trip


class Totals(KeyedProcessFunction):
    """Counts and adds up trips by their number of rides; told at the end of the input."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self._total = runtime_context.get_state(ValueStateDescriptor("total"))

    def process_element(self, value: tuple[str, int, int, int], ctx: Any) -> None:
        count, metres = self._total.value() or (0, 0)
        self._total.update((count + 1, metres + value[3]))
        ctx.timer_service().register_event_time_timer(1 << 50)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield (ctx.get_current_key(), *(self._total.value() or (0, 0)))


def rides(first: int) -> list[Ride]:
    """Rides of one source: times out of order by less than half a second."""
    return [Ride(f"car-{i % 11}", i * 37 % 1_009, first + i * 20 + i * 7_919 % 400) for i in range(600)]


def run(folder: Path, host: str, master: str = "") -> None:
    """Run the program on a host; "local" needs no Spark."""
    conf = Configuration({"penstock.host": host, "parallelism.default": 2, "penstock.batch.max-records": 200})
    if master:
        conf.set_string("spark.master", master).set_string("spark.executor.memory", "512m")
    if host == "streaming":
        conf.set_string("execution.checkpointing.dir", str(folder / host / "checkpoint"))
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(500))
    timed = strategy.with_timestamp_assigner(lambda ride, t: ride.at_ms)
    both = env.from_collection(rides(0)).union(env.from_collection(rides(3)))
    trips = both.assign_timestamps_and_watermarks(timed).key_by(lambda ride: ride.car).process(Trips())
    trips.union(trips.get_side_output(LONG)).sink_to(_sink(folder / host / "trips"))
    trips.key_by(lambda trip: trip[2]).process(Totals()).sink_to(_sink(folder / host / "totals"))
    env.execute(f"golden-{host}")


def _sink(folder: Path) -> FileSink:
    return FileSink.for_row_format(str(folder), Encoder.json_encoder()).build()


def published(folder: Path, host: str) -> dict[str, list[list[Any]]]:
    """What readers of both sinks see, sorted."""
    return {name: _lines(folder / host / name) for name in ("trips", "totals")}


def _lines(folder: Path) -> list[list[Any]]:
    files = [f for f in folder.rglob("*") if f.is_file() and not f.name.startswith(".")]
    return sorted(json.loads(line) for f in files for line in f.read_text().splitlines())


def main(arguments: Sequence[str]) -> None:
    folder, master, *hosts = arguments
    for host in hosts:
        run(Path(folder), host, master)


if __name__ == "__main__":
    main(sys.argv[1:])
