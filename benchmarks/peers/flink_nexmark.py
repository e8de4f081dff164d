"""The Nexmark queries under PyFlink: the text of `nexmark.queries` with another package in its imports."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyflink.common import WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment

from benchmarks.nexmark.generator import event
from benchmarks.peers.flink_source import made

MODULE = "nexmark_queries"


class At(TimestampAssigner):  # type: ignore[misc]
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        found: int = value.date_time
        return found


def queries() -> dict[str, Any]:
    """Call this before the JVM is started: its workers find the module where PYTHONPATH says."""
    text = Path(__file__).parents[1].joinpath("nexmark").joinpath("queries.py").read_text(encoding="utf-8")
    folder = tempfile.mkdtemp()
    Path(folder, f"{MODULE}.py").write_text(text.replace("from penstock.", "from pyflink."), encoding="utf-8")
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    found: dict[str, Any] = importlib.import_module(MODULE).QUERIES
    return found


def events(env: StreamExecutionEnvironment, records: int) -> Any:
    """The stream that queries take."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(At())
    return made(env, records, event).assign_timestamps_and_watermarks(strategy)
