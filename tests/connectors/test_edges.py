"""Readers, writers and sources at the edges of the pieces they cut their input into (X1, X2, F11, P11).

For each constant n that cuts input: 0, 1, n − 1, n, n + 1 and 2n + 1 records. A reader that takes one record too many
per piece, or forgets a piece that is exactly full, gives itself away at one of these.
"""

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import fastavro
import pyarrow
import pytest
from pyarrow import orc, parquet

from penstock.common import Encoder, Row, Types
from penstock.connectors import sequences
from penstock.connectors.files import source as file_source
from penstock.connectors.files import watched as watched_files
from penstock.connectors.files import writer as file_writer
from penstock.connectors.formats import avro, csv, files
from penstock.connectors.formats.files import Extent, FileFormat
from penstock.core.contracts import python_source
from penstock.core.contracts.python_source import PythonSource
from penstock.core.contracts.source import Position, Source, SourceClock
from penstock.core.time.spans import Duration
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    FileSource,
    RollingPolicy,
    StreamFormat,
)
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.formats.avro import AvroBulkWriters, AvroInputFormat, AvroReaderFormat, AvroSchema
from penstock.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from penstock.datastream.formats.json import JsonReaderFormat
from penstock.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from penstock.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.testing import collect, local_job

ROW = Types.ROW_NAMED(["n"], [Types.LONG()])
AVRO = AvroSchema.parse_string('{"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]}')
PLAIN = CsvSchema.builder().add_number_column("n").disable_quote_char().build()
QUOTED = CsvSchema.builder().add_number_column("n").build()
COMMENTED = CsvSchema.builder().add_number_column("n").set_allow_comments().build()
HEADED = CsvSchema.builder().add_number_column("n").set_use_header().build()
WIDTH = 8
"""Bytes of a line, so that a limit in bytes is one in records."""


def around(n: int) -> list[int]:
    """The counts at which a piece of n records has its edges."""
    return sorted({0, 1, n - 1, n, n + 1, 2 * n + 1})


def lines(count: int) -> bytes:
    return b"".join(b"%07d\n" % i for i in range(count))


def quoted_lines(count: int) -> bytes:
    return b"".join(b'"%05d"\n' % i for i in range(count))


def commented_lines(count: int) -> bytes:
    return b"".join(b"%03d\n#..\n" % i for i in range(count))


def json_lines(count: int) -> bytes:
    return b"".join(b'{"n":%d}\n' % i for i in range(count))


def avro_file(count: int, sync_interval: int = 16000) -> bytes:
    stream = io.BytesIO()
    fastavro.writer(stream, AVRO.parsed, [{"n": i} for i in range(count)], sync_interval=sync_interval)
    return stream.getvalue()


def table(count: int) -> pyarrow.Table:
    return pyarrow.table({"n": pyarrow.array(range(count), pyarrow.int64())})


def parquet_file(count: int, group: int = 1 << 20) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(table(count), stream, row_group_size=group)
    return stream.getvalue()


def orc_file(count: int) -> bytes:
    stream = io.BytesIO()
    orc.write_table(table(count), stream)
    return stream.getvalue()


def numbers(values: list[Any]) -> list[int]:
    return [int(v) if isinstance(v, str) else v["n"] for v in values]


def whole(fmt: FileFormat, path: Path) -> list[int]:
    size = path.stat().st_size
    return numbers([v for values in fmt.read(Extent(str(path), 0, size, size)) for v in values])


