"""Column types under the table API's names: what they hold in each format (P7, X1, X2)."""

import datetime
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import orc, parquet

from penstock.common import Instant, Row, TypeInformation, Types
from penstock.core.config.compat import CompatibilityWarning, forget_warnings
from penstock.core.errors import ProgramError, RecordError
from penstock.datastream.connectors.file_system import FileSource
from penstock.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from penstock.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema
from penstock.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from penstock.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from penstock.spark.tables import spark_type
from penstock.table import DataTypes

MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=datetime.UTC)
BERLIN = datetime.timezone(datetime.timedelta(hours=1))
INSTANT = Instant(1_704_164_645, 678_901_000)


def row_of(*types: TypeInformation) -> TypeInformation:
    return DataTypes.ROW([DataTypes.FIELD(f"c{i}", t) for i, t in enumerate(types)])


def through_file(folder: Path, factory: Any, reader: Any, *records: Any) -> list[Any]:
    path = folder / "file"
    with path.open("wb") as file:
        factory.finish(factory.write(file, records, None))
    return read_file(path, reader)


def read_file(path: Path, reader: Any) -> list[Any]:
    source = FileSource.for_bulk_file_format(reader, str(path)).build()
    splits = source.split_count(1, one_batch=True)
    return [v for s in range(splits) for vs, _ in source.read(s, splits, source.initial(s, splits), None) for v in vs]


def columnar(name: str, row_type: TypeInformation) -> tuple[Any, Any]:
    if name == "parquet":
        return ParquetBulkWriters.for_row_type(row_type), ParquetColumnarRowInputFormat(row_type)
    return OrcBulkWriters.for_row_type(row_type), OrcColumnarRowInputFormat(row_type)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["parquet", "orc"])
def test_columnar_files(tmp_path: Path, name: str) -> None:
    """X1, X2: bytes of any length, moments to the microsecond, decimals rounded half up."""
    row_type = row_of(
        DataTypes.BINARY(10), DataTypes.VARBINARY(10), DataTypes.TIMESTAMP_LTZ(3), DataTypes.DECIMAL(2, 0)
    )
    records = [Row(b"binary", b"", INSTANT, Decimal("1.5")), (None, b"x" * 20, MOMENT.astimezone(BERLIN), None)]
    found = through_file(tmp_path, *columnar(name, row_type), *records)
    assert found == [
        Row(c0=b"binary", c1=b"", c2=MOMENT, c3=Decimal(2)),
        Row(c0=None, c1=b"x" * 20, c2=MOMENT, c3=None),
    ]
    assert found[0].c2.tzinfo is datetime.UTC
    read = parquet.read_table if name == "parquet" else orc.read_table
    assert read(tmp_path / "file").schema.field("c3").type == pyarrow.decimal128(2, 0)


@pytest.mark.parametrize("name", ["parquet", "orc"])
def test_instants_in_columnar_files(tmp_path: Path, name: str) -> None:
    """P7: `Types.INSTANT()` gives instants back."""
    row_type = Types.ROW_NAMED(["at"], [Types.INSTANT()])
    assert through_file(tmp_path, *columnar(name, row_type), (INSTANT,), (MOMENT,)) == [Row(at=INSTANT)] * 2
    with pytest.raises(RecordError, match=r"column 'at': Instant<1, 1> has a fraction of a microsecond"):
        columnar(name, row_type)[0].write(io.BytesIO(), [(Instant(1, 1),)], None)
    with pytest.raises(RecordError, match=r"column 'at': datetime.* has no time zone, so that it is not clear which"):
        columnar(name, row_type)[0].write(io.BytesIO(), [(MOMENT.replace(tzinfo=None),)], None)
    with pytest.raises(RecordError, match=r"column 'at': 5 is a int, not an Instant"):
        columnar(name, row_type)[0].write(io.BytesIO(), [(5,)], None)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_csv_and_json(tmp_path: Path) -> None:
    """X1, X2"""
    types = (DataTypes.VARBINARY(3), DataTypes.TIMESTAMP_LTZ(), DataTypes.DECIMAL(4, 2))
    record = (b"abc", MOMENT, Decimal("1.005"))
    expected = Row(c0=b"abc", c1=MOMENT, c2=Decimal("1.01"))
    builder = CsvSchema.builder()
    for i, info in enumerate(types):
        builder.add_number_column(f"c{i}", info)
    schema = builder.build()
    assert through_file(tmp_path, CsvBulkWriters.for_schema(schema), CsvReaderFormat.for_schema(schema), record) == [
        expected
    ]
    write = JsonRowSerializationSchema.builder().with_type_info(row_of(*types)).build()
    read = JsonRowDeserializationSchema.builder().type_info(row_of(*types)).build()
    message = b'{"c0":"YWJj","c1":"2024-01-02T03:04:05.678901000Z","c2":1.01}'
    assert write.serialize(record) == message
    assert read.deserialize(message) == expected


