"""Test kit: run jobs and single functions in process, without a JVM."""

from penstock.core.time.clock import ManualClock
from penstock.local.local_job import LocalJob
from penstock.testing.harness import (
    BroadcastHarness,
    JoinHarness,
    KeyedOneInputHarness,
    OneInputHarness,
    Snapshot,
    TwoInputHarness,
)
from penstock.testing.jobs import collect, local_job
from penstock.testing.pattern_harness import PatternHarness
from penstock.testing.scripted import EVERY_RECORD, PER_RECORD, At, Mark, ScriptedSource, Tick, scripted_stream
from penstock.testing.transcripts import Transcript, load_transcripts, run_local, run_on_host
from penstock.testing.window_harness import WindowHarness

__all__ = [
    "EVERY_RECORD",
    "PER_RECORD",
    "At",
    "BroadcastHarness",
    "JoinHarness",
    "KeyedOneInputHarness",
    "LocalJob",
    "ManualClock",
    "Mark",
    "OneInputHarness",
    "PatternHarness",
    "ScriptedSource",
    "Snapshot",
    "Tick",
    "Transcript",
    "TwoInputHarness",
    "WindowHarness",
    "collect",
    "load_transcripts",
    "local_job",
    "run_local",
    "run_on_host",
    "scripted_stream",
]
