"""DataFrames and SQL, in and out, batch and streaming (P13, X1, X2)."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.core.errors import ProgramError
from penstock.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.launch import queried_tables
from penstock.table import SparkTableSink, StreamTableEnvironment, Table

pytestmark = pytest.mark.spark

PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"restart-strategy.type": "none"})).set_parallelism(2)


def test_a_batch_frame_is_a_bounded_source(env: StreamExecutionEnvironment) -> None:
    """X1, P10: rows with the frame's names; nested rows, lists, maps and timestamps as PySpark gives them."""
    frame = env.get_spark_session().sql(
        "select id, named_struct('a', id, 'b', array(map('k', timestamp'2020-01-01 00:00:00'), null)) s, "
        "cast(null as int) n from range(3)"
    )
    found = sorted(env.from_data_frame(frame).execute_and_collect(), key=lambda r: r.id)
    moment = datetime.datetime(2020, 1, 1)
    assert found == [Row(id=i, s=Row(a=i, b=[{"k": moment}, None]), n=None) for i in range(3)]


class Last(KeyedProcessFunction):
    """The largest record of a key, when event time has passed all of them."""

    def open(self, runtime_context: Any) -> None:
        from penstock.datastream.state import ValueStateDescriptor

        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> None:
        self.last.update(max(value, self.last.value() or 0))
        ctx.timer_service().register_event_time_timer(10**9)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), self.last.value()


def test_frames_mix_with_other_sources(env: StreamExecutionEnvironment) -> None:
    """G3, T5, P13: one job, two frames and a collection; the end of all of them fires timers."""
    spark = env.get_spark_session()
    ids = [env.from_data_frame(spark.range(a, b)).map(lambda r: r.id) for a, b in ((0, 50), (50, 100))]
    stamped = (
        ids[0]
        .union(ids[1], env.from_collection([200]))
        .assign_timestamps_and_watermarks(
            WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
        )
    )
    assert sorted(stamped.key_by(lambda v: v % 2).process(Last()).execute_and_collect()) == [(0, 200), (1, 99)]


