"""Files of every format: written by the sink, read by the source, whatever the cuts (X1, X2, F1, F11)."""

import datetime
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import orc, parquet

from penstock.common import Configuration, Encoder, Row, Types, WatermarkStrategy
from penstock.connectors.files import source as file_source
from penstock.connectors.formats import avro, csv, files
from penstock.core.config.compat import forget_warnings
from penstock.core.contracts.source import SourceClock
from penstock.core.errors import ProgramError, RecordError, SourceError
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, FileSource, StreamFormat
from penstock.datastream.formats.avro import AvroBulkWriters, AvroInputFormat, AvroReaderFormat, AvroSchema
from penstock.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from penstock.datastream.formats.json import JsonReaderFormat
from penstock.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from penstock.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from penstock.table import DataTypes
from penstock.testing import collect, local_job
from tests.effort import examples

NOW = SourceClock(0, 0)
ROW = Types.ROW_NAMED(["id", "name", "tags"], [Types.LONG(), Types.STRING(), Types.LIST(Types.STRING())])
SCHEMA = CsvSchema.builder().add_number_column("id").add_string_column("name").add_array_column("tags").build()
AVRO = AvroSchema.parse_string(
    json.dumps(
        {
            "type": "record",
            "name": "Item",
            "fields": [
                {"name": "id", "type": "long"},
                {"name": "name", "type": "string"},
                {"name": "tags", "type": {"type": "array", "items": "string"}},
            ],
        }
    )
)

FORMATS: dict[str, tuple[Any, Any]] = {
    "csv": (CsvBulkWriters.for_schema(SCHEMA), CsvReaderFormat.for_schema(SCHEMA)),
    "json": (Encoder.json_encoder(), JsonReaderFormat.for_type_info(ROW)),
    "avro": (AvroBulkWriters.for_generic_record(AVRO), AvroReaderFormat.for_generic_record(AVRO)),
    "parquet": (ParquetBulkWriters.for_row_type(ROW), ParquetColumnarRowInputFormat(ROW)),
    "avro-parquet": (AvroParquetWriters.for_generic_record(AVRO), AvroParquetReaders.for_generic_record(AVRO)),
    "orc": (OrcBulkWriters.for_row_type(ROW), OrcColumnarRowInputFormat(ROW)),
}


def source(fmt: Any, *paths: Path) -> FileSource:
    return FileSource.for_bulk_file_format(fmt, *map(str, paths)).build()


def write(folder: Path, fmt: Any, values: list[Any], parallelism: int, batches: list[int]) -> None:
    env = StreamExecutionEnvironment()
    make: Callable[[str, Any], Any] = FileSink.for_row_format if isinstance(fmt, Encoder) else FileSink.for_bulk_format
    env.from_collection(values).rebalance().sink_to(make(str(folder), fmt).build())
    job = local_job(env, parallelism)
    for number, limit in enumerate(batches):
        job.run_batch(limit, commit=number % 2 == 0)
        job.restart()
    job.run()


def records(count: int) -> list[Row]:
    return [Row(id=i, name=f'n "{i}",\n x', tags=[f"t{j}" for j in range(i % 3)]) for i in range(count)]


def as_dict(value: Any) -> Any:
    return value.as_dict() if isinstance(value, Row) else value


def by_id(values: list[Any]) -> list[Any]:
    return sorted(map(as_dict, values), key=lambda v: v["id"])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_what_the_sink_wrote_the_source_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, parallelism: int
) -> None:
    """X1, X2, F1, F6: in tiny batches, with batches thrown away and restarts, each record once."""
    monkeypatch.setattr(file_source, "_BLOCK", 300)
    writer, reader = FORMATS[name]
    write(tmp_path, writer, records(100), parallelism, [3, 4, 30, 1])
    env = StreamExecutionEnvironment()
    stream = env.from_source(source(reader, tmp_path), WatermarkStrategy.no_watermarks(), "files")
    collect(stream.set_parallelism(parallelism), "out")
    job = local_job(env, parallelism)
    count = 0
    while not job.finished:
        job.run_batch(2, commit=count % 3 != 1)
        if count % 4 == 2:
            job.restart()
        count += 1
    assert by_id(job.results["out"]) == [r.as_dict() for r in records(100)]
    assert count > 2