def test_csv_decimals_are_rounded_as_pyflink_rounds_them(tmp_path: Path) -> None:
    """X1: half up; a number that does not fit is refused, where PyFlink makes null of it."""
    schema = CsvSchema.builder().add_number_column("n", DataTypes.DECIMAL(2, 0)).build()
    path = tmp_path / "a.csv"

    def read() -> list[Any]:
        source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(path)).build()
        source.split_count(1, one_batch=True)
        return [tuple(v) for vs, _ in source.read(0, 1, source.initial(0, 1), None) for v in vs]

    path.write_text("1.5\n2.5\n-1.5\n99.4\n")
    assert read() == [(Decimal(2),), (Decimal(3),), (Decimal(-2),), (Decimal(99),)]
    for text in ("999", "99.5", "1e50", "NaN"):
        path.write_text(f"1\n{text}\n")
        with pytest.raises(RecordError, match=r"line 2 .*field 'n': .* does not fit in DECIMAL\(2, 0\)"):
            read()


def test_types_are_equal_by_what_they_hold() -> None:
    """P7"""
    assert DataTypes.DECIMAL(10, 2) == DataTypes.DECIMAL(10, 2) != DataTypes.DECIMAL(10, 3)
    assert hash(DataTypes.DECIMAL(10, 2)) == hash(DataTypes.DECIMAL(10, 2))
    assert DataTypes.DECIMAL(10, 2) != Types.BIG_DEC()
    assert DataTypes.TIMESTAMP_LTZ() == DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE() != Types.INSTANT()
    assert spark_type(row_of(DataTypes.DECIMAL(10, 2), DataTypes.TIMESTAMP_LTZ())) == (
        "struct<`c0`: decimal(10,2), `c1`: timestamp>"
    )
    for precision, scale in ((0, 0), (39, 0), (5, 6), (5, -1)):
        with pytest.raises(
            ProgramError, match=rf"DataTypes.DECIMAL\({precision}, {scale}\): the precision is a number"
        ):
            DataTypes.DECIMAL(precision, scale)


FINE = [1_704_164_645_678_901_234]
NAIVE = MOMENT.replace(tzinfo=None)


@pytest.mark.parametrize("name", ["int96", "parquet", "orc"])
def test_timestamps_finer_than_a_microsecond_are_read_as_datetimes(tmp_path: Path, name: str) -> None:
    """X1: Flink writes Parquet's INT96, and ORC has nanoseconds; Arrow would hand out pandas' class for both."""
    nanos = pyarrow.timestamp("ns")
    columns = {
        "c0": pyarrow.array(FINE, nanos),
        "c1": pyarrow.array(FINE, nanos),
        "c2": pyarrow.array([FINE], pyarrow.list_(nanos)),
        "c3": pyarrow.array([{"f0": FINE[0]}], pyarrow.struct([("f0", nanos)])),
        "c4": pyarrow.array([[("k", FINE[0])]], pyarrow.map_(pyarrow.string(), nanos)),
    }
    path, table = tmp_path / "file", pyarrow.table(columns)
    if name == "orc":
        orc.write_table(table, str(path))
    else:
        parquet.write_table(table, path, use_deprecated_int96_timestamps=name == "int96")
    inner = Types.ROW_NAMED(["f0"], [DataTypes.TIMESTAMP()])
    row_type = row_of(
        DataTypes.TIMESTAMP(),
        DataTypes.TIMESTAMP_LTZ(),
        DataTypes.ARRAY(DataTypes.TIMESTAMP()),
        inner,
        DataTypes.MAP(DataTypes.STRING(), DataTypes.TIMESTAMP()),
    )
    reader: Any = OrcColumnarRowInputFormat if name == "orc" else ParquetColumnarRowInputFormat
    [found] = read_file(path, reader(row_type))
    assert found == Row(c0=NAIVE, c1=MOMENT, c2=[NAIVE], c3=Row(f0=NAIVE), c4={"k": NAIVE})
    every = [found.c0, found.c1, *found.c2, found.c3.f0, found.c4["k"]]
    assert {type(moment) for moment in every} == {datetime.datetime}
    [untyped] = read_file(path, reader())
    assert type(untyped.c0) is datetime.datetime


def test_dates_that_nanoseconds_cannot_hold_are_read_from_int96(tmp_path: Path) -> None:
    """X1: the last day that many tables have, 9999-12-31, is not folded into another century."""
    last = datetime.datetime(9999, 12, 31)
    table = pyarrow.table({"c0": pyarrow.array([last], pyarrow.timestamp("us"))})
    parquet.write_table(table, tmp_path / "file", use_deprecated_int96_timestamps=True)
    found = read_file(tmp_path / "file", ParquetColumnarRowInputFormat(row_of(DataTypes.TIMESTAMP())))
    assert found == [Row(c0=last)]


@pytest.mark.parametrize("make", [DataTypes.DATE, DataTypes.STRING, lambda: DataTypes.ARRAY(DataTypes.INT())])
def test_hints_about_java_classes_and_nulls_leave_a_type_as_it_is(make: Any) -> None:
    """P12: programs for PyFlink call `bridged_to` on the columns of dates, times and arrays that they write."""
    forget_warnings()
    with pytest.warns(CompatibilityWarning, match=r"DataTypes\.bridged_to"):
        assert make().bridged_to("java.sql.Date") == make()
    with pytest.warns(CompatibilityWarning, match=r"DataTypes\.nullable"):
        assert make().not_null() == make()
    assert make().nullable() == make()
