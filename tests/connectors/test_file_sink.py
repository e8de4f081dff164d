"""The file sink: nothing is seen before it is durable, nothing twice (F6, X2)."""

import datetime
import json
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from penstock.common import Encoder, Row, Types
from penstock.core.contracts.sink import CommitRequest, WriterInitContext
from penstock.core.errors import RecordError, SinkError
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, OutputFileConfig
from penstock.datastream.formats.csv import CsvBulkWriters, CsvSchema
from penstock.datastream.formats.orc import OrcBulkWriters
from penstock.datastream.formats.parquet import ParquetBulkWriters
from penstock.testing import LocalJob, local_job
from tests.connectors.formats.typed import mystery

Pair = namedtuple("Pair", "a b")


@dataclass
class User:
    a: int
    b: str


def files(folder: Path) -> list[Path]:
    """Files in all buckets, by name: an hour may have passed between two."""
    return sorted((f for f in folder.rglob("*") if f.is_file()), key=lambda f: f.name)


def visible(folder: Path) -> list[str]:
    """All lines a reader sees who leaves hidden files alone."""
    return [line for f in files(folder) if f.name[0] not in "._" for line in f.read_text().splitlines()]


def job_into(sink: FileSink, values: list[Any], parallelism: int = 1) -> LocalJob:
    env = StreamExecutionEnvironment()
    env.from_collection(values).sink_to(sink)
    return local_job(env, parallelism)


def text_sink(folder: Path) -> FileSink:
    return FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).build()


def test_records_are_seen_once_their_batch_is_durable(tmp_path: Path) -> None:
    """F6"""
    job = job_into(text_sink(tmp_path), list("abcdef"))
    job.run_batch(2)
    assert visible(tmp_path) == ["a", "b"]
    job.run_batch(2, commit=False)
    assert visible(tmp_path) == ["a", "b"]
    assert len([f for f in files(tmp_path) if f.name.endswith(".inprogress")]) == 1
    job.restart()
    job.run()
    assert sorted(visible(tmp_path)) == list("abcdef")


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_every_subtask_writes_files_of_its_own(tmp_path: Path, parallelism: int) -> None:
    """F6, P11"""
    job = job_into(text_sink(tmp_path), list(range(40)), parallelism)
    job.run([7, 9])
    assert sorted(map(int, visible(tmp_path))) == list(range(40))


def test_a_batch_that_became_durable_before_its_files_were_named_is_made_good(tmp_path: Path) -> None:
    """F6: the committables are in state; the next run commits them again, which harms nothing."""
    job = job_into(text_sink(tmp_path), list("abcd"))
    commit = job.commits._commit  # the driver dies between Spark's commit and ours
    job.commits._commit = lambda *_, **__: None  # type: ignore[method-assign]
    job.run_batch(2)
    assert visible(tmp_path) == []
    job.commits._commit = commit  # type: ignore[method-assign]
    job.restart()
    job.run_batch(0)
    assert visible(tmp_path) == ["a", "b"]
    job.restart()
    job.run()
    assert sorted(visible(tmp_path)) == ["a", "b", "c", "d"]


def prepared(folder: Path) -> Any:
    sink = text_sink(folder)
    writer = sink.create_writer(WriterInitContext(0, 1, 7, "attempt"))
    writer.write("x", None)
    writer.flush()
    (committable,) = writer.prepare_commit()
    writer.close()
    return sink.create_committer(), committable


def test_committing_twice_is_committing_once(tmp_path: Path) -> None:
    """F6"""
    committer, committable = prepared(tmp_path)
    assert visible(tmp_path) == []
    for _ in range(3):
        committer.commit([CommitRequest(committable)])
    assert visible(tmp_path) == ["x"]


def test_a_prepared_file_that_is_gone_is_an_error_that_names_it(tmp_path: Path) -> None:
    """F8"""
    committer, committable = prepared(tmp_path)
    Path(committable.hidden).unlink()
    with pytest.raises(SinkError, match=r"neither .*\.inprogress nor .* exists, so a prepared file was removed"):
        committer.commit([CommitRequest(committable)])