def read_at_once(made: FileSource, parallelism: int = 2) -> list[Any]:
    splits = made.split_count(parallelism, one_batch=True)
    return [v for s in range(splits) for vs, _ in made.read(s, splits, made.initial(s, splits), None) for v in vs]


def read_in_steps(made: FileSource, limits: list[int]) -> list[Any]:
    position, found, sizes = made.initial(0, 1), [], iter(limits)
    while not position.ended:
        end = made.advance(0, 1, position, position, next(sizes, 10**9), NOW)
        found += [v for vs, _ in made.read(0, 1, position, end) for v in vs]
        assert end != position
        position = end
    return found


def grouped_file(folder: Path, name: str, values: list[Row]) -> Path:
    """A file of many small row groups, stripes or blocks."""
    rows = [v.as_dict() for v in values]
    path = folder / name
    if name == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=7)
    elif name == "orc":
        with orc.ORCWriter(str(path), stripe_size=1024, batch_size=64) as writer:
            writer.write(pyarrow.Table.from_pylist(rows))
    else:
        with path.open("wb") as file:
            fastavro.writer(file, AVRO.parsed, rows, sync_interval=200)
    return path


@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("block", [97, 1000, 10**6])
def test_groups_and_blocks_are_read_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, block: int
) -> None:
    """X1, P11: wherever a file is cut, in order and each record once."""
    monkeypatch.setattr(file_source, "_BLOCK", block)
    values = records(3000 if name == "orc" else 300)
    path = grouped_file(tmp_path, name, values)
    if name == "orc":
        assert orc.ORCFile(str(path)).nstripes > 1
    expected = [v.as_dict() for v in values]
    assert list(map(as_dict, read_at_once(source(FORMATS[name][1], path)))) == expected


@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
def test_steps_of_any_size_give_every_record_once(tmp_path: Path, name: str) -> None:
    """F11, F13: at least a group at a time, and no more than was asked for if that is several."""
    values = records(3000 if name == "orc" else 300)
    path = grouped_file(tmp_path, name, values)
    for limits in ([1] * 50, [1, 20, 3], []):
        assert list(map(as_dict, read_in_steps(source(FORMATS[name][1], path), limits))) == [
            v.as_dict() for v in values
        ]
    if name == "parquet":
        made = source(FORMATS[name][1], path)
        begin = made.initial(0, 1)
        end = made.advance(0, 1, begin, begin, 20, NOW)
        assert len([v for vs, _ in made.read(0, 1, begin, end) for v in vs]) == 14


TEXTS = st.text(st.sampled_from('ab"\n\r,;ü# '), max_size=5)


@settings(max_examples=examples(60))
@given(
    rows=st.lists(st.tuples(st.integers(0, 99), TEXTS), max_size=12),
    limits=st.lists(st.integers(1, 3), max_size=10),
    header=st.booleans(),
)
def test_csv_with_line_ends_inside_of_quotes_can_be_cut(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str]], limits: list[int], header: bool
) -> None:
    """F11: a position is always the beginning of a record."""
    folder = tmp_path_factory.mktemp("csv")
    schema = CsvSchema.builder().add_number_column("n").add_string_column("t").set_use_header(header).build()
    with (folder / "a.csv").open("wb") as file:
        CsvBulkWriters.for_schema(schema).write(file, rows, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "RECORD_BYTES", 4)
        found = read_in_steps(source(CsvReaderFormat.for_schema(schema), folder), limits)
    assert [tuple(row) for row in found] == rows


