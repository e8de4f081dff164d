"""Buckets and part files of the sink, through the two-phase protocol (X2, F6)."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Encoder, Row, Types, WatermarkStrategy
from penstock.connectors.files import writer as file_writer
from penstock.core.config import compat
from penstock.core.errors import ProgramError, SinkError
from penstock.core.time.clock import ManualClock
from penstock.core.time.watermarks import TimestampAssigner
from penstock.datastream import SinkFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from penstock.datastream.formats.csv import CsvBulkWriters, CsvSchema
from penstock.datastream.formats.parquet import ParquetBulkWriters
from penstock.testing import LocalJob, local_job


class ByHour(BucketAssigner):
    """Event time decides."""

    def get_bucket_id(self, element: Any, context: Any) -> str:
        return f"hour={context.timestamp() // 3_600_000}"


class ByFirst(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return element[0]  # type: ignore[no-any-return]


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]  # type: ignore[no-any-return]


def visible(folder: Path) -> dict[str, list[str]]:
    """Lines by bucket, as a reader sees them."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            found.setdefault(str(path.parent.relative_to(folder)), []).extend(path.read_text().splitlines())
    return {bucket: sorted(lines) for bucket, lines in found.items()}


def builder(folder: Path) -> Any:
    return FileSink.for_row_format(str(folder), Encoder.simple_string_encoder())


def job_into(sink: FileSink, values: list[Any], parallelism: int = 1, clock: ManualClock | None = None) -> LocalJob:
    env = StreamExecutionEnvironment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    env.from_collection(values).assign_timestamps_and_watermarks(strategy).rebalance().sink_to(sink)
    return local_job(env, parallelism, clock=clock)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_event_time_buckets_are_committed_like_all_files(tmp_path: Path, parallelism: int) -> None:
    """F6: with batches thrown away and restarts nothing is seen early, nothing twice."""
    values = [("x", i * 1_000_000) for i in range(20)]
    job = job_into(builder(tmp_path).with_bucket_assigner(ByHour()).build(), values, parallelism)
    job.run_batch(3, commit=False)
    assert visible(tmp_path) == {}
    job.restart()
    job.run([4, 5])
    expected: dict[str, list[str]] = {}
    for value in values:
        expected.setdefault(f"hour={value[1] // 3_600_000}", []).append(str(value))
    assert visible(tmp_path) == {bucket: sorted(lines) for bucket, lines in expected.items()}


def test_processing_time_buckets_follow_the_batch(tmp_path: Path) -> None:
    """X2: the time is the batch's, not the wall clock's."""
    clock = ManualClock(0)
    assigner = BucketAssigner.date_time_bucket_assigner("yyyy-MM-dd'T'HH", "GMT+01:00")
    job = job_into(builder(tmp_path).with_bucket_assigner(assigner).build(), [(i, i) for i in range(4)], 1, clock)
    job.run_batch(2)
    clock.advance_ms(3_600_000)
    job.run()
    assert visible(tmp_path) == {"1970-01-01T01": ["(0, 0)", "(1, 1)"], "1970-01-01T02": ["(2, 2)", "(3, 3)"]}


def test_the_usual_formats_and_zones() -> None:
    """X2"""
    context: Any = type("Context", (), {"current_processing_time": lambda self: 1_700_000_000_000})()
    cases = {("yyyy-MM-dd--HH", "UTC"): "2023-11-14--22", ("yy/MMM''dd%", "Asia/Tokyo"): "23/Nov'15%"}
    for (pattern, zone), expected in cases.items():
        assert BucketAssigner.date_time_bucket_assigner(pattern, zone).get_bucket_id(None, context) == expected
    assert BucketAssigner.date_time_bucket_assigner().get_bucket_id(None, context).startswith("2023-11-1")