class Clock(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value, ctx.timer_service().current_watermark()


def test_a_streaming_frame_is_an_unbounded_source(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    """X1, P10, T5: its rows, in order, with watermarks; a bounded source beside it ends, the job does not."""
    rate = (
        env.get_spark_session()
        .readStream.format("rate-micro-batch")
        .options(rowsPerBatch="4", numPartitions="1", startTimestamp="0")
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda v, _: v)
    rows = env.from_data_frame(rate.load()).map(lambda r: r.value).set_parallelism(1)
    other = env.from_collection([-1]).set_parallelism(1)
    stamped = rows.union(other).assign_timestamps_and_watermarks(strategy).set_parallelism(1)
    found = stamped.process(Clock()).set_parallelism(1).execute_and_collect(limit=9)
    assert sorted(v for v, _ in found) == list(range(-1, 8))  # type: ignore[union-attr]
    (seen,) = [w for v, w in found if v == 4]  # type: ignore[union-attr]
    assert seen >= 2


def test_a_streaming_frame_goes_on_from_its_checkpoint(env: StreamExecutionEnvironment, tmp_path: Path) -> None:
    """F1, F2: nothing lost, nothing twice in state."""
    found: list[int] = []
    for _ in range(2):
        conf = {"execution.checkpointing.dir": str(tmp_path / "checkpoint"), "restart-strategy.type": "none"}
        again = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
        rate = (
            again.get_spark_session()
            .readStream.format("rate-micro-batch")
            .options(rowsPerBatch="3", numPartitions="1", startTimestamp="0")
        )
        count = again.from_data_frame(rate.load()).key_by(lambda r: 0).map(lambda r: r.value)
        found += count.execute_and_collect(limit=5)  # type: ignore[arg-type]
    # what a stopped job committed but did not hand over to its closed iterator is not handed over again
    assert found[:5] == [0, 1, 2, 3, 4]
    assert found[5] % 3 == 0
    assert found[5:] == list(range(found[5], found[5] + 5))
    assert found[5] >= 6


class FailOnce:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, value: int) -> int:
        if value == 12_345 and not self.mark.exists():
            self.mark.touch()
            raise ValueError("once")
        return value


def test_a_batch_frame_beside_an_endless_source(tmp_path: Path) -> None:
    """X1, P10, P13, F1: it is read in batches, in its order, and not computed anew after a restart."""
    conf = {
        "execution.checkpointing.dir": str(tmp_path / "checkpoint"),
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.delay": "0",
        "penstock.batch.max-records": 5_000,
    }
    env = StreamExecutionEnvironment(Configuration(conf)).set_parallelism(1)
    frame = env.get_spark_session().sql("select id, timestamp'2020-01-01 00:00:00' t, rand() r from range(25000)")
    ticks = DataGeneratorSource(lambda i: -1, None, RateLimiterStrategy.per_second(20))
    numbers = env.from_data_frame(frame).map(lambda r: r.id if r.t.year == 2020 else None)
    stream = numbers.union(env.from_source(ticks, WatermarkStrategy.no_watermarks(), "ticks"))
    fragile = stream.filter(lambda v: v >= 0).rebalance().map(FailOnce(tmp_path / "failed"))
    assert fragile.execute_and_collect(limit=25_000) == list(range(25_000))
    assert (tmp_path / "failed").exists()
    assert len(list((tmp_path / "checkpoint/penstock/frames").rglob("*.arrow"))) == 1


def test_rows_of_a_frame_need_a_folder_that_python_can_open() -> None:
    """P9"""
    from penstock.spark.materialized_frames import _folder

    with pytest.raises(ProgramError, match=r"'Source: f' is a batch DataFrame .* s3://b/c is not one. Name one in"):
        _folder("s3://b/c", Configuration(), "Source: f")
    shared = _folder("s3://b/c", Configuration({"penstock.tmp-dir": "/shared"}), "Source: f")
    assert shared.startswith("/shared/penstock-frames-")


def test_a_stream_as_a_frame(env: StreamExecutionEnvironment) -> None:
    """X2, P13: columns from a row type."""
    stream = env.from_collection([("a", 1), ("b", 2)]).map(lambda p: p)
    frame = stream.to_data_frame(PERSON)
    assert frame.schema.simpleString() == "struct<name:string,age:int>"
    assert sorted(map(tuple, frame.collect())) == [("a", 1), ("b", 2)]


def test_values_without_fields_are_one_column(env: StreamExecutionEnvironment) -> None:
    frame = env.from_sequence(1, 3).to_data_frame(Types.LONG())
    assert sorted(r.f0 for r in frame.collect()) == [1, 2, 3]


def test_no_records_are_an_empty_frame(env: StreamExecutionEnvironment) -> None:
    empty = env.from_collection([("a", 1)]).filter(lambda p: False)
    assert empty.to_data_frame(PERSON).collect() == []
    with pytest.raises(
        ProgramError, match=r"The stream gave no records, so the columns of its DataFrame are not known"
    ):
        env.from_collection([("a", 1)]).filter(lambda p: False).to_data_frame()


def test_sql_between_two_streams(env: StreamExecutionEnvironment) -> None:
    """P13: stream → table → query → stream → table; nothing runs before the end."""
    tables = StreamTableEnvironment.create(env)
    people = env.from_collection([("a", 1), ("b", 2), ("a", 5)])
    tables.create_temporary_view("people", people, PERSON)
    sums = tables.sql_query("select name, sum(age) total from people group by name")
    doubled = tables.to_data_stream(sums).map(lambda r: (r.name, r.total * 2))
    people.map(lambda p: p[0]).add_sink(lambda v: None)
    assert sorted(doubled.execute_and_collect()) == [("a", 12), ("b", 4)]
    tables.create_temporary_view("sums", sums)
    (row,) = tables.execute_sql("SELECT max(total) m FROM sums").collect()
    assert row == Row(m=6)


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("select name from people", {"people"}),
        ("select name as e, 'from e' from PEOPLE -- e\n where name <> 'e' /* join e */", {"people"}),
        ("select e.name from `people` e", {"people"}),
        ("select 'it''s e', \"e\" from people", {"people"}),
        ("select e.name from people join E on e.name = people.name", {"people", "e"}),
        ("select name from people where name in (select name from e)", {"people", "e"}),
        ("select (select max(name) from e) from people", {"people", "e"}),
        ("select name from people where exists (select 1 from e)", {"people", "e"}),
        ("with e as (select * from people) select name from e", {"people"}),
        ("with x as (select * from e), y as (select * from x) select * from y, people", {"e", "people"}),
        ("select * from (select name from people) t order by (select count(*) from e)", {"people", "e"}),
        ("select 1", set()),
    ],
)
def test_a_query_runs_the_streams_of_the_views_that_it_reads_and_no_other(
    env: StreamExecutionEnvironment, query: str, read: set[str]
) -> None:
    """P13: names are names of tables as Spark's SQL reads them, not texts that occur in the query."""
    assert queried_tables(env.get_spark_session(), query) == read
    tables = StreamTableEnvironment.create(env)
    ran: list[str] = []
    for name in ("people", "e"):
        tables.create_temporary_view(name, _Noted(tables, name, ran))
    tables.sql_query(query).to_data_frame().collect()
    assert set(ran) == read


class _Noted(Table):
    """A table of one person that notes when it is needed."""

    def __init__(self, tables: StreamTableEnvironment, name: str, ran: list[str]) -> None:
        self._name, self._ran, self._tables = name, ran, tables

    def to_data_frame(self) -> Any:
        self._ran.append(self._name)
        return self._tables._session().sql("select 'a' name, 1 age")


@pytest.mark.parametrize("host", ["bounded", "streaming"])
def test_a_stream_into_a_table(host: str, tmp_path: Path) -> None:
    """X2, F6: columns by name, each record once."""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": host, "restart-strategy.type": "none"}))
    table = f"people_{host}"
    spark = env.set_parallelism(1).get_spark_session()
    spark.sql(f"create table {table} (age int, name string) using parquet location '{tmp_path / 'table'}'")
    try:
        people = env.from_collection([("a", 1), ("b", 2)], type_info=PERSON)
        people.sink_to(SparkTableSink(table, PERSON, str(tmp_path / "staging")))
        env.execute()
        assert sorted(map(tuple, spark.table(table).collect())) == [(1, "a"), (2, "b")]
    finally:
        spark.sql(f"drop table {table}")
