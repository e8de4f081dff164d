"""Staged files on their way into a table (F6, X2)."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.api.table_sink import SparkTableSink, StagedCommitter
from penstock.common import Types
from penstock.core.contracts.guarantees import SinkKind
from penstock.core.contracts.sink import CommitRequest, WriterInitContext
from penstock.core.errors import ProgramError
from penstock.core.program.specs import SinkSpec

ROW = Types.ROW_NAMED(["n"], [Types.LONG()])


class Loads:
    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, paths: Sequence[str]) -> None:
        import pyarrow.parquet

        self.calls.append([n for path in paths for n in pyarrow.parquet.read_table(path).column("n").to_pylist()])


def prepared(sink: SparkTableSink, batch: int, values: list[int]) -> list[CommitRequest]:
    writer = sink.create_writer(WriterInitContext(0, 1, batch, f"attempt{batch}"))
    writer.write_all([(v,) for v in values], None)
    writer.flush()
    made = writer.prepare_commit()
    writer.close()
    return [CommitRequest(c) for c in made]


def committer(sink: SparkTableSink, folder: Path, load: Any) -> StagedCommitter:
    return StagedCommitter(sink._files.create_committer(), str(folder), load)


def test_a_batch_is_loaded_once_however_often_it_is_committed(tmp_path: Path) -> None:
    """F6"""
    sink, load = SparkTableSink("t", ROW, str(tmp_path)), Loads()
    first, second = prepared(sink, 0, [1, 2]), prepared(sink, 1, [3])
    committer(sink, tmp_path, load).commit(first)
    committer(sink, tmp_path, load).commit(first)
    committer(sink, tmp_path, load).commit(second)
    assert load.calls == [[1, 2], [3]]


def test_what_could_not_be_loaded_is_loaded_the_next_time(tmp_path: Path) -> None:
    """F6"""
    sink, load = SparkTableSink("t", ROW, str(tmp_path)), Loads()

    def fails(paths: Sequence[str]) -> None:
        raise OSError("no")

    requests = prepared(sink, 0, [1])
    with pytest.raises(OSError, match="no"):
        committer(sink, tmp_path, fails).commit(requests)
    committer(sink, tmp_path, load).commit(requests)
    assert load.calls == [[1]]


def test_what_was_loaded_is_cleaned_up_in_time(tmp_path: Path) -> None:
    sink, load = SparkTableSink("t", ROW, str(tmp_path)), Loads()
    made = committer(sink, tmp_path, load)
    made.commit(prepared(sink, 0, [1]))
    (file,) = tmp_path.iterdir()
    os.utime(file, (1, 1))
    made.abandon_older_than(5_000, 6_000)
    assert file.exists()
    made.abandon_older_than(5_000, 6_001)
    assert not file.exists()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("", ROW), "SparkTableSink: a table has a name, got ''"),
        (("t", Types.INT()), r"SparkTableSink\('t'\) takes a row type, got .*: give Types.ROW_NAMED"),
    ],
)
def test_what_makes_no_sense_is_refused(args: tuple[Any, ...], text: str) -> None:
    """P9"""
    with pytest.raises(ProgramError, match=text):
        SparkTableSink(*args, "/tmp/staging")


def test_it_promises_no_more_than_it_keeps(tmp_path: Path) -> None:
    """F7: a driver that dies between loading and noting it down loads again."""
    assert SinkSpec(SparkTableSink("t", ROW, str(tmp_path))).sink_kind is SinkKind.WRITE_AHEAD
