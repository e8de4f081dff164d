"""Serialization schemas: what is written is read back, what does not fit is refused by name (X1, X2, P7)."""

import csv
import datetime
import io
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, TypeInformation, Types
from penstock.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringSchema,
)
from penstock.core.errors import ProgramError, RecordError
from penstock.datastream.formats.avro import AvroRowDeserializationSchema, AvroRowSerializationSchema
from penstock.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from penstock.datastream.formats.json import JsonReaderFormat, JsonRowDeserializationSchema, JsonRowSerializationSchema
from tests.connectors.formats.typed import SCALARS, TEXT, Typed, mystery, named, nested, rows


def json_pair(info: TypeInformation) -> tuple[SerializationSchema, DeserializationSchema]:
    return (
        JsonRowSerializationSchema.builder().with_type_info(info).build(),
        JsonRowDeserializationSchema.builder().type_info(info).fail_on_missing_field().build(),
    )


@given(nested(), st.data())
def test_json_comes_back(typed: Typed, data: st.DataObject) -> None:
    """P7: every type, at any depth; the text is JSON."""
    info, values = typed
    value = data.draw(values)
    write, read = json_pair(info)
    message = write.serialize(value)
    assert message is not None
    assert list(json.loads(message)) == list(info.field_names)
    assert read.deserialize(message) == value
    assert read.get_produced_type() == info


@given(st.lists(st.sampled_from(SCALARS), min_size=1, max_size=4).map(rows), st.data())
def test_csv_comes_back(typed: Typed, data: st.DataObject) -> None:
    """P7: with a literal for None, all of it; the fields are those Python's own reader sees."""
    info, values = typed
    value = data.draw(values)
    marks = data.draw(st.sampled_from([(",", '"'), ("|", "'"), ("\t", '"')]))
    write = CsvRowSerializationSchema.Builder(info).set_field_delimiter(marks[0]).set_quote_character(marks[1])
    read = CsvRowDeserializationSchema.Builder(info).set_field_delimiter(marks[0]).set_quote_character(marks[1])
    message = write.set_null_literal("\\N").build().serialize(value)
    assert read.set_null_literal("\\N").build().deserialize(message) == value
    (parsed,) = csv.reader(io.StringIO(message.decode(), newline=""), delimiter=marks[0], quotechar=marks[1])
    assert len(parsed) == len(value)


def avro_type(info: TypeInformation, names: Any) -> Any:
    simple = {
        "STRING": "string", "CHAR": "string", "BOOLEAN": "boolean", "INT": "int", "LONG": "long", "FLOAT": "float",
        "DOUBLE": "double", "PRIMITIVE_ARRAY": "bytes",
        "SQL_DATE": {"type": "int", "logicalType": "date"},
        "SQL_TIME": {"type": "long", "logicalType": "time-micros"},
        "SQL_TIMESTAMP": {"type": "long", "logicalType": "timestamp-micros"},
        "BIG_DEC": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 6},
    }  # fmt: skip
    if info.name in simple:
        return simple[info.name]
    if info.name == "LIST":
        return {"type": "array", "items": ["null", avro_type(info.params[0], names)]}
    if info.name == "MAP":
        return {"type": "map", "values": ["null", avro_type(info.params[1], names)]}
    fields = zip(info.field_names, info.params, strict=True)
    record = f"R{next(names)}"
    return {
        "type": "record",
        "name": record,
        "fields": [{"name": n, "type": ["null", avro_type(t, names)]} for n, t in fields],
    }


AVRO_SCALARS = [s for s in SCALARS if s[0].name not in ("BYTE", "SHORT", "BIG_INT", "INSTANT")]


@given(nested(AVRO_SCALARS, with_tuples=False), st.data())
def test_avro_comes_back(typed: Typed, data: st.DataObject) -> None:
    """P7: nested records are rows; a moment without an offset is UTC."""
    info, values = typed
    value = data.draw(values)
    schema = json.dumps(avro_type(info, iter(range(1000))))
    message = AvroRowSerializationSchema(avro_schema_string=schema).serialize(value)
    read = AvroRowDeserializationSchema(avro_schema_string=schema)
    assert read.deserialize(message) == value
    assert read.deserialize(None) is None