READERS: dict[str, tuple[FileFormat, Callable[[int], bytes], int]] = {
    "avro": (AvroReaderFormat.for_generic_record(AVRO), avro_file, avro._READ_RECORDS),
    "avro without a schema": (AvroReaderFormat.for_generic_record(), avro_file, avro._READ_RECORDS),
    "csv": (CsvReaderFormat.for_schema(PLAIN), lines, csv._READ_ROWS),
    "csv with quotes": (CsvReaderFormat.for_schema(QUOTED), quoted_lines, csv._READ_ROWS),
    "csv with comments": (CsvReaderFormat.for_schema(COMMENTED), commented_lines, csv._READ_ROWS),
    "csv with a header": (CsvReaderFormat.for_schema(HEADED), lambda n: b"n\n" + lines(n), csv._READ_ROWS),
    "parquet": (ParquetColumnarRowInputFormat(ROW), parquet_file, 2048),
    "parquet in batches": (ParquetColumnarRowInputFormat(ROW, batch_size=5), parquet_file, 5),
    "parquet in row groups": (ParquetColumnarRowInputFormat(ROW), lambda n: parquet_file(n, 5), 5),
    "orc": (OrcColumnarRowInputFormat(ROW), orc_file, 2048),
    "orc in batches": (OrcColumnarRowInputFormat(ROW, batch_size=5), orc_file, 5),
}
CASES = [(name, count) for name, (_, _, n) in READERS.items() for count in around(n)]


@pytest.mark.parametrize(("name", "count"), CASES)
def test_a_reader_gives_every_record(tmp_path: Path, name: str, count: int) -> None:
    """X1: at the edges of what it reads at a time, in its real size."""
    fmt, content, _ = READERS[name]
    path = tmp_path / "file"
    path.write_bytes(content(count))
    assert whole(fmt, path) == list(range(count))


@pytest.mark.parametrize("count", around(avro._READ_RECORDS))
def test_the_avro_input_format_gives_every_record(tmp_path: Path, count: int) -> None:
    """X1"""
    path = tmp_path / "a.avro"
    path.write_bytes(avro_file(count))
    env = StreamExecutionEnvironment()
    collect(env.create_input(AvroInputFormat(str(path), AVRO)), "out")
    job = local_job(env)
    job.run()
    assert numbers(job.results["out"]) == list(range(count))


TEXTS: dict[str, tuple[FileFormat, Callable[[int], bytes]]] = {
    "text": (StreamFormat.text_line_format(), lines),
    "json": (JsonReaderFormat.for_type_info(ROW), json_lines),
    "csv": (CsvReaderFormat.for_schema(PLAIN), lines),
    "csv with quotes": (CsvReaderFormat.for_schema(QUOTED), quoted_lines),
    "csv with comments": (CsvReaderFormat.for_schema(COMMENTED), commented_lines),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("room", [1, 2, 4 * WIDTH - 1, 4 * WIDTH, 4 * WIDTH + 1])
def test_a_reader_of_lines_gives_every_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, count: int, room: int
) -> None:
    """X1: whatever it reads into memory at a time, and wherever a line lies in it; with an end of the line or not."""
    monkeypatch.setattr(files, "_READ_BYTES", room)
    fmt, content = TEXTS[name]
    path = tmp_path / "file"
    for cut in (0, 1):
        path.write_bytes(content(count)[: -1 if cut else None])
        assert whole(fmt, path) == list(range(count))


def blocks(fmt: FileFormat, path: Path, step: int) -> Iterator[int]:
    """A file read in ranges of so many bytes, each by itself."""
    size = path.stat().st_size
    for first in range(0, size, step):
        yield from numbers([v for vs in fmt.read(Extent(str(path), first, min(size, first + step), size)) for v in vs])


SPLITTABLE: dict[str, tuple[FileFormat, Callable[[int], bytes]]] = {
    "text": TEXTS["text"],
    "json": TEXTS["json"],
    "csv": TEXTS["csv"],
    "avro": (AvroReaderFormat.for_generic_record(AVRO), lambda n: avro_file(n, 4)),
    "parquet": (ParquetColumnarRowInputFormat(ROW), lambda n: parquet_file(n, 2)),
    "orc": (OrcColumnarRowInputFormat(ROW), orc_file),
}


@pytest.mark.parametrize("name", SPLITTABLE)
@pytest.mark.parametrize("count", around(4))
def test_ranges_that_cover_a_file_give_every_record_once(tmp_path: Path, name: str, count: int) -> None:
    """X1, P11: wherever the ranges begin and end."""
    fmt, content = SPLITTABLE[name]
    path = tmp_path / "file"
    path.write_bytes(content(count))
    for step in (1, 2, WIDTH - 1, WIDTH, WIDTH + 1, 4 * WIDTH - 1, 4 * WIDTH, 4 * WIDTH + 1, 1000):
        assert list(blocks(fmt, path, step)) == list(range(count)), f"ranges of {step} bytes"


