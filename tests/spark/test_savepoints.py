"""Savepoints on the streaming host: taken while running and on stop, started from with another shape (F4, F10, S3)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.cep import CEP, Pattern
from penstock.common import Configuration, JobStatus, Time, WatermarkStrategy
from penstock.connectors.files.sink import Encoder, FileSink
from penstock.core.errors import ForeignCheckpointError, SavepointError
from penstock.core.time.clock import SystemClock
from penstock.datastream import CheckpointedFunction, KeyedProcessFunction, MapFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import EventTimeSessionWindows
from penstock.jobs.control_channel import REQUESTS
from penstock.jobs.savepoint_requests import SavepointRequest, Waits, ask_for_savepoint
from penstock.savepoint.savepoint import Savepoint
from penstock.savepoint.storage import Folder
from penstock.state import StateEditor, open_state
from penstock.testing import local_job
from tests.effort import HANG_MS

pytestmark = pytest.mark.spark

RECORDS = 3000
KEYS = 7
SPAN = 500


class Count(KeyedProcessFunction):
    """("count", key, its number, value), and when time ends the number so far."""

    def open(self, runtime_context: Any) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value: int, ctx: Any) -> Iterator[Any]:
        number = (self._seen.value() or 0) + 1
        self._seen.update(number)
        ctx.timer_service().register_event_time_timer(10 * RECORDS)
        yield ("count", ctx.get_current_key(), number)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ("total", ctx.get_current_key(), self._seen.value())


class Marked(MapFunction, CheckpointedFunction):
    """Keeps one item of a union list for each subtask, and passes records on."""

    def initialize_state(self, context: Any) -> None:
        self._marks = context.get_operator_state_store().get_union_list_state(ListStateDescriptor("marks"))
        self._known = len(list(self._marks.get()))

    def snapshot_state(self, context: Any) -> None:
        self._marks.update(["a mark"])

    def map(self, value: Any) -> Any:
        return value


class FailOnce(MapFunction):
    """Raises on the first record of all, once."""

    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def map(self, value: Any) -> Any:
        if not self._mark.exists():
            self._mark.touch()
            raise RuntimeError("once")
        return value


def build(folder: Path, parallelism: int, checkpoint: str, changed: bool = False, **more: Any) -> Any:
    """The program. Changed: a filter in front, another name, windows a stage further down, a batch that fails once."""
    conf = Configuration(
        {
            "penstock.host": "streaming",
            "execution.checkpointing.dir": str(folder / checkpoint),
            "penstock.batch.max-records": 150,
            "parallelism.default": parallelism,
            **more,
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, t: v // 10 * 20)
    stream = env.from_source(DataGeneratorSource(lambda i: i, RECORDS), strategy, "numbers").uid("numbers")
    if changed:
        stream = stream.filter(lambda v: v >= 0).uid("new filter")
    counts = stream.key_by(lambda v: v % KEYS).process(Count()).uid("count")
    if changed:
        counts = counts.name("renamed")
    sessions = stream.map(lambda v: v // 100).uid("hundreds")
    if changed:
        sessions = sessions.rebalance().map(FailOnce(folder / "failed")).uid("new map")
    sessions = (
        sessions.key_by(lambda h: h % 3)
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(30)))
        .reduce(lambda a, b: a + b)
        .uid("sessions")
        .map(lambda h: ("session", 0, h))
        .uid("shaped")
    )
    sink = FileSink.for_row_format(str(folder / "out"), Encoder.json_encoder()).build()
    ends = Pattern.begin("first").where(lambda v: v % SPAN == 0)
    pattern = ends.followed_by("last").where(lambda v: v % SPAN == SPAN - 1)
    matches = CEP.pattern(stream.key_by(lambda v: v // SPAN), pattern, lambda a, b: a - b).select(
        lambda match: ("match", match["first"][0] // SPAN, match["last"][0])
    )
    counts.map(Marked()).uid("marked").union(sessions, matches.uid("matches")).sink_to(sink).uid("out")
    return env


def committed(folder: Path) -> Counter[Any]:
    files = [f for f in (folder / "out").rglob("*") if f.is_file() and not f.name.startswith(".")]
    return Counter(tuple(json.loads(line)) for f in files for line in f.read_text().splitlines())


def expected() -> Counter[Any]:
    found = Counter(("count", k, n) for k in range(KEYS) for n in range(1, len(range(k, RECORDS, KEYS)) + 1))
    found.update(("total", k, len(range(k, RECORDS, KEYS))) for k in range(KEYS))
    found.update(("match", n, n * SPAN + SPAN - 1) for n in range(RECORDS // SPAN))
    found.update(("session", 0, 100 * h) for h in range(RECORDS // 100))
    return found


def after_batches(client: Any, number: int) -> None:
    while client.batches < number and not client.status.is_globally_terminal_state():
        SystemClock().sleep_ms(20)


def test_a_job_is_stopped_rescaled_and_upgraded_and_its_results_are_those_of_one_whole_run(tmp_path: Path) -> None:
    """F4, F5, F10, S3: 2 → 4 from a savepoint, → 1 with another program over its own checkpoint; sinks included."""
    client = build(tmp_path, 2, "one").execute_async("golden")
    taken = client.trigger_savepoint(str(tmp_path / "saved")).result()
    after_batches(client, 4)
    ended = client.stop_with_savepoint(False, str(tmp_path / "saved")).result()
    assert client.status is JobStatus.FINISHED
    first, last = Savepoint(taken).metadata, Savepoint(ended).metadata
    assert 0 <= first.batch < last.batch
    assert first.sources[0].splits[0].at < last.sources[0].splits[0].at < RECORDS
    assert last.operator("count").blobs["page"] > 0

    client = build(tmp_path, 4, "two", **{"execution.state-recovery.path": ended}).execute_async("golden")
    after_batches(client, 3)
    client.stop()

    with pytest.raises(SavepointError, match=r"one has progress of its own, so the job 'golden' cannot start from"):
        build(tmp_path, 2, "one", **{"execution.state-recovery.path": ended}).execute("golden")
    env = build(tmp_path, 1, "two", changed=True, **{"execution.state-recovery.path": ended})  # goes on all the same
    answers: list[str] = []
    asking = threading.Thread(
        target=lambda: answers.append(
            ask_for_savepoint(str(tmp_path / "two"), SavepointRequest(str(tmp_path / "asked")), Waits(HANG_MS, HANG_MS))
        )
    )
    asking.start()  # before the job, which may be done before a thread that is started later has asked
    while not Folder(str(tmp_path / "two")).names(REQUESTS):
        SystemClock().sleep_ms(5)
    client = env.execute_async("golden")
    asking.join()
    assert client.wait().restarts == 1, "the first batch of the new generation failed, and was run again"
    assert answers == [str(tmp_path / "asked")]
    assert Savepoint(answers[0]).metadata.job == "golden"
    assert committed(tmp_path) == expected()
    assert sorted(p.name for p in (tmp_path / "two").iterdir()) == ["generation-1", "penstock"]

    view = open_state(str(tmp_path / "two"), str(tmp_path / "copy"))
    seen = view.keyed("count")
    totals = {k: len(range(k, RECORDS, KEYS)) for k in range(KEYS)}
    assert dict(zip(seen["key"], seen["value"], strict=True)) == totals
    frame = view.keyed_frame(
        SparkSession.getActiveSession(), "count", "key int, value int", lambda entry: (entry.key, entry.value)
    )
    assert {row.key: row.value for row in frame.collect()} == totals
    people = SparkSession.getActiveSession().range(5)
    editor = StateEditor.new("made")
    editor.bootstrap("op", people, lambda r: r.id, lambda r, s: s.get_state(ValueStateDescriptor("v")).update(r.id * 2))
    made = editor.write(str(tmp_path / "made")).keyed("op")
    assert dict(zip(made["key"], made["value"], strict=True)) == {i: 2 * i for i in range(5)}

    with pytest.raises(SavepointError, match=r"no operator claims the state of operator 'Map' \(uid marked\)"):
        _without_marks(tmp_path, ended)
    with pytest.raises(ForeignCheckpointError, match=r"does not fit this program:\n- .*keyed state, but is not keyed"):
        _not_keyed(tmp_path)


def _without_marks(folder: Path, savepoint: str) -> None:
    conf = Configuration(
        {"execution.state-recovery.path": savepoint, "execution.checkpointing.dir": str(folder / "three")}
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    stream = env.from_source(
        DataGeneratorSource(lambda i: i, RECORDS), WatermarkStrategy.no_watermarks(), "numbers"
    ).uid("numbers")
    stream.key_by(lambda v: v % KEYS).process(Count()).uid("count").print()
    env.execute()


def _not_keyed(folder: Path) -> None:
    conf = Configuration(
        {
            "execution.checkpointing.dir": str(folder / "two"),
            "execution.state-recovery.ignore-unclaimed-state": "true",
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(conf)
    env.from_source(DataGeneratorSource(lambda i: i, RECORDS), WatermarkStrategy.no_watermarks(), "numbers").uid(
        "numbers"
    ).map(lambda v: v).uid("count").print()
    env.execute()


MOMENTS = (
    (3, False, "two/offsets/0"),
    (3, False, "two/commits/1"),
    (2, True, "two/penstock/upgrade-1/metadata.json"),
    (2, True, "two/generation-1/offsets/0"),
)
"""Parallelism, whether the program has changed, and the file at whose sight everything is killed."""


@pytest.mark.kill
def test_a_job_that_is_killed_while_it_takes_over_its_state_loses_nothing(tmp_path: Path) -> None:
    """F1, F4, F10: from a savepoint of the local host; killed in the first batch and in the middle of an upgrade."""
    (tmp_path / "failed").touch()
    first = local_job(build(tmp_path, 2, "unused"), 2)
    first.run_batch(300)
    saved = first.savepoint(str(tmp_path / "saved")).path
    for parallelism, changed, moment in MOMENTS:
        job = _started(tmp_path, parallelism, changed, saved)
        # the upgrade's files are gone once a batch is durable: then it is killed there
        while not any((tmp_path / name).exists() for name in (moment, "two/generation-1/commits/0")):
            assert job.poll() is None, f"ended before {moment}"
            SystemClock().sleep_ms(5)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    assert _started(tmp_path, 2, True, saved).wait() == 0
    assert committed(tmp_path) == expected()


def _started(folder: Path, *arguments: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.spark.test_savepoints", str(folder), *map(str, arguments)]
    return subprocess.Popen(command, start_new_session=True, cwd=Path(__file__).parents[2])


def test_a_drained_job_has_fired_everything_and_its_savepoint_goes_on(tmp_path: Path) -> None:
    """F4: +∞ first; the sources stay where they were, and time starts over."""
    client = build(tmp_path, 2, "one").execute_async("golden")
    after_batches(client, 2)
    path = client.stop_with_savepoint(True, str(tmp_path / "saved")).result()
    metadata = Savepoint(path).metadata
    read = sum(p.at for p in metadata.sources[0].splits)
    assert metadata.drained
    assert not any(p.ended for p in metadata.sources[0].splits)
    found = committed(tmp_path)
    assert sum(n for kind, n in Counter(k for k, *_ in found.elements()).items() if kind == "count") == read
    assert {k for kind, k, _ in found if kind == "total"} == set(range(KEYS))

    build(tmp_path, 1, "two", **{"execution.state-recovery.path": path}).execute("golden")
    counts = [(k, n) for kind, k, n in committed(tmp_path).elements() if kind == "count"]
    assert sorted(counts) == sorted((k, n) for kind, k, n in expected().elements() if kind == "count")


if __name__ == "__main__":
    where, number, new, origin = sys.argv[1:]
    settings = {"execution.state-recovery.path": origin}
    build(Path(where), int(number), "two", changed=new == "True", **settings).execute("golden")