def csv_rows(folder: Path, text: str, schema: Any) -> list[Any]:
    (folder / "a.csv").write_text(text)
    return read_at_once(source(CsvReaderFormat.for_schema(schema.build()), folder))


@given(
    st.lists(st.lists(st.text('a",\r\n ü'), min_size=3, max_size=3) | st.just([]), max_size=12),
    st.integers(1, 40),
    st.integers(1, 3),
)
def test_csv_is_read_alike_with_quotes_near_by_or_not(
    tmp_path_factory: pytest.TempPathFactory, records: list[list[str]], block: int, rows: int
) -> None:
    """X1, P11: whatever is read at a time, and however many records of it are plain lines."""
    quoted = [
        [f'"{field.replace(chr(34), 2 * chr(34))}"' if {*field} & {*'",\r\n'} else field for field in r]
        for r in records
    ]
    text = "".join(",".join(record) + "\n" for record in quoted)
    expected = [tuple(record) for record in records if record]
    schema = CsvSchema.builder().add_string_column("a").add_string_column("b").add_string_column("c").build()
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_READ_BYTES", block)
        patch.setattr(csv, "_READ_ROWS", rows)
        assert [tuple(row) for row in read_at_once(source(CsvReaderFormat.for_schema(schema), path))] == expected


def test_csv_dialects(tmp_path: Path) -> None:
    """X1: header, comments, None, separators, escapes."""
    schema = CsvSchema.builder().add_number_column("n", Types.INT()).add_string_column("s").add_boolean_column("b")
    assert csv_rows(tmp_path, "n,s,b\n1,x,true\n\n,,\n", schema.set_use_header()) == [
        Row(n=1, s="x", b=True),
        Row(n=None, s="", b=None),
    ]
    schema.set_use_header(False).set_column_separator("|").set_allow_comments().set_null_value("-").set_escape_char(
        "\\"
    )
    assert csv_rows(tmp_path, "#c\n1|a\\|b|-\n#d\n-|-|false", schema) == [
        Row(n=1, s="a|b", b=None),
        Row(n=None, s=None, b=False),
    ]
    schema.set_skip_first_data_row().disable_quote_char()
    assert csv_rows(tmp_path, 'x|y|z\n1|"|true\n', schema) == [Row(n=1, s='"', b=True)]
    assert csv_rows(tmp_path, "x|y|z\n1|a|true|9\n", schema.set_any_property_name("rest")) == [Row(n=1, s="a", b=True)]
    more = (
        CsvSchema.builder()
        .add_array_column("a", "/", Types.INT())
        .add_columns_from(CsvSchema.builder().add_array_column("c").build())
    )
    assert csv_rows(tmp_path, "1/2,x;y\n,\n", more) == [Row(a=[1, 2], c=["x", "y"]), Row(a=[], c=[])]
    assert csv_rows(tmp_path, "1,x;y\n", more.disable_array_element_separator()) == [Row(a=[1], c=["x;y"])]
    assert len(more.clear_columns()) == 0


NUMBERS = st.integers(-130, 130).map(str) | st.sampled_from(["", " ", "-", " 7", "007", "1_0", "+4", "x", "127", "128"])
TEXTS = st.sampled_from(["", "-", "a", " b ", "3"])


@given(st.lists(st.tuples(NUMBERS, TEXTS, NUMBERS).map(list) | st.tuples(NUMBERS, TEXTS).map(list)), st.booleans())
def test_columns_of_csv_are_read_as_their_fields_are(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]], null: bool
) -> None:
    """X1, P9: many records at once come to what each comes to by itself, and the first that is malformed is named."""
    schema = CsvSchema.builder().add_number_column("n", Types.BYTE()).add_string_column("s").disable_quote_char()
    schema = schema.add_number_column("m", Types.LONG())
    schema = schema.set_null_value("-") if null else schema
    folder = tmp_path_factory.mktemp("csv")
    alone: list[Any] = []
    for number, line in enumerate(lines, 1):
        try:
            alone += csv_rows(folder, ",".join(line) + "\n", schema)
        except RecordError as error:
            said = str(error).split(": ", 1)[1]
            with pytest.raises(RecordError, match=rf"line {number} .*: {re.escape(said)}"):
                csv_rows(folder, "".join(",".join(each) + "\n" for each in lines), schema)
            return
    assert csv_rows(folder, "".join(",".join(line) + "\n" for line in lines), schema) == alone


