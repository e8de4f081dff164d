"""Where a new job begins to read: earliest, latest, a past moment, given offsets (F11)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Duration, Time, WatermarkStrategy
from penstock.common.errors import ProgramError
from penstock.core.contracts.source import Source
from penstock.core.time.clock import ManualClock
from penstock.datastream import PythonSource, StreamExecutionEnvironment
from penstock.datastream.connectors import FileSource, HybridSource, NumberSequenceSource, StreamFormat
from penstock.datastream.connectors.base import StartingOffsets
from penstock.datastream.connectors.datagen import DataGeneratorSource
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.testing import LocalJob, collect, local_job
from tests.connectors.replay_kit import Log, append

MONOTONOUS = WatermarkStrategy.for_monotonous_timestamps()


def job_of(source: Source, parallelism: int = 1) -> LocalJob:
    env = StreamExecutionEnvironment()
    collect(env.from_source(source, WatermarkStrategy.no_watermarks(), "s"), "out")
    return local_job(env, parallelism, clock=ManualClock())


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 30))
def test_sequences_start_from_a_record(skipped: int, parallelism: int, count: int) -> None:
    """F11: the first of all are left out, whatever the parallelism."""
    start = StartingOffsets.offsets(skipped)
    for source in (NumberSequenceSource(0, count - 1), DataGeneratorSource(lambda i: i, count)):
        job = job_of(source.start_from(start), parallelism)
        job.run([3, 1])
        assert sorted(job.results.get("out", [])) == list(range(skipped, count))


# -- a log with offsets --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    for partition, first in (("a", 0), ("b", 5)):
        append(tmp_path / "log", partition, *((t, f"{partition}{t}") for t in range(first, 100, 10)))
    return tmp_path / "log"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (StartingOffsets.earliest(), ["a70", "a80", "a90", "b75", "b85", "b95"]),
        (StartingOffsets.latest(), []),
        (StartingOffsets.timestamp(80), ["a80", "a90", "b85", "b95"]),
        (StartingOffsets.timestamp(1_000), []),
        (StartingOffsets.offsets({"b": 5 + 7 * 7}), ["a70", "a80", "a90", "b85", "b95"]),
    ],
    ids=["earliest", "latest", "timestamp", "future", "offsets"],
)
def test_a_log_from_everywhere_and_on(folder: Path, start: StartingOffsets, expected: list[str]) -> None:
    """F11: then live; a restart before, between and after begins nowhere else."""
    job = job_of(Log(folder).start_from(start))
    job.run_batch(3, commit=False)
    for _ in range(5):
        job.run_batch(3)
        job.restart()
    found = sorted(v for v in job.results.get("out", []) if int(v[1:]) >= 70)
    assert found == expected
    append(folder, "a", (100, "a100"))
    job.run_batch(3)
    append(folder, "b", (105, "b105"))
    job.run_batch(3)
    assert job.results["out"][-2:] == ["a100", "b105"]


def windows_from(folder: Path, start: StartingOffsets) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_source(Log(folder).start_from(start), MONOTONOUS, "log").map(lambda v: (v[0], 1))
    windows = stream.key_by(lambda v: v[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))
    collect(windows.reduce(lambda x, y: (x[0], x[1] + y[1])).map(lambda v: v), "out")
    return local_job(env, clock=ManualClock())


def test_the_run_from_the_past_catches_up_and_gives_what_the_live_one_gives(folder: Path) -> None:
    """F11, P4: windows of event time, one job reading all along, the other beginning at 50."""
    live, past = windows_from(folder, StartingOffsets.earliest()), windows_from(folder, StartingOffsets.timestamp(50))
    jobs = (live, past)
    for job, limit in zip(jobs, (100, 2), strict=True):
        while job.progressed or job.batch_id == 0:
            job.run_batch(limit)
    for time in range(100, 210, 10):
        append(folder, "a", (time, "a"))
        append(folder, "b", (time + 5, "b"))
        for job in jobs:
            job.run_batch(100)
    assert live.results["out"][:2] == [("a", 5), ("b", 5)]
    assert past.results["out"] == live.results["out"][2:]
    assert len(past.results["out"]) == 6


class Plain(PythonSource):
    def partitions(self) -> list[int]:
        return [0, 1]

    def latest_offset(self, partition: int, start: int, limit: int) -> int:
        return start

    def read_partition(self, partition: int, start: int, end: int) -> list[Any]:
        return []


# -- files ---------------------------------------------------------------------------------------------


def files(folder: Path, start: StartingOffsets, watched: bool) -> Source:
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder)).start_from(start)
    return builder.monitor_continuously(Duration.of_millis(1)).build() if watched else builder.build()


def write(path: Path, text: str, mtime_s: int) -> None:
    path.write_text(text)
    os.utime(path, (mtime_s, mtime_s))


@pytest.mark.parametrize("watched", [False, True], ids=["once", "watched"])
def test_files_from_a_modification_time_and_from_offsets(tmp_path: Path, watched: bool) -> None:
    """F11"""
    for day in range(4):
        write(tmp_path / f"{day}.txt", f"{day}a\n{day}b\n", 1_000 + day)
    late = job_of(files(tmp_path, StartingOffsets.timestamp(1_002_000), watched))
    late.run_batch(100)
    assert late.results["out"] == ["2a", "2b", "3a", "3b"]
    offsets = {str(tmp_path / "1.txt"): 3, str(tmp_path / "2.txt"): 6}
    some = job_of(files(tmp_path, StartingOffsets.offsets(offsets), watched))
    for _ in range(6):
        some.run_batch(1)
    assert some.results["out"] == ["0a", "0b", "1b", "3a", "3b"]


def test_a_watched_folder_from_the_latest_on(tmp_path: Path) -> None:
    """F11: what was there is left out, however late the first new file comes; a restart changes nothing."""
    write(tmp_path / "old.txt", "old\n", 1_000)
    job = job_of(files(tmp_path, StartingOffsets.latest(), watched=True))
    job.run_batch(10)
    job.restart()
    write(tmp_path / "new.txt", "new\n", 500)
    job.clock.advance_ms(10)  # type: ignore[attr-defined]
    job.run_batch(10)
    assert job.results["out"] == ["new"]


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: NumberSequenceSource(1, 3).start_from(StartingOffsets.latest()),
            "NumberSequenceSource cannot start from latest: it starts from earliest, or from offsets: the number of a",
        ),
        (lambda: Plain().start_from(StartingOffsets.latest()), r"Plain cannot start from latest: override end_offset"),
        (
            lambda: Plain().start_from(StartingOffsets.timestamp(5)),
            r"Plain cannot start from timestamp: override offset_for_timestamp\(\)",
        ),
        (
            lambda: job_of(Plain().start_from(StartingOffsets.offsets({7: 1}))),
            "Plain has no partition 7 to start from an offset: it has 0, 1",
        ),
        (
            lambda: files(Path("/tmp"), StartingOffsets.latest(), watched=False),
            "FileSource cannot start from latest: .* only a watched folder has a latest",
        ),
        (
            lambda: HybridSource.builder(NumberSequenceSource(1, 2)).add_source(
                files(Path("/tmp"), StartingOffsets.latest(), watched=True)
            ),
            "HybridSource: WatchedFileSource starts at a place that depends on the moment",
        ),
    ],
)
def test_a_start_that_a_source_does_not_know_is_refused(build: Any, message: str) -> None:
    """P9"""
    with pytest.raises(ProgramError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: StartingOffsets.timestamp(1.5), "takes milliseconds as an int, got float"),  # type: ignore[arg-type]
        (lambda: DataGeneratorSource(str).start_from(StartingOffsets.offsets(-1)), "number of a record as offset"),
        (lambda: Plain().start_from(StartingOffsets.offsets(3)), "takes offsets as a dict by partition, got 3"),
        (lambda: files(Path("/tmp"), StartingOffsets.offsets(3), True), "takes offsets as a dict by path, got 3"),
    ],
)
def test_offsets_of_a_wrong_kind_are_refused(build: Any, message: str) -> None:
    """P9"""
    with pytest.raises(TypeError, match=message):
        build()
