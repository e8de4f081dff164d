"""A sink ten times too slow: memory stays flat, batches stay near their target, the lag is visible (F13).

`python -m tests.soak.back_pressure --seconds 600` prints a line every few seconds, and fails if memory grows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.datastream import SinkFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from tests.kill.processes import below

RATE, SINKS = 20_000, 2
PAUSE_S = SINKS * 10 / RATE
"""What each sink takes for a record: all of them together are ten times slower than the source."""


class Slow(SinkFunction):
    def invoke(self, value: Any, context: Any = None) -> None:
        time.sleep(PAUSE_S)


@dataclass
class Figures:
    """What was seen, at every look: memory of the Python processes, records behind. `busy`: for how long source and
    sinks have worked in all, in milliseconds."""

    memory_mb: list[float] = field(default_factory=list)
    lag_records: list[int] = field(default_factory=list)
    busy: dict[str, int] = field(default_factory=dict)
    batch_ms: list[int] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)

    def growth_mb(self) -> float:
        """How much more the last third of the looks shows than the middle one."""
        third = len(self.memory_mb) // 3
        return max(self.memory_mb[-third:]) - max(self.memory_mb[third : 2 * third])


def memory_mb() -> float:
    """Resident memory of this process and of all Python processes below it."""
    pids = [os.getpid(), *(p.pid for p in below(os.getpid()) if "java" not in p.command.split(" ")[0])]
    return sum(map(_resident, pids)) / 1024


def _resident(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def press(
    seconds: float | None, target_ms: int, batches: int | None = None, every_s: float = 0.5, show: bool = False
) -> Figures:
    """Run the job for a while, or for so many batches, and look at it, once its first batch is done."""
    conf = {
        "restart-strategy.type": "none",
        "penstock.batch.target-ms": target_ms,
        "penstock.batch.max-records": 5_000,
    }
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(SINKS)
    source = DataGeneratorSource(lambda i: (i, "x" * 200), None, RateLimiterStrategy.per_second(RATE))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "fast").uid("fast")
    stream.rebalance().add_sink(Slow()).uid("slow")
    figures = Figures()
    client = env.execute_async("back-pressure")
    try:
        for number in count() if seconds is None else range(int(seconds / every_s)):
            threading.Event().wait(every_s)
            if not client.get_metrics()["batch_ms"]:
                assert not client.status.is_globally_terminal_state(), client.status
                continue
            _look(client, figures)
            if batches is not None and len(figures.batch_ms) >= batches:
                break
            if show and number % 20 == 0:
                print(
                    f"{number * every_s:7.0f} s  {figures.memory_mb[-1]:7.0f} MB  lag {figures.lag_records[-1]:>10,}  "
                    f"limit {figures.limits.get('fast', 0):>7,}  last batch {(figures.batch_ms or [0])[-1]:>6,} ms",
                    flush=True,
                )
    finally:
        client.cancel().result()
    return figures


def _look(client: Any, figures: Figures) -> None:
    metrics = client.get_metrics()
    figures.memory_mb.append(memory_mb())
    figures.lag_records.append(sum(e.get("lag_records") or 0 for e in metrics["subtasks"]))
    for entry in metrics["subtasks"]:
        figures.busy["fast" if "fast" in entry["name"] else "slow"] = entry.get("busy_ms", 0)
    figures.batch_ms, figures.limits = metrics["batch_ms"], metrics["limits"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--target-ms", type=int, default=2_000)
    given = parser.parse_args()
    figures = press(given.seconds, given.target_ms, show=True)
    late = figures.batch_ms[len(figures.batch_ms) // 2 :]
    print(f"memory grew by {figures.growth_mb():.0f} MB; median of the later batches {statistics.median(late):,.0f} ms")
    if figures.growth_mb() > 50:
        raise SystemExit("memory is not flat")


if __name__ == "__main__":
    main()
