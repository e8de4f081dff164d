"""Watched files that grow, on Spark: over a restart of the driver, and what is said of those that change otherwise."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Duration, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.testing import collect

pytestmark = pytest.mark.spark


def start(folder: Path) -> Any:
    conf = {"penstock.host": "streaming", "execution.checkpointing.dir": str(folder / "checkpoint")}
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder / "in"))
    watched = files.monitor_continuously(Duration.of_millis(50)).build()
    collect(env.from_source(watched, WatermarkStrategy.no_watermarks(), "log").uid("log"), "out")
    return env.execute_async("tail")


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def changed(client: Any) -> int:
    return sum(e["operators"].get("log", {}).get("changed_files", 0) for e in client.get_metrics()["subtasks"])


def after_a_change(log: Path, client: Any, lines: Any) -> Any:
    """What is read next when a file has been written anew, and another one comes."""
    log.write_text("other\n")
    while not changed(client):
        threading.Event().wait(0.05)
    append(log.with_name("new.log"), "7\n")
    return next(lines)


def test_a_log_is_tailed_over_a_restart_and_a_change_is_told(tmp_path: Path) -> None:
    """X1, F1, F8, G6"""
    log = tmp_path / "in" / "app.log"
    log.parent.mkdir()
    append(log, "1\n2\n3 is cut ")
    client = start(tmp_path)
    lines = client.results("out")
    assert [next(lines) for _ in range(2)] == ["1", "2"]
    append(log, "in two\n4\n")
    assert [next(lines) for _ in range(2)] == ["3 is cut in two", "4"]
    client.stop()
    append(log, "5\n6")
    client = start(tmp_path)
    lines = client.results("out")
    assert next(lines) == "5"
    with pytest.warns(
        RuntimeWarning, match=r"Source '.*log' \(uid log\): .*app.log was shortened from 24 to [06] bytes"
    ):
        assert after_a_change(log, client, lines) == "7"
    client.stop()
