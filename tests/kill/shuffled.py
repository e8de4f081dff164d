"""A job whose source reads two partitions in a random order. Run as a process of its own: FOLDER.

The state of the source says how far each partition is read, and nothing of the order in which they were read. While
the file `hold` is there, a batch that has records in it does not end: a kill finds it planned and not committed. The
source ends when the file `finish` is there, and notes in `ended` how far it came.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Encoder
from penstock.datastream import CheckpointedFunction, SourceContext, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSink
from penstock.datastream.state import ListStateDescriptor

__all__ = ["Shuffled", "output"]


class Shuffled(SourceFunction, CheckpointedFunction):
    """Emits (partition, number), each partition in order, a random one of the two at a time."""

    def __init__(self, records: int, folder: Path | None = None) -> None:
        self.records, self.folder = records, folder

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("next"))
        self.next = dict(self.state.get()) or {"north": 0, "south": 0}

    def snapshot_state(self, context: Any) -> None:
        self.state.update(sorted(self.next.items()))

    def open(self, runtime_context: Any) -> None:
        self.running = True

    def run(self, ctx: SourceContext) -> None:
        chance = random.SystemRandom()
        while self.running and (left := self.left()):
            with ctx.get_checkpoint_lock():
                partition = chance.choice(left)
                ctx.collect((partition, self.next[partition]))
                self.next[partition] += 1
            if self.folder is not None:
                time.sleep(0.002)
        if self.folder is not None and self.running:
            (self.folder / "ended").write_text(json.dumps(self.next))

    def left(self) -> list[str]:
        """Partitions that are to be read on."""
        if self.folder is not None and (self.folder / "finish").exists():
            return []
        return [p for p, n in self.next.items() if n < self.records]

    def cancel(self) -> None:
        self.running = False


class Held:
    """Passes records on; not as long as the file `hold` is there, and says so in the file `holding`."""

    def __init__(self, folder: Path) -> None:
        self.hold, self.holding = folder / "hold", folder / "holding"

    def __call__(self, value: Any) -> str:
        while self.hold.exists():
            self.holding.touch()
            time.sleep(0.02)
        return f"{value[0]} {value[1]}"


def output(folder: Path) -> list[tuple[str, int]]:
    """What the job has published."""
    lines = [line.split() for file in (folder / "out").rglob("part-*") for line in file.read_text().splitlines()]
    return [(partition, int(number)) for partition, number in lines]


def main(folder: Path) -> None:
    conf = {"execution.checkpointing.dir": str(folder / "checkpoint"), "restart-strategy.type": "none"}
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
    stream = env.add_source(Shuffled(1 << 40, folder)).uid("source").rebalance().map(Held(folder)).uid("held")
    stream.sink_to(FileSink.for_row_format(str(folder / "out"), Encoder.simple_string_encoder()).build()).uid("out")
    env.execute("shuffled")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