def test_a_moment_without_offset_is_utc_in_avro() -> None:
    """P7: whatever the machine's time zone."""
    field = {"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}}
    schema = json.dumps({"type": "record", "name": "R", "fields": [field]})
    message = AvroRowSerializationSchema(avro_schema_string=schema).serialize((datetime.datetime(1970, 1, 2),))
    stated = AvroRowSerializationSchema(
        avro_schema_string=json.dumps({"type": "record", "name": "R", "fields": [{"name": "t", "type": "long"}]})
    )
    assert message == stated.serialize((86_400_000,))


@given(TEXT)
def test_strings_and_bytes_come_back(text: str) -> None:
    """X1"""
    for charset in ("UTF-8", "UTF-16"):
        schema = SimpleStringSchema(charset)
        assert schema.deserialize(schema.serialize(text)) == text
    assert ByteArraySchema().deserialize(ByteArraySchema().serialize(text.encode())) == text.encode()


@dataclass
class Point:
    c0: int
    c1: str


PAIR = Types.ROW_NAMED(["c0", "c1"], [Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    "record", [Row(1, "x"), Row(c1="x", c0=1), (1, "x"), [1, "x"], {"c1": "x", "c0": 1}, Point(1, "x")]
)
def test_records_of_all_kinds_have_fields(record: Any) -> None:
    """P7"""
    write, read = json_pair(PAIR)
    assert read.deserialize(write.serialize(record)) == Row(c0=1, c1="x")
    assert CsvRowSerializationSchema.Builder(PAIR).build().serialize(record) == b"1,x\n"


_JSON_TEXT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
).map(json.dumps)
_CODECS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be", "latin-1"])


@given(_JSON_TEXT, st.sampled_from(["", " ", "\t\n", ",1", "}", "\x00"]), st.sampled_from(["", " \r"]), _CODECS)
def test_any_message_is_parsed_as_the_standard_library_does(value: str, after: str, before: str, codec: str) -> None:
    """P7: blanks around it, other encodings, what is no JSON."""
    message = (before + value + after).encode(codec)
    try:
        expected = repr(json.loads(message))
    except ValueError:
        with pytest.raises(RecordError, match="cannot be read as JSON"):
            JsonReaderFormat.for_type_info().decode(message)
    else:
        assert repr(JsonReaderFormat.for_type_info().decode(message)) == expected


def test_json_is_read_leniently() -> None:
    """X1: as Jackson does; numbers may be text, what is not asked for is left out, what is missing is None."""
    info = Types.ROW_NAMED(["i", "s", "b", "d"], [Types.INT(), Types.STRING(), Types.BOOLEAN(), Types.BIG_DEC()])
    read = JsonRowDeserializationSchema.builder().type_info(info).build()
    found = read.deserialize(b'{"i": "7", "s": {"deep": [1]}, "b": "TRUE", "d": 0.1000000000000000000001, "x": 1}')
    assert found == Row(i=7, s='{"deep": [1]}', b=True, d=Decimal("0.1000000000000000000001"))
    assert read.deserialize(b"{}") == Row(i=None, s=None, b=None, d=None)
    assert read.deserialize(None) is None


def test_parse_errors_can_be_ignored() -> None:
    """F9: a message that is none is left out, a field that does not fit is None."""
    read = JsonRowDeserializationSchema.builder().type_info(PAIR).ignore_parse_errors().build()
    assert read.deserialize(b"{oops") is None
    assert read.deserialize(b'{"c0": "x", "c1": "y"}') == Row(c0=None, c1="y")
    lines = CsvRowDeserializationSchema.Builder(PAIR).set_ignore_parse_errors(True).set_allow_comments(True).build()
    assert [lines.deserialize(m) for m in (b"x,y", b"1", b"1,y", b"# 1,y")] == [None, None, Row(c0=1, c1="y"), None]


def test_csv_of_arrays_and_nested_rows() -> None:
    """P7"""
    info = Types.ROW_NAMED(
        ["a", "r"], [Types.LIST(Types.INT()), Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.INT()])]
    )
    value = named(["a", "r"], ([1, 2], Row(x=3, y=4)))
    write = CsvRowSerializationSchema.Builder(info).set_array_element_delimiter(":").set_line_delimiter("").build()
    assert write.serialize(value) == b"1:2,3:4"
    read = CsvRowDeserializationSchema.Builder(info).set_array_element_delimiter(":").build()
    assert read.deserialize(b"1:2,3:4") == value


