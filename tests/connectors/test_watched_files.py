"""Folders that are watched: every file once, in order, also after a restart (X1, F1)."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from penstock.common import Duration, WatermarkStrategy
from penstock.connectors.files import watched as watched_files
from penstock.connectors.files.source import FileSource, StreamFormat
from penstock.connectors.formats import files
from penstock.core.contracts.source import Position, SourceClock
from penstock.core.errors import ProgramError, SourceError
from penstock.core.time.clock import ManualClock
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.formats.parquet import ParquetColumnarRowInputFormat
from penstock.testing import LocalJob, collect, local_job
from tests.effort import examples


def source(*paths: Path, interval_ms: int = 1000) -> FileSource:
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), *map(str, paths))
    return builder.monitor_continuously(Duration.of_millis(interval_ms)).build()


def put(folder: Path, name: str, at: int, *lines: str) -> None:
    """As writers must: under a hidden name first."""
    hidden = folder / f".{Path(name).name}"
    hidden.write_text("".join(f"{line}\n" for line in lines or (name,)))
    os.utime(hidden, (at, at))
    (folder / name).parent.mkdir(exist_ok=True)
    hidden.rename(folder / name)


def watching(folder: Path, clock: ManualClock) -> LocalJob:
    env = StreamExecutionEnvironment()
    stream = env.from_source(source(folder), WatermarkStrategy.no_watermarks(), "watched")
    collect(stream.set_parallelism(1), "out")
    return local_job(env, 2, clock=clock)


def test_new_files_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    """X1: also one that appears with an old modification time; the job does not end."""
    clock = ManualClock()
    put(tmp_path, "b", 20)
    put(tmp_path, "a", 20)
    put(tmp_path, "c", 10)
    job = watching(tmp_path, clock)
    job.run_batch(99)
    assert job.results["out"] == ["c", "a", "b"]
    put(tmp_path, "old", 5)
    put(tmp_path, "deep/new", 30)
    (tmp_path / "_unfinished").write_text("no")
    job.run_batch(99)
    assert job.results["out"] == ["c", "a", "b"], "the interval is not over"
    clock.advance_ms(1000)
    job.run_batch(99)
    assert job.results["out"] == ["c", "a", "b", "old", "deep/new"]
    assert not job.finished


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_every_file_once_whatever_happens(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """F1, F11: tiny batches, batches that are lost, restarts, files that come with any time and go when read."""
    folder = tmp_path_factory.mktemp("watched")
    clock = ManualClock()
    job = watching(folder, clock)
    expected: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "RECORD_BYTES", 3)
        patch.setattr(watched_files, "_FILES_A_BATCH", 2)
        for number in range(data.draw(st.integers(1, 6))):
            for i in range(data.draw(st.integers(0, 3))):
                lines = [f"{number}.{i}.{j}" for j in range(data.draw(st.integers(0, 5)))]
                put(folder, f"f{number}-{i}", data.draw(st.integers(1, 50)), *(lines or [""]))
                expected += lines or [""]
            for _ in range(data.draw(st.integers(0, 3))):
                clock.advance_ms(data.draw(st.sampled_from([0, 500, 1000])))
                job.run_batch(data.draw(st.integers(1, 3)), commit=data.draw(st.booleans()))
            if data.draw(st.booleans()):
                job.restart()
                restarted(job)
        for _ in range(60):
            clock.advance_ms(1000)
            job.run_batch(3)
    assert sorted(job.results.get("out", [])) == sorted(expected)


def restarted(job: LocalJob) -> None:
    """A new driver knows nothing but the position, as it stands in the log."""
    (vertex,) = job.plan.sources
    made: Any = vertex.source
    made._memory = watched_files._Memory()
    for key, position in job._positions.items():
        job._positions[key] = Position.from_json(json.loads(json.dumps(position.to_json())))


def test_a_batch_is_read_again_from_its_positions_alone(tmp_path: Path) -> None:
    """F1: whatever has come in the meantime."""
    put(tmp_path, "a", 10, "1", "2")
    made = source(tmp_path)
    start = made.initial(0, 1)
    end = made.advance(0, 1, start, start, 99, SourceClock(0, 0))
    put(tmp_path, "b", 5, "0")
    other = source(tmp_path)
    for _ in range(2):
        assert [v for vs, _ in other.read(0, 1, start, end) for v in vs] == ["1", "2"]


def test_a_file_is_finished_before_the_next_is_begun(tmp_path: Path) -> None:
    """F1: also if the groups of a file leave room for more records in a batch."""
    for number in range(3):
        rows = [{"n": number * 10 + i} for i in range(10)]
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{number}", row_group_size=4)
        os.utime(tmp_path / f"{number}", (number, number))
    builder = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(), str(tmp_path))
    made = builder.monitor_continuously(Duration.of_seconds(1)).build()
    position, found = made.initial(0, 1), []
    for _ in range(9):
        end = made.advance(0, 1, position, position, 5, SourceClock(0, 0))
        found.append([v.n for vs, _ in made.read(0, 1, position, end) for v in vs] if end != position else [])
        position = end
    assert [v for batch in found for v in batch] == list(range(30))
    assert max(map(len, found)) <= 6


def test_what_is_taken_away_is_forgotten(tmp_path: Path) -> None:
    """F13: a position does not grow with what was ever read."""
    made = source(tmp_path)
    position = made.initial(0, 1)
    sizes = []
    for i in range(200):
        put(tmp_path, f"f{i}", 10)
        position = made.advance(0, 1, position, position, 99, SourceClock(i * 1000, 0))
        list(made.read(0, 1, position, position))
        (tmp_path / f"f{i}").unlink()
        sizes.append(len(json.dumps(position.to_json())))
    assert max(sizes) < min(sizes) + 50
    assert max(sizes) < 500


def test_a_file_that_is_written_to_after_it_was_found_is_refused(tmp_path: Path) -> None:
    """F8"""
    put(tmp_path, "a", 10, "1")
    made = source(tmp_path)
    start = made.initial(0, 1)
    end = made.advance(0, 1, start, start, 99, SourceClock(0, 0))
    (tmp_path / "a").write_text("2\n")
    with pytest.raises(SourceError, match=r"/a was modified after the source had found it: its first 2 bytes are not"):
        list(made.read(0, 1, start, end))
    (tmp_path / "a").unlink()
    with pytest.raises(SourceError, match="/a was found by the source but is gone now"):
        list(made.read(0, 1, start, end))


def test_a_pattern_may_match_nothing_yet_but_a_folder_must_be_there(tmp_path: Path) -> None:
    """P9"""
    made = source(tmp_path / "*.txt")
    start = made.initial(0, 1)
    assert made.advance(0, 1, start, start, 99, SourceClock(0, 0)) == start
    with pytest.raises(SourceError, match="missing' does not exist and matches no file"):
        source(tmp_path / "missing").advance(0, 1, start, start, 99, SourceClock(0, 0))
    with pytest.raises(ProgramError, match=r"monitor_continuously\(\) takes a positive interval"):
        source(tmp_path, interval_ms=0)


def test_a_watched_folder_has_no_end_and_one_split(tmp_path: Path) -> None:
    """P10: and can be made a bounded one again."""
    made = source(tmp_path)
    assert not made.bounded
    assert (made.split_parallelism(4), made.split_count(4, one_batch=False)) == (1, 1)
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    assert builder.monitor_continuously(Duration.of_seconds(1)).process_static_file_set().build().bounded
