"""The peer's side of a run: ``python -m benchmarks.peers.… JOB PARAMS FILE``.

PARAMS is a JSON object; the outcome is written to FILE, so that an engine may print what it likes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.model import Outcome
from benchmarks.params import (
    EmptyBatchParams,
    EventParams,
    FileParams,
    GrowthParams,
    LatencyParams,
    LongListParams,
    PatternParams,
    RuntimeParams,
    StartParams,
    SumParams,
    WindowParams,
)

EVENT_JOBS = ("windows", "interval-join", "failed-logins", "nexmark", "word-count")
"""The jobs of `benchmarks.events`, which differ in a parameter only."""

PARAMS: dict[str, Callable[..., Any]] = {
    "running-sum": SumParams,
    "empty-batch": EmptyBatchParams,
    "growth": GrowthParams,
    "long-list": LongListParams,
    "runtime": RuntimeParams,
    "patterns": PatternParams,
    "window-runtime": WindowParams,
    "start-up": StartParams,
    "latency": LatencyParams,
    "files": FileParams,
    **dict.fromkeys(EVENT_JOBS, EventParams),
}


def since_start_ms() -> float:
    """Since the harness started this process."""
    return (time.time() - float(os.environ["BENCH_STARTED"])) * 1000


def serve(measures: Mapping[str, Callable[[Any], Outcome]]) -> None:
    """Run the measure that the command line names. Called at the end of every module in `peers`."""
    job, params, target = sys.argv[1:]
    outcome = measures[job](PARAMS[job](**json.loads(params)))
    Path(target).write_text(json.dumps(asdict(outcome)), encoding="utf-8")
