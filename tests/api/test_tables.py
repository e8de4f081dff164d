"""Tables and frames: what is refused before Spark is needed (P9, P13)."""

from typing import Any

import pytest

from penstock.api.table import _FIRST_WORD
from penstock.common import Configuration
from penstock.connectors.data_frame import DataFrameSource
from penstock.core.errors import ProgramError
from penstock.datastream import DataStream, SourceContext, SourceFunction, StreamExecutionEnvironment
from penstock.table import StreamTableEnvironment
from penstock.testing import collect, local_job


class FakeFrame:
    """As much of a DataFrame as is looked at before a job runs."""

    def __init__(self, streaming: bool) -> None:
        self.isStreaming = streaming

    def mapInArrow(self) -> None:
        raise AssertionError("never")


def table_environment() -> tuple[StreamExecutionEnvironment, StreamTableEnvironment, DataStream[Any]]:
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    return env, StreamTableEnvironment.create(env), env.from_collection([("a", 1)])


def test_only_frames_are_frames() -> None:
    """P9"""
    with pytest.raises(TypeError, match=r"from_data_frame\(\) takes a Spark DataFrame, got list"):
        StreamExecutionEnvironment().from_data_frame([1])


@pytest.mark.parametrize("streaming", [False, True])
def test_a_frame_needs_spark(streaming: bool) -> None:
    """P9, P10"""
    env = StreamExecutionEnvironment()
    collect(env.from_data_frame(FakeFrame(streaming)), "out")
    with pytest.raises(ProgramError, match=r"A DataFrame is read by Spark: run the job on a Spark host"):
        local_job(env)


def test_the_frame_stays_on_the_driver() -> None:
    import copy
    import pickle

    source = DataFrameSource(FakeFrame(True), False)
    for made in (copy.deepcopy(source), pickle.loads(pickle.dumps(source))):
        assert made.make_frame() is None
        assert not made.bounded
    assert isinstance(source.make_frame(), FakeFrame)


def test_a_frame_is_made_once_and_late() -> None:
    """P1"""
    made: list[int] = []
    source = DataFrameSource.when_started(lambda: made.append(1) or FakeFrame(False))  # type: ignore[func-returns-value]
    assert made == []
    assert source.make_frame() is source.make_frame()
    assert made == [1]


class Endless(SourceFunction):
    def run(self, ctx: SourceContext) -> None:
        raise AssertionError("never")

    def cancel(self) -> None:
        pass


def test_a_stream_without_end_is_no_frame_and_no_table() -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    stream = env.add_source(Endless(), "ticks")
    with pytest.raises(ProgramError, match=r"'Source: ticks' has no end, so its records never become a DataFrame or"):
        stream.to_data_frame()
    table = StreamTableEnvironment.create(env).from_data_stream(stream)
    with pytest.raises(ProgramError, match=r"'Source: ticks' has no end"):
        table.execute()


def test_a_stream_that_only_feeds_a_table_needs_no_sink() -> None:
    """P1, P9: it is run with the table; the rest of the program is not touched by it."""
    env, tables, stream = table_environment()
    tables.from_data_stream(stream.map(lambda v: v))
    env.from_collection([5]).print()
    assert [n.name for n in env.get_stream_graph().nodes] == ["Source: Collection", "Print to Std. Out"]


def test_a_stream_may_feed_a_table_and_a_sink() -> None:
    """G3"""
    env, tables, stream = table_environment()
    tables.from_data_stream(stream)
    stream.print()
    assert len(env.get_stream_graph().nodes) == 2


@pytest.mark.parametrize(
    "statement", ["", "-- SELECT", "/* SELECT */", "( )", "DROP TABLE t", "INSERT INTO t VALUES (1)"]
)
def test_statements_that_are_no_queries_are_refused(statement: str) -> None:
    """P9"""
    _, tables, _ = table_environment()
    with pytest.raises(ProgramError, match=r"execute_sql\(\) runs queries \(SELECT, WITH, VALUES\), got"):
        tables.execute_sql(statement)


@pytest.mark.parametrize(
    "statement",
    ["select 1", "-- all of it\nSELECT 1", "/* a\n b */ (SELECT 1)", "  values (1)", "WITH t AS (SELECT 1) SELECT"],
)
def test_a_query_may_begin_with_comments_and_parentheses(statement: str) -> None:
    """P13"""
    found = _FIRST_WORD.match(statement)
    assert found is not None
    assert found[1].upper() in ("SELECT", "WITH", "VALUES")


def test_names_of_views() -> None:
    """P9"""
    _, tables, stream = table_environment()
    with pytest.raises(ProgramError, match=r"create_temporary_view\(\): 'a b' is no name"):
        tables.create_temporary_view("a b", stream)
    tables.create_temporary_view("people", stream)
    with pytest.raises(ProgramError, match=r"there is a view 'people' already: drop it first"):
        tables.create_temporary_view("people", stream)
    with pytest.raises(ProgramError, match=r"there is a view 'people' already: drop it first"):
        tables.create_temporary_view("PEOPLE", stream)  # one name in queries
    assert tables.drop_temporary_view("People")
    assert not tables.drop_temporary_view("people")
    tables.create_temporary_view("people", stream)


def test_what_is_no_stream_table_or_environment() -> None:
    """P9"""
    _, tables, _ = table_environment()
    with pytest.raises(TypeError, match=r"from_data_stream\(\) takes a DataStream, got int"):
        tables.from_data_stream(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"to_data_stream\(\) takes a Table, got int"):
        tables.to_data_stream(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"create\(\) takes a StreamExecutionEnvironment, got int"):
        StreamTableEnvironment.create(5)  # type: ignore[arg-type]