def test_csv_with_an_escape_character_and_without_quotes() -> None:
    """X2"""
    write = CsvRowSerializationSchema.Builder(PAIR).disable_quote_character().set_escape_character("\\").build()
    assert write.serialize((1, "x,y")) == b"1,x\\,y\n"
    read = CsvRowDeserializationSchema.Builder(PAIR).set_escape_character("\\").build()
    assert read.deserialize(b"1,x\\,y") == Row(c0=1, c1="x,y")


def test_a_json_schema_describes_a_row() -> None:
    """X1"""
    schema = """{"type": "object", "properties": {
        "id": {"type": "integer"}, "price": {"type": ["number", "null"]}, "on": {"type": "boolean"},
        "day": {"type": "string", "format": "date"}, "raw": {"type": "string", "contentEncoding": "base64"},
        "tags": {"type": "array", "items": {"type": "string"}}, "pair": {"type": "array",
        "items": [{"type": "string"}, {"type": "integer"}]}, "again": {"$ref": "#/definitions/point"}},
        "definitions": {"point": {"type": "object", "properties": {"x": {"type": "number"}}}}}"""
    read = JsonRowDeserializationSchema.builder().json_schema(schema).build()
    assert read.get_produced_type() == Types.ROW_NAMED(
        ["id", "price", "on", "day", "raw", "tags", "pair", "again"],
        [
            Types.BIG_INT(),
            Types.BIG_DEC(),
            Types.BOOLEAN(),
            Types.SQL_DATE(),
            Types.PRIMITIVE_ARRAY(Types.BYTE()),
            Types.OBJECT_ARRAY(Types.STRING()),
            Types.TUPLE([Types.STRING(), Types.BIG_INT()]),
            Types.ROW_NAMED(["x"], [Types.BIG_DEC()]),
        ],
    )
    assert read.deserialize(b'{"pair": ["a", 1], "raw": "eA=="}').raw == b"x"


MYSTERY = mystery()
TAGS = Types.ROW([Types.LIST(Types.STRING())])


def json_builder() -> JsonRowDeserializationSchema.Builder:
    return JsonRowDeserializationSchema.builder().type_info(PAIR)


