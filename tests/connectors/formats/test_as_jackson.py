"""CSV and JSON text is what Jackson writes, so that readers of PyFlink's output read ours (X2, X5).

What is expected here was written by PyFlink 2.3.
"""

import datetime
import io
import struct
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Encoder, Row, TypeInformation, Types
from penstock.core.errors import RecordError
from penstock.datastream.formats.csv import (
    CsvBulkWriters,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
)
from penstock.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

TWO = Types.ROW([Types.STRING(), Types.STRING()])


def csv_text(info: TypeInformation, *values: Any, marked: bool = False) -> str:
    builder = CsvRowSerializationSchema.Builder(info)
    if marked:
        builder.set_escape_character("*").set_quote_character("'").set_array_element_delimiter(":")
        builder.set_field_delimiter(";")
    return builder.build().serialize(Row(*values)).decode()


def json_text(info: TypeInformation, *values: Any) -> str:
    named = Types.ROW_NAMED([f"f{i}" for i in range(len(info.params))], list(info.params))
    return JsonRowSerializationSchema.builder().with_type_info(named).build().serialize(Row(*values)).decode()


@pytest.mark.parametrize(
    ("values", "plain", "marked"),
    [
        (("BEGIN", "123'4*"), 'BEGIN,"123\'4*"', "BEGIN;'123''4**'"),
        (("a;b", "c"), "a;b,c", "'a;b';c"),
        (("a,b", "c"), '"a,b",c', "'a,b';c"),
        (("x y", "z"), '"x y",z', "'x y';z"),
        (("", None), ",", ";"),
        (('say "hi"', "q"), '"say ""hi""",q', "'say \"hi\"';q"),
        (("new\nline", "cr\rx"), '"new\nline","cr\rx"', "'new\nline';'cr\rx'"),
        ((" lead", "trail "), '" lead","trail "', "' lead';'trail '"),
        (("a" * 24, "b" * 25), f'{"a" * 24},"{"b" * 25}"', f"{'a' * 24};'{'b' * 25}'"),
        (("😀" * 12, "😀" * 13), f'{"😀" * 12},"{"😀" * 13}"', f"{'😀' * 12};'{'😀' * 13}'"),
        (("a.b", "a-b"), "a.b,a-b", "'a.b';'a-b'"),
        (("a:b", "ü"), "a:b,ü", "'a:b';ü"),
        (("it's", "(x)"), '"it\'s","(x)"', "'it''s';'(x)'"),
        (("a+b", "#x"), '"a+b","#x"', "'a+b';'#x'"),
        (("A", "~"), "A,~", "A;~"),
        (("1:hello", "null"), "1:hello,null", "'1:hello';null"),
        (("tab\tx", "\\"), '"tab\tx","\\"', "'tab\tx';\\"),
        (("*", "+"), '"*","+"', "'**';'+'"),
    ],
)
def test_csv_is_quoted_as_jackson_quotes_it(values: tuple[Any, ...], plain: str, marked: str) -> None:
    """X2: short text of harmless characters is bare, all other text has quotes."""
    assert csv_text(TWO, *values) == f"{plain}\n"
    assert csv_text(TWO, *values, marked=True) == f"{marked}\n"


def test_csv_fields_that_are_not_text_are_bare() -> None:
    """X2: numbers, booleans and None; nested values are one text."""
    assert csv_text(Types.ROW([Types.LONG(), Types.BOOLEAN(), Types.INT()]), -1, True, None) == "-1,true,\n"
    numbers = Types.ROW([Types.INT(), Types.DOUBLE(), Types.BIG_DEC()])
    assert csv_text(numbers, 12, 0.5, Decimal("1E+3"), marked=True) == "12;0.5;1E+3\n"
    nested = Types.ROW([Types.ROW([Types.STRING(), Types.STRING()]), Types.STRING()])
    assert csv_text(nested, Row("1", "hello"), "z") == "1;hello,z\n"
    assert csv_text(nested, Row("1", "hello world"), "z", marked=True) == "'1:hello world';z\n"
    assert csv_text(Types.ROW([Types.LIST(Types.STRING()), Types.STRING()]), ["a b", "x"], "z") == '"a b;x",z\n'
    builder = CsvRowSerializationSchema.Builder(TWO)
    assert builder.set_null_literal("n/a").build().serialize((None, "x")) == b"n/a,x\n"


def test_csv_dates_and_times_are_those_of_java_sql() -> None:
    """X2: and they come back."""
    info = Types.ROW([Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()])
    read = CsvRowDeserializationSchema.Builder(info).build()
    day, time = datetime.date(2024, 1, 2), datetime.time(3, 4, 5)
    for micros, shown in ((678_000, "678"), (0, "0"), (1, "000001"), (100_000, "1")):
        values = (day, time, datetime.datetime.combine(day, time).replace(microsecond=micros))
        text = f'2024-01-02,03:04:05,"2024-01-02 03:04:05.{shown}"\n'
        assert csv_text(info, *values) == text
        assert tuple(read.deserialize(text.encode())) == values