@pytest.mark.parametrize("name", SPLITTABLE)
@pytest.mark.parametrize("count", around(4))
def test_a_file_source_gives_every_record_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, count: int
) -> None:
    """X1, F11, P11: in blocks of any size, at once and in steps."""
    fmt, content = SPLITTABLE[name]
    (tmp_path / "file").write_bytes(content(count))
    for block in (WIDTH - 1, 4 * WIDTH - 1, 4 * WIDTH, 4 * WIDTH + 1):
        monkeypatch.setattr(file_source, "_BLOCK", block)
        made = FileSource.for_bulk_file_format(fmt, str(tmp_path)).build()  # type: ignore[arg-type]
        splits = made.split_count(3, one_batch=True)
        parts = [vs for s in range(splits) for vs, _ in made.read(s, splits, made.initial(s, splits), None)]
        assert numbers([v for vs in parts for v in vs]) == list(range(count))
        assert numbers(in_steps(made, 1)) == list(range(count))


def in_steps(made: Source, limit: int) -> list[Any]:
    position, found = made.initial(0, 1), []
    while not position.ended:
        end = made.advance(0, 1, position, position, limit, SourceClock(0, 0))
        found += [v for vs, *_ in made.read(0, 1, position, end) for v in vs]
        position = end
    return found


@pytest.mark.parametrize("room", [1, 15, 16, 17, 31, 32, 33, 47])
def test_the_marker_of_an_avro_block_is_found_across_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """X1: the search for the next block reads a stretch at a time; a marker may lie across two."""
    monkeypatch.setattr(avro, "_SEARCH_BYTES", room)
    path = tmp_path / "a.avro"
    path.write_bytes(avro_file(9, 40))
    size = path.stat().st_size
    fmt = AvroReaderFormat.for_generic_record(AVRO)
    for cut in range(size):
        parts = [Extent(str(path), 0, cut, size), Extent(str(path), cut, size, size)]
        assert numbers([v for part in parts for vs in fmt.read(part) for v in vs]) == list(range(9)), f"cut at {cut}"


# -- writing -------------------------------------------------------------------------------------------