def test_files_roll_at_their_size_within_a_batch(tmp_path: Path) -> None:
    """X2"""
    policy = RollingPolicy.default_rolling_policy(part_size=16)
    made = builder(tmp_path).with_rolling_policy(policy)
    made.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    job_into(made.build(), [("a", i) for i in range(10)]).run()
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert sizes == [18] * 5
    assert visible(tmp_path) == {".": [str(("a", i)) for i in range(10)]}


def test_more_buckets_than_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F13"""
    monkeypatch.setattr(file_writer, "_OPEN_FILES", 3)
    values = [(f"b{i % 7}", i) for i in range(40)]
    job_into(builder(tmp_path).with_bucket_assigner(ByFirst()).build(), values).run([5, 30])
    assert {bucket: len(lines) for bucket, lines in visible(tmp_path).items()} == {
        f"b{i}": len([v for v in values if v[0] == f"b{i}"]) for i in range(7)
    }


def test_leftovers_in_buckets_are_removed(tmp_path: Path) -> None:
    """F6"""
    sink = builder(tmp_path).with_bucket_assigner(ByFirst()).build()
    job = job_into(sink, [("deep/er", 1)])
    job.run_batch(9, commit=False)
    (left,) = (tmp_path / "deep/er").iterdir()
    age_ms = int(left.stat().st_mtime * 1000)
    sink.create_committer().abandon_older_than(1000, age_ms + 5000)
    assert not left.exists()


@pytest.mark.parametrize("bucket", ["../out", "/abs", ".hidden", "a/_b", "a//b", "a/", "a/../b", ".", "a\0b", None, 5])
def test_a_bucket_outside_or_hidden_is_refused(tmp_path: Path, bucket: Any) -> None:
    """P9"""
    with pytest.raises(SinkError, match="but a bucket is a path below the sink's folder: names joined"):
        job_into(builder(tmp_path).with_bucket_assigner(ByFirst()).build(), [(bucket, 1)]).run()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.with_bucket_check_interval(5), "with_bucket_check_interval has no effect: files are closed"),
        (
            lambda b: b.enable_compact(
                FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).set_num_compact_threads(2).build(),
                FileCompactor.concat_file_compactor(b"\n"),
            ).disable_compact(),
            "enable_compact has no effect: files are published as they were written",
        ),
        (
            lambda b: b.with_rolling_policy(RollingPolicy.default_rolling_policy(rollover_interval=1)),
            "RollingPolicy.rollover_interval has no effect",
        ),
    ],
)
def test_settings_without_effect_are_said_so(tmp_path: Path, call: Any, message: str) -> None:
    """P12"""
    compat.forget_warnings()
    with pytest.warns(UserWarning, match=message):
        assert call(builder(tmp_path)) is not None


def test_mistakes_are_refused(tmp_path: Path) -> None:
    """P9"""
    with pytest.raises(TypeError, match=r"with_bucket_assigner\(\) takes a BucketAssigner, got str"):
        builder(tmp_path).with_bucket_assigner("x")
    bulk = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(Types.ROW([Types.INT()])))
    with pytest.raises(ValueError, match="rolling_policy must be OnCheckpointRollingPolicy for bulk format"):
        bulk.with_rolling_policy(RollingPolicy.default_rolling_policy())
    assert bulk.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()) is bulk
    with pytest.raises(ProgramError, match=r"date_time_bucket_assigner\('yyyy QQ'\): 'QQ' is not known, only "):
        BucketAssigner.date_time_bucket_assigner("yyyy QQ")
    with pytest.raises(ProgramError, match="the time zone 'Moon/Base' is not known"):
        BucketAssigner.date_time_bucket_assigner(timezone_id="Moon/Base")
    with pytest.raises(ProgramError, match="positive part_size, got 0"):
        RollingPolicy.default_rolling_policy(part_size=0)
    with pytest.raises(ProgramError, match="FileCompactStrategy needs a number of checkpoints or a size threshold"):
        FileCompactStrategy.builder().build()
    with pytest.raises(ProgramError, match="FileSink: 's3://bucket/x' is not a local path"):
        FileSink.for_row_format("s3://bucket/x", Encoder.json_encoder()).build()
    with pytest.raises(NotImplementedError, match="BucketAssigner must define get_bucket_id"):
        BucketAssigner().get_bucket_id(1, None)  # type: ignore[arg-type]


HOUR = "1970-01-01--0"


@pytest.fixture
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's time zone is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("greenwich")
@pytest.mark.parametrize("bulk", [False, True])
def test_a_bucket_is_an_hour_unless_said_otherwise(tmp_path: Path, bulk: bool) -> None:
    """F6, X2: as in PyFlink; each record once, with batches thrown away and restarts on both sides of the hour."""
    schema = CsvSchema.builder().add_string_column("a").add_number_column("b").build()
    writers = CsvBulkWriters.for_schema(schema)
    made = FileSink.for_bulk_format(str(tmp_path), writers) if bulk else builder(tmp_path)
    clock = ManualClock(3_599_000)
    job = job_into(made.build(), [("x", i) for i in range(6)], 1, clock)
    job.run_batch(2)
    job.run_batch(2, commit=False)
    clock.advance_ms(1_000)
    job.restart()
    job.run_batch(2)
    job.restart()
    job.run()
    show = "x,{}" if bulk else "('x', {})"
    assert visible(tmp_path) == {
        f"{HOUR}0": [show.format(i) for i in range(2)],
        f"{HOUR}1": [show.format(i) for i in range(2, 6)],
    }


@pytest.mark.usefixtures("greenwich")
@pytest.mark.parametrize("call", ["add_sink", "sink_to"])
def test_the_older_name_writes_too(tmp_path: Path, call: str) -> None:
    """X5: it is a sink function in PyFlink, so `add_sink` takes it; it is exactly-once here as there."""
    with pytest.warns(DeprecationWarning, match="Use FileSink instead"):
        made = StreamingFileSink.for_row_format(str(tmp_path), Encoder.json_encoder())
    config = OutputFileConfig.builder().with_part_prefix("prefix").with_part_suffix("suffix").build()
    sink = made.with_rolling_policy(RollingPolicy.default_rolling_policy(1 << 30)).with_output_file_config(config)
    env = StreamExecutionEnvironment()
    getattr(env.from_collection([(Row(a=1), 2), (Row(a=2), 3)]), call)(sink.build())
    assert "exactly-once (two-phase sink)" in env.explain()
    job = local_job(env, clock=ManualClock(0))
    job.run_batch(1, commit=False)
    assert visible(tmp_path) == {}
    job.restart()
    job.run()
    assert visible(tmp_path) == {f"{HOUR}0": ['[{"a":1},2]', '[{"a":2},3]']}
    found = [path.name for path in (tmp_path / f"{HOUR}0").iterdir() if not path.name.startswith(".")]
    assert all(name.startswith("prefix") and name.endswith("suffix") for name in found)


def test_the_older_bulk_builder_makes_a_sink_function(tmp_path: Path) -> None:
    """X5"""
    with pytest.warns(DeprecationWarning, match="Use FileSink instead"):
        made = StreamingFileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type())
    assert isinstance(made.build(), SinkFunction)
    with pytest.raises(NotImplementedError, match="writes through its writer"):
        made.build().invoke(1, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["../x", "a/b", "/x", "a\\b", "a\0b", None])
def test_a_part_of_a_name_leads_nowhere(part: Any) -> None:
    """P9"""
    for name, make in (
        ("part_prefix", OutputFileConfig.builder().with_part_prefix),
        ("part_suffix", OutputFileConfig.builder().with_part_suffix),
    ):
        message = rf"OutputFileConfig: {name} is a part of a file's name, without slashes, got {re.escape(repr(part))}"
        with pytest.raises(ProgramError, match=message):
            make(part).build()