def test_old_leftovers_of_attempts_that_lost_are_removed(tmp_path: Path) -> None:
    """F6"""
    committer, committable = prepared(tmp_path)
    age = int(Path(committable.hidden).stat().st_mtime * 1000)
    committer.abandon_older_than(1_000, age + 500)
    assert Path(committable.hidden).exists()
    committer.abandon_older_than(1_000, age + 2_000)
    assert not Path(committable.hidden).exists()
    text_sink(tmp_path / "missing").create_committer().abandon_older_than(0, 0)


def test_files_are_named_as_wished(tmp_path: Path) -> None:
    """X2"""
    config = OutputFileConfig.builder().with_part_prefix("clicks").with_part_suffix(".txt").build()
    builder = FileSink.for_row_format(f"file://{tmp_path}", Encoder.simple_string_encoder("latin-1"))
    job_into(builder.with_output_file_config(config).build(), ["ü"]).run()
    (file,) = files(tmp_path)
    assert file.name.startswith("clicks-0-0-")
    assert file.suffix == ".txt"
    assert file.read_bytes() == b"\xfc\n"
    assert (config.get_part_prefix(), config.get_part_suffix()) == ("clicks", ".txt")


RECORDS = [Row(a=1, b="x,y"), Pair(2, 'say "hi"'), User(3, "ü"), {"a": 4, "b": None}]


def test_json_lines(tmp_path: Path) -> None:
    """X2"""
    sink = FileSink.for_row_format(str(tmp_path), Encoder.json_encoder()).build()
    job_into(sink, [*RECORDS, [1, datetime.date(2024, 1, 1)], "text", Row(1, 2), (5, Row(x=[User(6, "y")]))]).run()
    assert [json.loads(line) for line in visible(tmp_path)] == [
        {"a": 1, "b": "x,y"},
        {"a": 2, "b": 'say "hi"'},
        {"a": 3, "b": "ü"},
        {"a": 4, "b": None},
        [1, "2024-01-01"],
        "text",
        [1, 2],
        [5, {"x": [{"a": 6, "b": "y"}]}],
    ]
    assert all(f.suffix == ".json" for f in files(tmp_path))


def test_csv_lines(tmp_path: Path) -> None:
    """X2"""
    sink = FileSink.for_row_format(str(tmp_path), Encoder.csv_encoder()).build()
    job_into(sink, [*RECORDS, (5, "z"), Row(6, 7)]).run()
    assert visible(tmp_path) == ['1,"x,y"', '2,"say ""hi"""', "3,ü", "4,", "5,z", "6,7"]


@pytest.mark.parametrize("typed", [True, False])
def test_parquet(tmp_path: Path, typed: bool) -> None:
    """X2, P7: columns from a row type, or from the first record."""
    row_type = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.STRING()]) if typed else None
    sink = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(row_type)).build()
    job = job_into(sink, RECORDS * 3)
    job.run([3, 1, 4])
    tables = [pyarrow.parquet.read_table(f) for f in files(tmp_path) if f.suffix == ".parquet"]
    found = [row for table in tables for row in table.to_pylist()]
    expected = [{"a": 1, "b": "x,y"}, {"a": 2, "b": 'say "hi"'}, {"a": 3, "b": "ü"}, {"a": 4, "b": None}] * 3
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_parquet_of_nested_types(tmp_path: Path) -> None:
    """X2, P7"""
    row_type = Types.ROW_NAMED(
        ["tags", "counts", "place", "day", "raw"],
        [
            Types.LIST(Types.STRING()),
            Types.MAP(Types.STRING(), Types.INT()),
            Types.ROW_NAMED(["x"], [Types.DOUBLE()]),
            Types.SQL_DATE(),
            Types.PICKLED_BYTE_ARRAY(),
        ],
    )
    sink = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(row_type)).build()
    job_into(sink, [(["a"], {"k": 1}, {"x": 1.5}, datetime.date(2024, 1, 1), b"b")]).run()
    (file,) = files(tmp_path)
    assert pyarrow.parquet.read_table(file).to_pylist() == [
        {"tags": ["a"], "counts": [("k", 1)], "place": {"x": 1.5}, "day": datetime.date(2024, 1, 1), "raw": b"b"}
    ]