def test_csv_without_quotes_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P11"""
    monkeypatch.setattr(file_source, "_BLOCK", 3)
    schema = CsvSchema.builder().add_number_column("n").disable_quote_char().set_use_header()
    assert csv_rows(tmp_path, "n\n1\n22\n333\n", schema) == [Row(n=1), Row(n=22), Row(n=333)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,x,true\nzwei,y,true\n", r"a.csv, line 2 \(byte 9\): ValueError: field 'n': invalid literal"),
        ("1,x,maybe\n", r"line 1 \(byte 0\): ValueError: field 'b': 'maybe' is neither true nor false"),
        ("1,x,true,9\n", r"line 1 \(byte 0\): ValueError: 4 fields where 3 were expected"),
        ("1,x,true, ,\n", r"line 1 \(byte 0\): ValueError: 5 fields where 3 were expected"),
        ("1,x,true\n1,x\n", r"line 2 \(byte 9\): ValueError: 2 fields where 3 were expected"),
        ('1,"x\ny",true\n2,"x', r"line 3 \(byte 13\): Error: unexpected end of data"),
        ("99999999999,x,true\n", "99999999999 does not fit in 32 bits"),
    ],
)
def test_a_malformed_csv_record_is_named(tmp_path: Path, text: str, message: str) -> None:
    """P9"""
    schema = CsvSchema.builder().add_number_column("n", Types.INT()).add_string_column("s").add_boolean_column("b")
    with pytest.raises(RecordError, match=message):
        csv_rows(tmp_path, text, schema)


def test_csv_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    """P9"""
    (tmp_path / "a.csv").write_bytes(b"1\n2\n\xff\n")
    schema = CsvSchema.builder().add_string_column("s").build()
    with pytest.raises(RecordError, match=r"a.csv, line 3 \(byte 4\): UnicodeDecodeError: 'utf-8' codec can't decode"):
        read_at_once(source(CsvReaderFormat.for_schema(schema), tmp_path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h1,h2\nstring,123\n", [("string", 123)]),
        ("h1\nstring,123\n", [("string", 123)]),
        ("h1,h2,h3\nstring,123\n", [("string", 123)]),
        ('"h\n1",h2\nstring,123\n', [("string", 123)]),
        ("\nstring,123\n", [("string", 123)]),
        ("\ufeffh1,h2\nstring,123,\n", [("string", 123)]),
        ("h1,h2\n", []),
        ("", []),
    ],
)
def test_a_header_is_skipped_and_columns_go_by_position(
    tmp_path: Path, text: str, expected: list[tuple[Any, ...]]
) -> None:
    """X1: whatever the header says, as in PyFlink; what the records lack or have too much is still refused."""
    schema = CsvSchema.builder().add_string_column("string").add_number_column("number").set_use_header()
    assert [tuple(row) for row in csv_rows(tmp_path, text, schema)] == expected
    for line, message in (("a\n", "1 fields where 2 were expected"), ("a,1,2\n", "3 fields where 2 were expected")):
        with pytest.raises(RecordError, match=message):
            csv_rows(tmp_path, f"h1,h2,h3\n{line}", schema)


def test_a_header_in_another_order_is_warned_about(tmp_path: Path) -> None:
    """X1: PyFlink takes columns by position without a word."""
    schema = CsvSchema.builder().add_string_column("a").add_number_column("b").set_use_header()
    with pytest.warns(RuntimeWarning, match=r"a.csv: the header names the columns \['b', 'a'\].*by position, not by"):
        assert csv_rows(tmp_path, "b,a\n7,8\n", schema) == [Row(a="7", b=8)]


def test_a_byte_order_mark_is_no_part_of_the_first_field(tmp_path: Path) -> None:
    """X1"""
    schema = CsvSchema.builder().add_string_column("a").add_number_column("b")
    for text in ("\ufeffx,1\ny,2\n", '\ufeff"x",1\ny,2\n'):
        assert csv_rows(tmp_path, text, schema) == [Row(a="x", b=1), Row(a="y", b=2)]


def test_strict_headers(tmp_path: Path) -> None:
    """P9"""
    schema = CsvSchema.builder().add_number_column("n").set_use_header().set_strict_headers()
    assert csv_rows(tmp_path, "n\n1\n", schema) == [Row(n=1)]
    for header in ("n,m", " n ", ""):
        with pytest.raises(SourceError, match=r"a.csv: the header names the columns"):
            csv_rows(tmp_path, f"{header}\n1\n", schema)
    with pytest.raises(SourceError, match=r"a.csv: the header names the columns \['m'\], the schema \['n'\]"):
        csv_rows(tmp_path, "m\n1\n", schema)
    with pytest.raises(ProgramError, match="CsvSchema: column 'n' is there twice"):
        schema.add_string_column("n").build()
    with pytest.raises(ValueError, match="Column separator must be a single char, got ::"):
        schema.set_column_separator("::")


def test_json_lines(tmp_path: Path) -> None:
    """X1, F9: typed or plain; malformed lines are named, or left out if so wished."""
    (tmp_path / "a.json").write_text('{"id": 1}\n{oops\n{"id": 2}\n')
    with pytest.raises(RecordError, match=r"a.json, line 2 \(byte 10\): the message b'\{oops' cannot be read as JSON"):
        read_at_once(source(JsonReaderFormat.for_type_info(ROW), tmp_path))
    with pytest.raises(RecordError, match=r"line 2 \(byte 10\): the line b'\{oops' cannot be read as JSON"):
        read_at_once(source(JsonReaderFormat.for_type_info(), tmp_path))
    lenient = JsonReaderFormat.for_type_info(Types.ROW_NAMED(["id"], [Types.INT()]), ignore_parse_errors=True)
    assert read_at_once(source(lenient, tmp_path)) == [Row(id=1), Row(id=2)]
    plain = JsonReaderFormat.for_type_info(ignore_parse_errors=True)
    assert read_at_once(source(plain, tmp_path)) == [{"id": 1}, {"id": 2}]
    with pytest.raises(RecordError, match="field 'name' is missing"):
        read_at_once(source(JsonReaderFormat.for_type_info(ROW, fail_on_missing_field=True), tmp_path))


@pytest.mark.parametrize("name", ["avro", "parquet", "avro-parquet", "orc", "json.gz", "csv.bz2", "text.xz"])
def test_a_file_of_no_bytes_is_refused_where_none_can_be(tmp_path: Path, name: str) -> None:
    """F8: at once and in steps; a job that goes on would hide that a copy was cut short."""
    text = StreamFormat.text_line_format()
    reader = FORMATS[name.split(".")[0]][1] if not name.startswith("text") else text
    (tmp_path / f"x.{name}").touch()
    for read in (read_at_once, lambda made: read_in_steps(made, [])):
        with pytest.raises(SourceError, match=rf"x.{name} is damaged or not of this format: it is empty, and even a"):
            read(source(reader, tmp_path))


@pytest.mark.parametrize("name", ["json", "csv", "text"])
def test_a_text_of_no_bytes_has_no_records(tmp_path: Path, name: str) -> None:
    """X1"""
    reader = FORMATS[name][1] if name != "text" else StreamFormat.text_line_format()
    (tmp_path / "x").touch()
    assert read_at_once(source(reader, tmp_path)) == []
    assert read_in_steps(source(reader, tmp_path), []) == []


@pytest.mark.parametrize("name", ["avro", "parquet", "avro-parquet", "orc"])
@pytest.mark.parametrize("damage", ["empty", "cut off", "not of this format"])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, name: str, damage: str) -> None:
    """F8: never silently less."""
    write(tmp_path, FORMATS[name][0], records(500), 1, [])
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    data = path.read_bytes()
    path.write_bytes({"empty": b"", "cut off": data[: len(data) * 2 // 3]}.get(damage, b"no, not at all" * 50))
    with pytest.raises(SourceError, match=rf"{path.name} is damaged or not of this format"):
        read_at_once(source(FORMATS[name][1], tmp_path))


def test_avro_input_format(tmp_path: Path) -> None:
    """X1: PyFlink's way to read Avro."""
    write(tmp_path, FORMATS["avro"][0], records(5), 1, [])
    env = StreamExecutionEnvironment()
    made = AvroInputFormat(str(tmp_path), AVRO)
    assert made.get_produced_type().params == ROW.params
    collect(env.create_input(made), "out")
    job = local_job(env)
    job.run()
    assert by_id(job.results["out"]) == [r.as_dict() for r in records(5)]
    with pytest.raises(TypeError, match="create_input\\(\\) takes an InputFormat, got str"):
        env.create_input("x")  # type: ignore[arg-type]


