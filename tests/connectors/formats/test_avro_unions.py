"""Avro's null fields and unions of several types, and values that fit nowhere (X1, X2, P9)."""

import datetime
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow.parquet
import pytest

from penstock.common import Row, Types
from penstock.core.errors import ProgramError, RecordError
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink, FileSource
from penstock.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from penstock.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters
from penstock.testing import collect, local_job

POINT = {"type": "record", "name": "Point", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}]}
DAY = {"type": "int", "logicalType": "date"}
MOMENT = {"type": "long", "logicalType": "timestamp-micros"}
SUIT = {"type": "enum", "name": "Suit", "symbols": ["HEARTS", "CLUBS"]}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1}


def schema_of(**fields: Any) -> AvroSchema:
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return AvroSchema.parse_string(json.dumps({"type": "record", "name": "R", "fields": listed}))


NUMBERS = schema_of(none="null", union=["int", "double", "null"])
RECORDS = [{"none": None, "union": 1}, {"none": None, "union": 2.5}, {"none": None, "union": None}]
WIDE = [
    "null", "boolean", "int", "long", "double", "string", PRICE, POINT,
    {"type": "array", "items": "int"}, {"type": "map", "values": ["null", "int", "string"]},
]  # fmt: skip
LOGICAL = ["null", DAY, MOMENT, SUIT, {"type": "fixed", "name": "Two", "size": 2}, "bytes"]
VALUES = [
    *((WIDE, v) for v in (None, True, 5, 2**40, 1.5, "text", Decimal("1.5"), Row(x=1, y=2), [1, 2])),
    (WIDE, {"a": 1, "b": "two", "c": None}),
    (LOGICAL, datetime.date(2024, 1, 2)),
    (LOGICAL, datetime.datetime(2024, 1, 2, 3)),
    *((LOGICAL, v) for v in ("CLUBS", b"ab", b"abc")),
]


def written(folder: Path, factory: Any, records: list[Any], schema: AvroSchema) -> Path:
    env = StreamExecutionEnvironment()
    stream = env.from_collection(records).map(lambda e: e, output_type=GenericRecordAvroTypeInfo(schema))
    stream.sink_to(FileSink.for_bulk_format(str(folder), factory).build())
    local_job(env).run()
    (path,) = [p for p in folder.rglob("*") if p.is_file()]
    return path


def test_avro_files_of_null_fields_and_unions(tmp_path: Path) -> None:
    """X1, X2: as Avro's own readers see them, and through both of ours."""
    path = written(tmp_path, AvroBulkWriters.for_generic_record(NUMBERS), RECORDS, NUMBERS)
    with path.open("rb") as file:
        assert list(fastavro.reader(file)) == RECORDS
    env = StreamExecutionEnvironment()
    collect(env.create_input(AvroInputFormat(str(path), NUMBERS)).map(lambda e: e), "out")
    job = local_job(env)
    job.run()
    assert job.results["out"] == RECORDS
    assert read(AvroReaderFormat.for_generic_record(), path) == RECORDS


def read(fmt: Any, path: Path) -> list[Any]:
    source = FileSource.for_bulk_file_format(fmt, str(path)).build()
    splits = source.split_count(1, one_batch=True)
    return [v for s in range(splits) for vs, _ in source.read(s, splits, source.initial(s, splits), None) for v in vs]


def test_parquet_files_of_null_fields_and_unions(tmp_path: Path) -> None:
    """X1, X2: laid out as parquet-avro does, a column for each type of a union and none for null."""
    path = written(tmp_path, AvroParquetWriters.for_generic_record(NUMBERS), RECORDS, NUMBERS)
    assert pyarrow.parquet.read_table(path).to_pylist() == [
        {"union": {"member0": 1, "member1": None}},
        {"union": {"member0": None, "member1": 2.5}},
        {"union": None},
    ]
    assert read(AvroParquetReaders.for_generic_record(NUMBERS), path) == RECORDS


