"""BATCH mode with more keyed state than memory: how much a Python worker takes at most (P5).

`python -m tests.soak.batch_state [--gib 2]` runs the job on the bounded host and fails if a worker took more.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.core.time.spans import MAX_TIMESTAMP
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ListStateDescriptor

VALUE = 1000
PER_KEY = 4
LIMIT_MIB = 512


class Hoard(KeyedProcessFunction):
    """Keeps every record of its key until the end, then counts them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, runtime_context: RuntimeContext) -> None:
        self.kept = runtime_context.get_list_state(ListStateDescriptor("kept"))
        self.subtask = runtime_context.get_index_of_this_subtask()

    def process_element(self, value: Any, ctx: Any) -> None:
        self.kept.add(value[1])
        ctx.timer_service().register_event_time_timer(MAX_TIMESTAMP)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        kept = list(self.kept.get())
        yield len(kept), sum(map(len, kept))
        self.kept.clear()

    def close(self) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        Path(self.folder, f"{self.subtask}").write_text(str(peak))


class Records:
    """Record `i` belongs to key `i mod keys`; a kilobyte each, no two alike."""

    def __init__(self, keys: int) -> None:
        self.keys = keys

    def __call__(self, i: int) -> tuple[int, bytes]:
        return i % self.keys, i.to_bytes(8, "big") * (VALUE // 8)


def run(gib: float, parallelism: int) -> bool:
    """Whether all records were seen and no worker went beyond the limit."""
    records = int(gib * (1 << 30)) // VALUE
    keys = records // PER_KEY
    with tempfile.TemporaryDirectory() as folder:
        conf = Configuration({"execution.runtime-mode": "BATCH", "penstock.host": "bounded"})
        env = StreamExecutionEnvironment(conf).set_parallelism(parallelism)
        source = DataGeneratorSource(Records(keys), records)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
        counts = stream.key_by(lambda v: v[0]).process(Hoard(folder)).map(lambda v: (0, v[0], v[1]))
        started = time.monotonic()
        out = list(counts.key_by(lambda v: 0).reduce(lambda a, b: (0, a[1] + b[1], a[2] + b[2])).execute_and_collect())
        seconds = time.monotonic() - started
        peaks = [int(file.read_text()) for file in Path(folder).iterdir()]
    right = out == [(0, records, records * (VALUE // 8 * 8))] and len(peaks) == parallelism
    print(
        f"{records:,} records, {keys:,} keys, {gib} GiB of state, parallelism {parallelism}: "
        f"{'right' if right else f'WRONG: {out}'}, {seconds:.0f} s, largest worker {max(peaks)} MiB (limit {LIMIT_MIB})"
    )
    return right and max(peaks) <= LIMIT_MIB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=2.0)
    parser.add_argument("--parallelism", type=int, default=2)
    given = parser.parse_args()
    sys.exit(0 if run(given.gib, given.parallelism) else 1)


if __name__ == "__main__":
    main()