def parquet(folder: Path, *types: Any) -> FileSink:
    row_type = Types.ROW_NAMED([f"c{i}" for i in range(len(types))], types) if types else None
    return FileSink.for_bulk_format(str(folder), ParquetBulkWriters.for_row_type(row_type)).build()


@pytest.mark.parametrize(
    ("make", "values", "message"),
    [
        (
            lambda p: FileSink.for_row_format(str(p), Encoder.csv_encoder()).build(),
            ["x"],
            "cannot be written as CSV: it mu",
        ),
        (lambda p: parquet(p), [5], "cannot be written as Parquet: it must have fields"),
        (lambda p: parquet(p, Types.LONG()), [(1, 2)], "has 2 fields, the schema 1"),
        (
            lambda p: parquet(p, Types.LONG()),
            [(1,), ("x",)],
            r"the record \('x',\) cannot be written as Parquet: column 'c0' is int64, got 'x' \(str\)",
        ),
        (
            lambda p: parquet(p, Types.STRING(), Types.BYTE()),
            [("a", 1), ("b", 300)],
            r"the record \('b', 300\) cannot be written as Parquet: column 'c1' is int8, got 300 \(int\)",
        ),
        (
            lambda p: parquet(p),
            [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": "y", "b": "z"}],
            r"the record \{'a': 'y', 'b': 'z'\} cannot be written as Parquet: column 'a' is int64, got 'y' \(str\)",
        ),
        (
            lambda p: parquet(p, Types.MAP(Types.STRING(), Types.INT())),
            [({"a": 1},), ([5],)],
            r"the record \(\[5\],\) cannot be written as Parquet: column 'c0': 'list' object has no attribute 'items'",
        ),
        (
            lambda p: parquet(p, Types.ROW_NAMED(["x"], [Types.LIST(Types.INT())])),
            [(Row(x=5),)],
            "cannot be written as Parquet: column 'c0': column 'x': 'int' object is not iterable",
        ),
        (
            lambda p: FileSink.for_bulk_format(
                str(p), OrcBulkWriters.for_row_type(Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]))
            ).build(),
            [(1, "x"), (2, 3)],
            r"the record \(2, 3\) cannot be written as ORC: column 'b' is string, got 3 \(int\)",
        ),
        (
            lambda p: FileSink.for_bulk_format(
                str(p), CsvBulkWriters.for_schema(CsvSchema.builder().add_number_column("n").build())
            ).build(),
            [(1,), ("x",)],
            r"the record \('x',\) cannot be written as CSV: field 'n': invalid literal for int\(\) with base 10: 'x'",
        ),
        (lambda p: parquet(p), [{"a": 1}, {"a": 1, "z": 2}], r"has fields \['z'\] that the schema \['a'\] has not"),
        (
            lambda p: FileSink.for_row_format(str(p), Encoder.json_encoder()).build(),
            [{(1,): 2}],
            "cannot be written as JSON",
        ),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_its_operator(
    tmp_path: Path, make: Any, values: list[Any], message: str
) -> None:
    """P9: and nothing of it is dropped in silence."""
    with pytest.raises(RecordError, match=rf"Operator 'Writer' \(uid auto-2-Writer\): .*{message}"):
        job_into(make(tmp_path), values).run()


def test_a_type_parquet_has_not_is_refused(tmp_path: Path) -> None:
    """P9"""
    with pytest.raises(SinkError, match="Parquet has no type for "):
        job_into(parquet(tmp_path, mystery()), [(1,)]).run()