def test_a_schema_file_and_a_newer_reader(tmp_path: Path) -> None:
    """X1: Avro's own rules let a reader drop fields and add ones with a default."""
    (tmp_path / "reader.avsc").write_text(
        '{"type": "record", "name": "Item", "fields": [{"name": "id", "type": "long"},'
        '{"name": "extra", "type": "int", "default": 7}]}'
    )
    schema = AvroSchema.parse_file(str(tmp_path / "reader.avsc"))
    assert json.loads(str(schema))["name"] == "Item"
    write(tmp_path / "data", FORMATS["avro"][0], records(2), 1, [])
    assert read_at_once(source(AvroReaderFormat(schema), tmp_path / "data")) == [
        {"id": 0, "extra": 7},
        {"id": 1, "extra": 7},
    ]


COLUMNS = {
    "a": Types.BIG_INT(),
    "b": Types.BIG_DEC(),
    "c": Types.SQL_TIMESTAMP(),
    "d": Types.MAP(Types.STRING(), Types.INT()),
    "e": Types.TUPLE([Types.INT(), Types.STRING()]),
    "f": Types.ROW_NAMED(["x"], [Types.LIST(Types.DOUBLE())]),
    "g": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "h": Types.SQL_DATE(),
}
FULL = (
    10**30,
    Decimal("1.25"),
    datetime.datetime(2024, 1, 2, 3, 4, 5, 678000),
    {"k": 1},
    (1, "x"),
    Row(x=[1.5]),
    b"\x00",
    datetime.date(2024, 1, 1),
)