def test_parquet_of_unions_inside_of_others(tmp_path: Path) -> None:
    """X1, X2"""
    schema = schema_of(
        many={"type": "array", "items": ["int", "string"]},
        by={"type": "map", "values": ["null", POINT, "string"]},
        last=["null", "Point"],
    )
    record = {
        "many": [1, "a"],
        "by": {"p": {"x": 1, "y": 2}, "s": "t", "n": None},
        "last": {"x": 3, "y": 4},
    }
    given = {**record, "last": Row(x=3, y=4), "by": {"p": Row(x=1, y=2), "s": "t", "n": None}}
    path = written(tmp_path, AvroParquetWriters.for_generic_record(schema), [given], schema)
    assert read(AvroParquetReaders.for_generic_record(schema), path) == [record]
    with pytest.raises(ProgramError, match="Parquet has no column for Avro's null"):
        AvroParquetWriters.for_generic_record(schema_of(a={"type": "array", "items": "null"}))


@pytest.mark.parametrize(("union", "value"), VALUES, ids=repr)
def test_messages_of_a_wide_union_come_back(union: list[Any], value: Any) -> None:
    """P7: each value in the branch of its type, rows as rows."""
    definition = str(schema_of(none="null", u=union))
    message = AvroRowSerializationSchema(avro_schema_string=definition).serialize(Row(none=None, u=value))
    assert AvroRowDeserializationSchema(avro_schema_string=definition).deserialize(message) == Row(none=None, u=value)
    raw = fastavro.schemaless_reader(io.BytesIO(message), fastavro.parse_schema(json.loads(definition)), None)
    assert raw["u"] == (value.as_dict() if isinstance(value, Row) else _aware(value))  # type: ignore[index]


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=datetime.UTC) if isinstance(value, datetime.datetime) else value


def test_a_whole_number_goes_where_only_fractions_are_foreseen() -> None:
    """P7"""
    schema = AvroRowSerializationSchema(avro_schema_string=str(schema_of(u=["null", "string", "double"])))
    read = AvroRowDeserializationSchema(avro_schema_string=str(schema_of(u=["null", "string", "double"])))
    assert read.deserialize(schema.serialize((1,))) == Row(u=1.0)


def test_types_of_null_fields_and_unions() -> None:
    """X5"""
    made = GenericRecordAvroTypeInfo(NUMBERS)
    assert made.field_names == ("none", "union")
    assert made.params == (Types.PICKLED_BYTE_ARRAY(), Types.PICKLED_BYTE_ARRAY())


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"a": 1, "none": 3}, r"field 'none': 3 \(int\) where the schema has null, which holds None alone"),
        ({"a": 1, "u": "x"}, r"field 'u': 'x' \(str\) belongs to none of int, double"),
        ({"a": 1, "u": True}, r"field 'u': True \(bool\) belongs to none of int, double"),
        ({"a": 2**31}, r"field 'a': 2147483648 \(int\) is not a whole number that fits in Avro's int"),
        ({"a": True}, r"field 'a': True \(bool\) is not a whole number that fits in Avro's int"),
        ({"a": "x"}, r"field 'a': 'x' \(str\) is not a whole number"),
        ({"a": None}, "on field a"),
        ({"a": 1, "p": {"x": 1, "y": "no"}}, r"field 'p': field 'y': 'no' \(str\) is not a whole number"),
        ({"a": 1, "s": 5}, "on field s"),
    ],
)
def test_the_record_and_field_that_does_not_fit_are_named(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    """P9: in messages and in files; nothing is written as something else."""
    point = {**POINT, "fields": POINT["fields"]}
    schema = schema_of(a="int", none="null", u=["int", "double", "null"], p=["null", point], s=["null", "string"])
    with pytest.raises(RecordError, match=rf"the record \{{'a': .* cannot be written as Avro: .*{message}"):
        AvroRowSerializationSchema(avro_schema_string=str(schema)).serialize(record)
    with (tmp_path / "x.avro").open("wb") as file, pytest.raises(RecordError, match=message):
        AvroBulkWriters.for_generic_record(schema).write(file, [record], None)