DOUBLES = {
    3e38: "3.0E38",
    2e-308: "2.0E-308",
    1.0: "1.0",
    0.1: "0.1",
    1e7: "1.0E7",
    9999999.5: "9999999.5",
    1e-3: "0.001",
    0.00099: "9.9E-4",
    123456789012.0: "1.23456789012E11",
    -0.0: "-0.0",
    4.9e-324: "4.9E-324",
    2.2250738585072014e-308: "2.2250738585072014E-308",
    1e22: "1.0E22",
    1.1e23: "1.1E23",
    -12345678.9: "-1.23456789E7",
    100.0: "100.0",
    1e16: "1.0E16",
    1e-5: "1.0E-5",
    float("nan"): "NaN",
    float("inf"): "Infinity",
    float("-inf"): "-Infinity",
}
FLOATS = {
    3e38: "3.0E38",
    1.0: "1.0",
    0.1: "0.1",
    1e7: "1.0E7",
    9999999.0: "9999999.0",
    1e-3: "0.001",
    0.00099: "9.9E-4",
    16777216.0: "1.6777216E7",
    3.4e-45: "2.8E-45",
    33554432.0: "3.3554432E7",
    1 / 3: "0.33333334",
    2e10: "2.0E10",
}


@pytest.mark.parametrize(
    ("info", "number", "text"),
    [(Types.DOUBLE(), n, t) for n, t in DOUBLES.items()] + [(Types.FLOAT(), n, t) for n, t in FLOATS.items()],
)
def test_numbers_with_a_point_are_written_as_java_writes_them(info: TypeInformation, number: float, text: str) -> None:
    """X2"""
    assert csv_text(Types.ROW([info]), number) == f"{text}\n"
    assert json_text(Types.ROW([info]), number) == '{"f0":%s}' % (text if text[-1].isdigit() else f'"{text}"')


@given(st.floats(width=32, allow_nan=False) | st.floats(width=32, max_value=2.0**-120, min_value=-(2.0**-120)))
def test_a_float_comes_back_as_the_same_32_bits(number: float) -> None:
    """P7: the shortest text of it."""
    row = Types.ROW([Types.FLOAT()])
    text = csv_text(row, number)
    assert CsvRowDeserializationSchema.Builder(row).build().deserialize(text.encode()) == Row(f0=number)
    assert struct.pack("f", float(text.replace("Infinity", "inf"))) == struct.pack("f", number)


@given(st.floats(allow_nan=False))
def test_a_double_comes_back(number: float) -> None:
    """P7"""
    row = Types.ROW([Types.DOUBLE()])
    text = csv_text(row, number)
    assert CsvRowDeserializationSchema.Builder(row).build().deserialize(text.encode()) == Row(f0=number)


def test_a_float_has_32_bits() -> None:
    """P7: as in PyFlink; one that does not fit is refused."""
    row = Types.ROW_NAMED(["f"], [Types.FLOAT()])
    read = JsonRowDeserializationSchema.builder().type_info(row).build()
    assert read.deserialize(b'{"f": 0.1}') == Row(f=0.10000000149011612)
    assert CsvRowDeserializationSchema.Builder(row).build().deserialize(b"0.1") == Row(f=0.10000000149011612)
    with pytest.raises(RecordError, match=r"field 'f': 1e\+39 does not fit in a 32-bit float"):
        read.deserialize(b'{"f": 1e39}')
    with pytest.raises(RecordError, match=r"field 'f': 1e\+39 does not fit in a 32-bit float"):
        CsvRowSerializationSchema.Builder(row).build().serialize((1e39,))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ü€😀", '"ü€\\uD83D\\uDE00"'),
        ("\u2028", '"\u2028"'),
        ('a/b"\\', '"a/b\\"\\\\"'),
        ("\x01\x1f\x7f\t", '"\\u0001\\u001F\x7f\\t"'),
        ("\\u00ab", '"\\\\u00ab"'),
        ("<x>", '"<x>"'),
        (None, "null"),
    ],
)
def test_json_text_is_jacksons(value: str | None, text: str) -> None:
    """X2: no blanks, the same characters escaped."""
    assert json_text(Types.ROW([Types.STRING(), Types.INT()]), value, 1) == f'{{"f0":{text},"f1":1}}'


def test_json_of_nested_values_has_no_blanks() -> None:
    """X2"""
    info = Types.ROW([Types.MAP(Types.STRING(), Types.INT()), Types.LIST(Types.INT()), Types.TUPLE([Types.INT()] * 2)])
    assert json_text(info, {"k": 1, "l": None}, [1, 2], (3, 4)) == '{"f0":{"k":1,"l":null},"f1":[1,2],"f2":[3,4]}'
    assert Encoder.json_encoder().encode(Row(a=[1, 2])) == b'{"a":[1,2]}\n'


def bulk(schema: Any, *records: Any) -> str:
    stream = io.BytesIO()
    CsvBulkWriters.for_schema(schema.build()).write(stream, records, None)
    return stream.getvalue().decode()


def test_a_csv_file_has_the_same_quotes() -> None:
    """X2: the header too."""
    schema = CsvSchema.builder().add_string_column("string").add_string_column("string2")
    assert bulk(schema.set_column_separator("|"), ("string", "~")) == '"string"|~\n'
    assert bulk(schema.set_quote_char("`"), ("string", "string2")) == "`string`|`string2`\n"
    schema.set_column_separator(",").set_quote_char('"').set_escape_char("\\")
    assert bulk(schema, ("string,", '"string2"'), ("a\\b", "c")) == '"string,","""string2"""\n"a\\\\b",c\n'
    assert bulk(schema.set_use_header(), ("a", "b")) == "string,string2\na,b\n"
    assert bulk(schema.set_line_separator("\r\n"), ("a b", "c")) == 'string,string2\r\n"a b",c\r\n'


def test_fields_of_the_csv_encoder_can_be_read_again() -> None:
    """X2: a carriage return alone ends a line too, so it is quoted."""
    assert Encoder.csv_encoder().encode(("a b", 1, None, "x\ry", "p,q")) == b'a b,1,,"x\ry","p,q"\n'
    assert Encoder.csv_encoder().encode(("",)) == b'""\n'