@pytest.mark.parametrize("name", ["parquet", "orc"])
def test_types_of_columns_come_back(tmp_path: Path, name: str) -> None:
    """P7"""
    info = Types.ROW_NAMED(list(COLUMNS), list(COLUMNS.values()))
    bulk: Any = ParquetBulkWriters if name == "parquet" else OrcBulkWriters
    values = [FULL, (None,) * len(FULL)]
    write(tmp_path, bulk.for_row_type(info), values, 1, [])
    reader: Any = ParquetColumnarRowInputFormat if name == "parquet" else OrcColumnarRowInputFormat
    assert [tuple(r) for r in read_at_once(source(reader(info), tmp_path))] == values
    (whole, _) = read_at_once(source(reader(), tmp_path))
    assert (whole.c, whole.d, whole.f.x) == (FULL[2], FULL[3], [1.5])


def test_columns_are_found_by_name(tmp_path: Path) -> None:
    """X1: in any order, in any case if so wished; one that is missing is None, none at all is refused."""
    parquet.write_table(pyarrow.table({"B": [1], "a": ["x"], "z": [0]}), tmp_path / "p")
    info = Types.ROW_NAMED(["a", "b", "c"], [Types.STRING(), Types.LONG(), Types.INT()])
    assert read_at_once(source(ParquetColumnarRowInputFormat(info), tmp_path)) == [Row(a="x", b=None, c=None)]
    loose = ParquetColumnarRowInputFormat(info, Configuration(), 10, False, False)
    assert read_at_once(source(loose, tmp_path)) == [Row(a="x", b=1, c=None)]
    other = ParquetColumnarRowInputFormat(Types.ROW_NAMED(["q"], [Types.INT()]))
    with pytest.raises(SourceError, match=r"p has the columns \['B', 'a', 'z'\], none of \['q'\]"):
        read_at_once(source(other, tmp_path))