AVRO = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}'


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: json_pair(PAIR)[1].deserialize(b"{oops"), RecordError, r"b'\{oops' cannot be read as JSON: Expecting"),
        (lambda: json_pair(PAIR)[1].deserialize(b"[1]"), RecordError, r"\[1\] is not an object"),
        (lambda: json_pair(PAIR)[1].deserialize(b'{"c0": 1}'), RecordError, "field 'c1' is missing"),
        (
            lambda: json_pair(PAIR)[1].deserialize(b'{"c0": 3000000000, "c1": ""}'),
            RecordError,
            "field 'c0': 3000000000 does not fit in 32 bits",
        ),
        (lambda: json_pair(PAIR)[0].serialize((1, 2)), RecordError, "field 'c1': 2 is a int"),
        (lambda: json_pair(PAIR)[0].serialize((1,)), RecordError, "has 1 fields, the schema 2"),
        (lambda: json_pair(PAIR)[0].serialize({"z": 1}), RecordError, r"has fields \['z'\] that the schema"),
        (lambda: json_pair(PAIR)[0].serialize(5), RecordError, "cannot be written as JSON: it must have fields"),
        (lambda: json_pair(MYSTERY), ProgramError, "JSON has no form for "),
        (lambda: CsvRowSerializationSchema.Builder(MYSTERY).build(), ProgramError, "CSV has no form"),
        (
            lambda: CsvRowSerializationSchema.Builder(PAIR).disable_quote_character().build().serialize((1, "x,y")),
            RecordError,
            "the field 'x,y' holds ',', and neither a quote nor an escape character is set",
        ),
        (
            lambda: CsvRowDeserializationSchema.Builder(PAIR).build().deserialize(b"1"),
            RecordError,
            "b'1' cannot be read as CSV: 1 fields where 2 were expected",
        ),
        (
            lambda: CsvRowDeserializationSchema.Builder(PAIR).build().deserialize(b"x,y"),
            RecordError,
            "cannot be read as CSV: field 'c0': invalid literal",
        ),
        (
            lambda: CsvRowSerializationSchema.Builder(TAGS).build().serialize((["a;b"],)),
            RecordError,
            "the element 'a;b' holds the separator ';' of elements",
        ),
        (lambda: CsvRowDeserializationSchema.Builder(None), TypeError, "Type information must not be None"),
        (lambda: JsonRowSerializationSchema.builder().build(), TypeError, "Typeinfo should be set"),
        (
            lambda: json_builder().fail_on_missing_field().ignore_parse_errors().build(),
            ProgramError,
            "cannot both fail_on_missing_field",
        ),
        (
            lambda: JsonRowDeserializationSchema.builder().json_schema('{"type": "planet"}'),
            ProgramError,
            "<root> has the type 'planet'",
        ),
        (lambda: AvroRowDeserializationSchema(), TypeError, "record_class or avro_schema_string should be specified"),
        (lambda: AvroRowSerializationSchema("my.Record"), ProgramError, "'my.Record' is a class of the JVM; give avro"),
        (lambda: AvroRowSerializationSchema(avro_schema_string="{"), ProgramError, "is not JSON"),
        (lambda: AvroRowSerializationSchema(avro_schema_string='"planet"'), ProgramError, "is not valid: .*planet"),
        (
            lambda: AvroRowSerializationSchema(avro_schema_string=AVRO).serialize(("x",)),
            RecordError,
            r"the record \('x',\) cannot be written as Avro",
        ),
        (
            lambda: AvroRowDeserializationSchema(avro_schema_string=AVRO).deserialize(b""),
            RecordError,
            "b'' cannot be read as Avro",
        ),
        (
            lambda: AvroRowDeserializationSchema(avro_schema_string=AVRO).deserialize(b"\x02\x02"),
            RecordError,
            r"1 byte\(s\) are left over",
        ),
        (lambda: SimpleStringSchema().serialize(1), RecordError, "SimpleStringSchema takes strings, got the int 1"),
        (lambda: SimpleStringSchema().deserialize(b"\xff"), RecordError, "cannot be read as text: .*0xff"),
        (lambda: SimpleStringSchema("klingon"), ProgramError, "unknown encoding: klingon"),
        (lambda: SimpleStringSchema("ascii").serialize("ü"), RecordError, "'ü' cannot be written"),
        (lambda: ByteArraySchema().serialize("x"), RecordError, "ByteArraySchema takes bytes, got the str 'x'"),
        (lambda: RowFieldExtractorSchema(-1), ValueError, "Field index must be non-negative, got: -1"),
        (lambda: RowFieldExtractorSchema(1).serialize((b"",)), RecordError, r"\(b'',\) has no field 1"),
        (lambda: RowFieldExtractorSchema(0).serialize(("x",)), RecordError, "is a str: RowFieldExtractorSchema takes"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(call: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        call()


def test_a_field_that_is_none_has_no_bytes() -> None:
    """X5: as in PyFlink, and so has a record that is None."""
    schema = RowFieldExtractorSchema(0)
    assert schema.serialize(None) == b""
    assert schema.serialize(Row(None, 1)) == b""
    assert schema.serialize((None,)) == b""
    assert schema.serialize((b"x",)) == b"x"
