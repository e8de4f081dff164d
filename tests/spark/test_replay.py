"""Jobs that begin in the past, catch up and go on live, on Spark (F11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Duration, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.datastream.connectors.base import StartingOffsets
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from tests.connectors.replay_kit import Log, append

pytestmark = pytest.mark.spark


class FailOnce:
    """In the first batch that brings anything: it is replayed, from where the job began."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, value: Any) -> Any:
        if not self.mark.exists():
            self.mark.touch()
            raise ValueError("once")
        return value


def test_three_sources_from_the_past_and_on(tmp_path: Path) -> None:
    """F11: a log from a moment, a folder from the latest, a generator from a record; what comes later is read as it
    comes, and a restart begins nowhere else."""
    log, drop = tmp_path / "log", tmp_path / "drop"
    log.mkdir(), drop.mkdir()
    append(log, "a", *((t, f"a{t}") for t in range(100)))
    (drop / "old.txt").write_text("old\n")
    conf = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0"}
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
    none = WatermarkStrategy.no_watermarks()
    watched = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(drop))
    watched.monitor_continuously(Duration.of_millis(50)).start_from(StartingOffsets.latest())
    paced = DataGeneratorSource(lambda i: f"g{i}", 1_010, RateLimiterStrategy.per_second(1_000))
    stream = env.from_source(Log(log).start_from(StartingOffsets.timestamp(90)), none, "log").union(
        env.from_source(watched.build(), none, "drop"),
        env.from_source(paced.start_from(StartingOffsets.offsets(1_000)), none, "paced"),
    )
    with stream.rebalance().map(FailOnce(tmp_path / "failed")).execute_and_collect() as results:
        found = [next(results) for _ in range(20)]
        append(log, "a", (100, "a100"))
        (tmp_path / "hidden").write_text("new\n")
        (tmp_path / "hidden").rename(drop / "new.txt")
        found += [next(results), next(results)]
    assert sorted(found[:20]) == sorted([*(f"a{t}" for t in range(90, 100)), *(f"g{i}" for i in range(1_000, 1_010))])
    assert sorted(found[20:]) == ["a100", "new"]