def test_what_orc_has_not_is_refused(tmp_path: Path) -> None:
    """P9"""
    sink = OrcBulkWriters.for_row_type(Types.ROW_NAMED(["t"], [Types.SQL_TIME()]))
    with pytest.raises(RecordError, match=r"records cannot be written as ORC: column '\w+': "):
        write(tmp_path, sink, [(datetime.time(1),)], 1, [])
    with pytest.raises(TypeError, match="row_type must be an instance of RowType"):
        OrcBulkWriters.for_row_type("x")  # type: ignore[arg-type]


def test_settings_without_effect_are_said_so(tmp_path: Path) -> None:
    """P12"""
    config = Configuration({"fs.s3a.endpoint": "x"})
    forget_warnings()
    with pytest.warns(
        UserWarning, match=r"ParquetBulkWriters.hadoop_config has no effect: files are read and written wi"
    ):
        ParquetBulkWriters.for_row_type(ROW, hadoop_config=config)
    properties = Configuration({"orc.compress": "ZLIB", "orc.stripe.size": "65536", "orc.bloom": "1"})
    with pytest.warns(
        UserWarning, match=r"OrcBulkWriters.writer_properties has no effect: of ORC's own orc.compress, "
    ):
        bulk = OrcBulkWriters.for_row_type(ROW, properties)
    write(tmp_path, bulk, records(3), 1, [])
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert orc.ORCFile(str(path)).compression == "ZLIB"


def test_text_and_bulk_formats_are_files_formats() -> None:
    """X1: one contract for all of them."""
    assert all(isinstance(reader, files.FileFormat) for _, reader in FORMATS.values())
    assert isinstance(AvroParquetReaders.for_generic_record(AVRO), StreamFormat)
    assert avro.AvroReaderFormat.for_generic_record().splittable("x.gz")


def test_row_types_under_the_table_api_s_names(tmp_path: Path) -> None:
    """P7: a program that says DataTypes needs only its import changed."""
    row_type = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.BIGINT()),
            DataTypes.FIELD("name", DataTypes.STRING()),
            DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING())),
        ]
    )
    assert row_type == ROW
    write(tmp_path, ParquetBulkWriters.for_row_type(row_type, Configuration(), True), records(3), 1, [])
    assert read_at_once(source(ParquetColumnarRowInputFormat(row_type), tmp_path)) == records(3)
    schema = CsvSchema.builder().add_number_column("n", number_type=DataTypes.INT()).build()
    assert schema.type_info == Types.ROW_NAMED(["n"], [Types.INT()])
    assert DataTypes.MAP(DataTypes.VARCHAR(3), DataTypes.BYTES()) == Types.MAP(
        Types.STRING(), Types.PRIMITIVE_ARRAY(Types.BYTE())
    )
    forget_warnings()
    with pytest.warns(UserWarning, match="DataTypes.nullable has no effect: a column may hold None"):
        DataTypes.INT(False)