WRITERS: dict[str, tuple[Any, Callable[[Path], list[int]]]] = {
    "avro": (AvroBulkWriters.for_generic_record(AVRO), lambda path: [r["n"] for r in fastavro.reader(path.open("rb"))]),
    "csv": (CsvBulkWriters.for_schema(QUOTED), lambda path: list(map(int, path.read_text().split()))),
    "parquet": (ParquetBulkWriters.for_row_type(ROW), lambda path: parquet.read_table(path)["n"].to_pylist()),
    "orc": (OrcBulkWriters.for_row_type(ROW), lambda path: orc.read_table(path)["n"].to_pylist()),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("count", [c for c in around(1024) if c])
@pytest.mark.parametrize("piece", [100, 1023, 1024, 1025, 10_000])
def test_a_writer_writes_every_record(tmp_path: Path, name: str, count: int, piece: int) -> None:
    """X2: however many it is given at a time. 1,024 is what ORC puts into a batch."""
    factory, read = WRITERS[name]
    path = tmp_path / "file"
    with path.open("wb") as file:
        state = None
        for first in range(0, count, piece):
            part = [Row(n=i) for i in range(first, min(count, first + piece))]
            state = factory.write(file, part, state)
        factory.finish(state)
    assert read(path) == list(range(count))


def written(folder: Path) -> list[list[str]]:
    """The lines of each file, in the order of names."""
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    assert not [p for p in found if p.name.startswith(".")]
    return [p.read_text().split() for p in found]


class ByNumber(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return f"b{element}"


def write_lines(sink: Any, values: list[Any]) -> None:
    env = StreamExecutionEnvironment()
    env.from_collection(values).sink_to(sink.build())
    local_job(env).run()


@pytest.mark.parametrize("count", around(4))
def test_a_sink_with_many_buckets_writes_every_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """X2: more of them than files may be open."""
    monkeypatch.setattr(file_writer, "_OPEN_FILES", 4)
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).with_bucket_assigner(ByNumber())
    write_lines(sink, [i for _ in range(3) for i in range(count)])
    assert sorted(int(n) for file in written(tmp_path) for n in file) == sorted([*range(count)] * 3)


@pytest.mark.parametrize("count", around(4))
@pytest.mark.parametrize("size", [4 * WIDTH - 1, 4 * WIDTH, 4 * WIDTH + 1])
def test_a_file_is_closed_when_it_has_its_size(tmp_path: Path, count: int, size: int) -> None:
    """X2: with the record that reaches it; no file is left empty."""
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    write_lines(
        sink.with_rolling_policy(RollingPolicy.default_rolling_policy(size)), [f"{i:07d}" for i in range(count)]
    )
    full = 4 if size <= 4 * WIDTH else 5
    sizes = [min(full, count - first) for first in range(0, count, full)]
    assert sorted(map(len, written(tmp_path)), reverse=True) == sizes
    assert sorted(int(n) for file in written(tmp_path) for n in file) == list(range(count))


# -- sources that are not files ------------------------------------------------------------------------


class Count(PythonSource):
    """The numbers below a limit."""

    bounded = True

    def __init__(self, count: int) -> None:
        self.count = count

    def partitions(self) -> list[str]:
        return ["all"]

    def initial_offset(self, partition: Any) -> int:
        return 0

    def latest_offset(self, partition: Any, start: Any, limit: int) -> int:
        return int(min(self.count, start + limit))

    def is_end(self, partition: Any, offset: Any) -> bool:
        return bool(offset == self.count)

    def read_partition(self, partition: Any, start: Any, end: Any) -> Iterator[int]:
        return iter(range(start, end))


SOURCES: dict[str, Callable[[int], Any]] = {
    "python": Count,
    "collection": lambda n: sequences.CollectionSource(range(n)),
    "generator": lambda n: sequences.DataGeneratorSource(lambda i: i, n),
    "sequence": lambda n: NumberSequenceSource(0, n - 1),
}
REAL = sequences._READ
assert python_source._READ == REAL


@pytest.mark.parametrize(("name", "count"), [(s, c) for s in SOURCES for c in around(REAL) if c or s != "sequence"])
def test_a_source_gives_every_record(name: str, count: int) -> None:
    """X1, F11: at once, and in batches with the same edges."""
    made = SOURCES[name](count)
    start = made.initial(0, 1)
    assert [v for vs, *_ in made.read(0, 1, start, None) for v in vs] == list(range(count))
    for limit in (REAL - 1, REAL, REAL + 1):
        assert in_steps(made, limit) == list(range(count))


@pytest.mark.parametrize("count", around(4))
def test_a_watched_folder_gives_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """X1: more of them than go into a batch."""
    monkeypatch.setattr(watched_files, "_FILES_A_BATCH", 4)
    for i in range(count):
        (tmp_path / f"{i}.txt").write_text(f"{i}\n")
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    made = builder.monitor_continuously(Duration.of_millis(1)).build()
    position: Position = made.initial(0, 1)
    found: list[str] = []
    for now_ms in range(1, 5):
        end = made.advance(0, 1, position, position, 10**6, SourceClock(0, now_ms))
        if end != position:
            found += [v for vs, _ in made.read(0, 1, position, end) for v in vs]
        position = end
    assert sorted(map(int, found)) == list(range(count))


@pytest.mark.parametrize("count", around(4))
def test_a_database_gets_every_row(tmp_path: Path, count: int) -> None:
    """X2: in statements of so many rows, and what is left at the end of a batch."""
    with closing(sqlite3.connect(tmp_path / "db")) as database:
        database.execute("create table t (n integer)")
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{tmp_path / 'db'}").build()
    execution = JdbcExecutionOptions.builder().with_batch_size(4).build()
    env = StreamExecutionEnvironment()
    sink = JdbcSink.sink("insert into t values (?)", Types.ROW([Types.LONG()]), options, execution)
    env.from_collection([(i,) for i in range(count)]).add_sink(sink)
    local_job(env).run([5])
    with closing(sqlite3.connect(tmp_path / "db")) as database:
        assert [n for (n,) in database.execute("select n from t order by n")] == list(range(count))
