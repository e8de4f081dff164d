"""`JdbcSink` with SQLite, a real PostgreSQL and a real MariaDB server (F6, F7, X2)."""

from __future__ import annotations

import datetime
import decimal
import random
import re
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Row, Types
from penstock.connectors.sql.dialects import MySql, dialect_of
from penstock.connectors.sql.jdbc import ExactlyOnceJdbcSink, Session
from penstock.connectors.sql.statements import count_parameters, is_idempotent, with_marks
from penstock.core.contracts.guarantees import Guarantee
from penstock.core.contracts.sink import CommitRequest, WriterInitContext
from penstock.core.errors import ProgramError, SinkError, UserFunctionError
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.local.local_job import LocalJob
from penstock.plan.guarantees import paths
from penstock.testing import local_job
from tests.effort import examples
from tests.mariadb.server import USER as MARIADB_USER
from tests.mariadb.server import MariaDb, mariadb_server
from tests.postgres.server import Server, postgres_server

PAIR = Types.ROW([Types.STRING(), Types.INT()])
INSERT = "insert into sold values (?, ?)"
UPSERT = "insert into stock (name, number) values (?, ?) on conflict (name) do update set number = excluded.number"
ADD = "insert into stock values (?, ?) on conflict (name) do update set number = stock.number + excluded.number"
MYSQL_UPSERT = "insert into stock (name, number) values (?, ?) on duplicate key update number = values(number)"
MYSQL_ADD = "insert into stock values (?, ?) on duplicate key update number = number + values(number)"


@dataclass(frozen=True, slots=True)
class Database:
    """An empty database, and a way to look into it from outside."""

    options: JdbcConnectionOptions
    run: Callable[[str], list[tuple[Any, ...]]]
    upsert: str = UPSERT
    add: str = ADD

    def table(self, name: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.run(f"select * from {name}")))

    def reset(self) -> None:
        for table in ("sold", "stock", "penstock_commits"):
            self.run(f"drop table if exists {table}")
        self.run("create table sold (name varchar(20), number integer)")
        self.run("create table stock (name varchar(20) primary key, number integer)")


def options(url: str, **more: str) -> JdbcConnectionOptions:
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if "user" in more:
        builder.with_user_name(more["user"]).with_password("not asked for").with_driver_name("org.postgresql.Driver")
    return builder.build()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDb]:
    with mariadb_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("server")
        found = Database(options(server.jdbc_url, user="penstock"), server.run)
    elif request.param == "mariadb":
        maria: MariaDb = request.getfixturevalue("mariadb")
        found = Database(options(f"{maria.jdbc_url}?user={MARIADB_USER}"), maria.run, MYSQL_UPSERT, MYSQL_ADD)
    else:
        found = sqlite_database(tmp_path / "shop.db")
    found.reset()
    return found


def sqlite_database(path: Path) -> Database:
    def run(sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return connection.execute(sql).fetchall()

    return Database(options(f"jdbc:sqlite:{path}"), run)


def job_into(sink: JdbcSink, values: Iterable[Any], parallelism: int = 1) -> LocalJob:
    env = StreamExecutionEnvironment()
    env.from_collection(list(values)).rebalance().map(lambda v: v).add_sink(sink).uid("sold")  # type: ignore[arg-type]
    return local_job(env, parallelism)


def numbers(count: int) -> list[Any]:
    return [Row(f"n{i}", i) if i % 2 else (f"n{i}", i) for i in range(count)]


def rows(count: int) -> list[tuple[str, int]]:
    return sorted((f"n{i}", i) for i in range(count))


# -- exactly once ----------------------------------------------------------------------------------------


def test_rows_are_seen_when_their_batch_is_durable(database: Database) -> None:
    """F6, X2: those of a batch all at once."""
    job = job_into(JdbcSink.exactly_once_sink(INSERT, PAIR, database.options), numbers(9), 3)
    job.run_batch(4, commit=False)
    assert database.table("sold") == []
    job.run_batch(4)
    assert database.table("sold") == rows(4)
    job.run()
    assert database.table("sold") == rows(9)


def test_marks_do_not_pile_up(database: Database) -> None:
    """F6: one for each subtask, whatever the number of batches."""
    job = job_into(JdbcSink.exactly_once_sink(INSERT, PAIR, database.options), numbers(30), 2)
    job.run([3] * 10)
    marks = [(sink, subtask) for sink, _, subtask, _ in database.table("penstock_commits")]
    assert [(sink if isinstance(sink, str) else sink.decode(), subtask) for sink, subtask in marks] == [
        ("sold", 0),
        ("sold", 1),
    ]


def test_a_driver_that_died_before_it_wrote_the_rows(database: Database) -> None:
    """F1, F6: they are in the state, and are written after the restart."""
    job = job_into(JdbcSink.exactly_once_sink(INSERT, PAIR, database.options), numbers(6))
    job.commits._commit = lambda *_, **__: None  # type: ignore[method-assign]
    job.run_batch(4)
    assert database.table("sold") == []
    job.restart()
    job.run()
    assert database.table("sold") == rows(6)


def test_a_driver_that_died_after_it_wrote_the_rows(database: Database) -> None:
    """F1, F6: they are not written again, though the statement would do so."""
    for sql, table in ((INSERT, "sold"), (database.add, "stock")):
        job = job_into(JdbcSink.exactly_once_sink(sql, PAIR, database.options), numbers(6))
        for _ in range(3):
            job.run_batch(2)
            job.restart()
            job.run_batch(0)
        job.run()
        assert database.table(table) == rows(6)


def test_a_connection_that_breaks_while_the_commit_is_answered(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F6: nobody knows whether the rows are there; the mark does."""
    sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
    assert isinstance(sink, ExactlyOnceJdbcSink)
    committer = sink.create_committer()
    committer._session = Breaking(sink.statement.dialect, 3)  # type: ignore[attr-defined]
    monkeypatch.setattr(
        type(sink.statement.dialect), "may_pass", lambda self, error: isinstance(error, ConnectionError)
    )
    Breaking.broken = 0
    committer.commit([CommitRequest(staged(sink, 5))])
    assert Breaking.broken == 1
    assert database.table("sold") == rows(5)


class Breaking(Session):
    """The first commit of rows happens, but its answer is lost."""

    broken = 0

    def _once(self, work: Callable[[Any], None]) -> None:
        super()._once(work)
        if work.__name__ == "<lambda>" and "staged" in work.__code__.co_freevars and not Breaking.broken:
            Breaking.broken += 1
            raise ConnectionError("lost")


def staged(sink: ExactlyOnceJdbcSink, count: int, batch: int = 0, generation: str = "g") -> Any:
    writer = sink.create_writer(WriterInitContext(0, 1, batch, "attempt", 0, "sold", generation))
    writer.write_all(numbers(count), None)
    (committable,) = writer.prepare_commit()
    return committable


def test_batches_are_told_apart_by_generation_and_number(database: Database) -> None:
    """F6: a lower number within a generation has been written; another generation counts for itself."""
    sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
    assert isinstance(sink, ExactlyOnceJdbcSink)
    for batch, generation in ((3, "g"), (3, "g"), (2, "g"), (2, "h"), (4, "g")):
        sink.create_committer().commit([CommitRequest(staged(sink, 1, batch, generation))])
    assert len(database.table("sold")) == 3


def test_sinks_whose_names_differ_only_in_case_or_blanks_have_marks_of_their_own(database: Database) -> None:
    """F6"""
    sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
    assert isinstance(sink, ExactlyOnceJdbcSink)
    for name in ("sold", "Sold", "sold ", "söld"):
        for batch in range(3):
            committable = replace(staged(sink, 1, batch), sink=name)
            sink.create_committer().commit([CommitRequest(committable)] * 2)
    assert len(database.table("sold")) == 12


def test_a_mark_of_the_table_as_it_was_made_before_is_gone_on_from(database: Database) -> None:
    """F4, F6: the same table, the same columns."""
    database.run(
        "create table penstock_commits (sink varchar(255) not null, generation varchar(64) not null, "
        "subtask integer not null, batch bigint not null, primary key (sink, generation, subtask))"
    )
    database.run("insert into penstock_commits values ('sold', 'g', 0, 4)")
    sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
    assert isinstance(sink, ExactlyOnceJdbcSink)
    committer = sink.create_committer()
    for batch in (4, 5, 5):
        committer.commit([CommitRequest(staged(sink, 1, batch))])
    assert len(database.table("sold")) == 1
    assert [row[3] for row in database.table("penstock_commits")] == [5]


def test_two_drivers_that_write_the_same_batch_at_the_same_time(database: Database) -> None:
    """F1, F10: one was thought dead."""
    sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
    assert isinstance(sink, ExactlyOnceJdbcSink)
    sink.create_committer().commit([CommitRequest(staged(sink, 1, 0))])
    for batch in range(1, 11):
        both = [sink.create_committer() for _ in range(2)]
        request = [CommitRequest(staged(sink, 3, batch))]
        threads = [threading.Thread(target=committer.commit, args=(request,)) for committer in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for committer in both:
            committer.close()
    assert len(database.table("sold")) == 31


def test_a_statement_that_fails_undoes_the_batch(database: Database) -> None:
    """F6, P9"""
    database.run("insert into stock values ('n2', 0)")
    sink = JdbcSink.exactly_once_sink("insert into stock values (?, ?)", PAIR, database.options)
    job = job_into(sink, numbers(4))
    with pytest.raises(
        SinkError, match=r"(?s)^Sink 'Writer' \(uid sold\) could not commit: \w+: .*(?i:unique|duplicate)"
    ):
        job.run()
    assert database.table("stock") == [("n2", 0)]
    database.run("delete from stock")
    job.restart()
    job.run_batch(0)
    assert database.table("stock") == rows(4)


STEPS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["fine", "batch fails", "dies before the rows", "dies after the rows", "restart"]),
    ),
    max_size=12,
)


def _play(job: LocalJob, size: int, what: str) -> None:
    commit = job.commits._commit

    def dies(*given: Any, **more: Any) -> None:
        if what == "dies after the rows":
            commit(*given, **more)
        raise KeyboardInterrupt

    if what in ("fine", "batch fails"):
        job.run_batch(size, commit=what == "fine")
        return
    if what != "restart":
        job.commits._commit = dies  # type: ignore[method-assign]
        try:
            job.run_batch(size)
        except KeyboardInterrupt:
            job.finished = all(p.ended for p in job._positions.values())
    job.restart()


@settings(max_examples=examples(60))
@given(STEPS, st.integers(1, 3))
def test_whatever_dies_when_every_record_takes_effect_once(steps: list[tuple[int, str]], parallelism: int) -> None:
    """F1, F6: against the plain list; values are random, so a batch that is run again brings others."""
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite_database(Path(folder, "shop.db"))
        database.reset()
        env = StreamExecutionEnvironment()
        sink = JdbcSink.exactly_once_sink(INSERT, PAIR, database.options)
        seen = env.from_collection(list(range(24))).rebalance().map(lambda i: (f"n{i}", random.randrange(1 << 30)))
        seen.add_sink(sink).uid("sold")  # type: ignore[arg-type]
        job = local_job(env, parallelism)
        for size, what in steps:
            _play(job, size, what)
        job.restart()
        job.run_batch(0)
        job.run()
        assert [name for name, _ in database.table("sold")] == sorted(f"n{i}" for i in range(24))


# -- at least once, and idempotent -------------------------------------------------------------------------


def test_workers_write_and_a_batch_that_failed_is_written_again(database: Database) -> None:
    """F7: at-least-once; an upsert makes it exactly-once."""
    for sql, table, expected in ((INSERT, "sold", sorted(rows(4) + rows(2))), (database.upsert, "stock", rows(4))):
        job = job_into(JdbcSink.sink(sql, PAIR, database.options), numbers(4))
        job.run_batch(2, commit=False)
        job.run()
        assert database.table(table) == expected


def test_rows_are_written_so_many_at_a_time(database: Database) -> None:
    """X2"""
    few = JdbcExecutionOptions.builder().with_batch_size(2).build()
    writer = JdbcSink.sink(INSERT, PAIR, database.options, few).create_writer(WriterInitContext(0, 1, 0, "a"))
    seen = []
    for value in numbers(5):
        writer.write(value, None)
        seen.append(len(database.table("sold")))
    writer.flush()
    writer.close()
    assert [*seen, len(database.table("sold"))] == [0, 2, 2, 4, 4, 5]


def test_guarantees(database: Database) -> None:
    """F7"""
    env = StreamExecutionEnvironment()
    stream = env.from_collection(numbers(1))
    for sink in (
        JdbcSink.sink(INSERT, PAIR, database.options),
        JdbcSink.sink(database.upsert, PAIR, database.options),
        JdbcSink.exactly_once_sink(INSERT, PAIR, database.options),
    ):
        stream.sink_to(sink)
    gives = [path.gives for path in paths(env.get_stream_graph())]
    assert gives == [Guarantee.AT_LEAST_ONCE, Guarantee.EXACTLY_ONCE, Guarantee.EXACTLY_ONCE]


def test_values_of_every_type_come_back(database: Database) -> None:
    """P7, X2"""
    database.run("drop table if exists kinds")
    database.run(
        "create table kinds "
        "(a bigint, b double precision, c text, d boolean, e numeric(9,3), f date, g timestamp(6) null, h integer)"
    )
    moment = datetime.datetime(2024, 5, 6, 7, 8, 9, 123456)
    value = (2**40, 1.5, "ä%?'", True, decimal.Decimal("12.345"), moment.date(), moment, np.int64(7))
    kinds = [Types.LONG(), Types.DOUBLE(), Types.STRING(), Types.BOOLEAN(), Types.BIG_DEC(), Types.SQL_DATE()]
    row = Types.ROW([*kinds, Types.SQL_TIMESTAMP(), Types.INT()])
    sql = "insert into kinds values (?, ?, ?, ?, ?, ?, ?, ?)"
    job_into(JdbcSink.exactly_once_sink(sql, row, database.options), [value, (None,) * 8]).run()
    found = next(row for row in database.run("select * from kinds") if row[0] is not None)
    assert found[:3] == value[:3]
    assert (bool(found[3]), decimal.Decimal(str(found[4]))) == value[3:5]
    assert [str(field) for field in found[5:]] == ["2024-05-06", "2024-05-06 07:08:09.123456", "7"]


def test_a_server_that_is_away_for_a_moment(tmp_path: Path) -> None:
    """X2: the database is locked for longer than the driver waits; the second try succeeds."""
    database = sqlite_database(tmp_path / "shop.db")
    database.reset()
    session = Session(Impatient(str(tmp_path / "shop.db")), 6)
    with closing(sqlite3.connect(tmp_path / "shop.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(0.5, lambda: other.execute("COMMIT")).start()
        session.transact(lambda cursor: cursor.execute("insert into sold values ('x', 1)"))
        session.close()
    assert database.table("sold") == [("x", 1)]


Sqlite: Any = type(dialect_of("jdbc:sqlite:x"))


class Impatient(Sqlite):  # type: ignore[misc]
    def connect(self) -> Any:
        return sqlite3.connect(self.path, timeout=0.01, isolation_level=None, check_same_thread=False)


# -- mistakes ----------------------------------------------------------------------------------------------


def test_a_record_that_is_no_such_row_is_named(tmp_path: Path) -> None:
    """P9"""
    database = sqlite_database(tmp_path / "shop.db")
    database.reset()
    for value in (("a",), "ab", 7):
        job = job_into(JdbcSink.exactly_once_sink(INSERT, PAIR, database.options), [value])
        text = f"JdbcSink takes rows of 2 field(s), got {value!r} for {INSERT!r}"
        with pytest.raises((SinkError, UserFunctionError), match=re.escape(text)):
            job.run()


def test_a_statement_and_a_type_that_do_not_fit_are_refused() -> None:
    """P9"""
    text = r"^JdbcSink: the statement has 1 parameter\(s\), the row type 2 field\(s\): 'delete from t where a = \?'$"
    with pytest.raises(ProgramError, match=text):
        JdbcSink.sink("delete from t where a = ?", PAIR, options("jdbc:sqlite:x"))
    with pytest.raises(
        ProgramError, match=r"^JdbcSink takes a row type, got BasicTypeInfo: use Types.ROW\(\[\.\.\.\]\)$"
    ):
        JdbcSink.sink(INSERT, Types.STRING(), options("jdbc:sqlite:x"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("jdbc:sqlite::memory:", "'jdbc:sqlite::memory:' names no file: a database in memory is not seen by the work"),
        ("jdbc:sqlite:", "'jdbc:sqlite:' names no file"),
        (
            "jdbc:db2://h/d",
            r"'jdbc:db2://h/d' is no database known here: use jdbc:postgresql://host:port/name, jdbc:mysql://host:port",
        ),
        ("jdbc:mysql://h/d?a=b", "the parameter 'a' is not known here, only connectTimeout, password, serverSslCert"),
        ("jdbc:mariadb://h", "'jdbc:mariadb://h' must name one host and a database: jdbc:mysql://host:port/name"),
        ("jdbc:mysql://a:1,b:2/d", "must name one host and a database"),
        ("jdbc:mysql://h:x/d", "'jdbc:mysql://h:x/d' is not an address of MySQL or MariaDB: "),
        (
            "jdbc:mysql://h/d?connectTimeout=soon",
            "connectTimeout=soon' is not an address of MySQL or MariaDB: could not convert",
        ),
        ("postgresql://h/d", "'postgresql://h/d' is no database known here"),
        (
            "jdbc:postgresql://h/d?a=b",
            "the parameter 'a' is not known here, only ApplicationName, connectTimeout, curre",
        ),
        ("", r"JdbcConnectionOptions need an address: call with_url\(\.\.\.\)"),
    ],
)
def test_addresses_that_lead_nowhere_are_refused(url: str, text: str) -> None:
    """P9"""
    with pytest.raises(ProgramError, match=text):
        options(url)


def test_without_psycopg_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9"""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    text = r"^jdbc:postgresql needs psycopg \(.*\): pip install 'penstock\[postgres\]', on the workers too$"
    with pytest.raises(ProgramError, match=text):
        JdbcSink.sink(INSERT, PAIR, options("jdbc:postgresql://h/d"))


def test_without_pymysql_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """P9"""
    monkeypatch.setitem(sys.modules, "pymysql", None)
    text = r"^jdbc:mysql and jdbc:mariadb need PyMySQL \(.*\): pip install 'penstock\[mysql\]', on the workers too$"
    with pytest.raises(ProgramError, match=text):
        JdbcSink.sink(INSERT, PAIR, options("jdbc:mysql://h/d"))


def test_addresses_of_mysql() -> None:
    """X2"""
    given = dialect_of("jdbc:mysql://db/my%20shop?user=me&password=p@ss&connectTimeout=500")
    assert given == MySql("db", 3306, "my shop", "me", "p@ss", 0.5)
    assert "p@ss" not in repr(given)
    assert dialect_of("jdbc:mariadb://db:1/s?user=me", "you", "x") == MySql("db", 1, "s", "you", "x")


@pytest.mark.parametrize("name", ["with_batch_size", "with_max_retries"])
def test_execution_options_out_of_range_are_refused(name: str) -> None:
    """P9"""
    text = rf"^JdbcExecutionOptions\.{name} takes a whole number of at least 0, got -1$"
    with pytest.raises(ProgramError, match=text):
        getattr(JdbcExecutionOptions.builder(), name)(-1)


def test_addresses_of_postgresql() -> None:
    """X2"""
    assert dialect_of("jdbc:postgresql:shop") == dialect_of("jdbc:postgresql://localhost/shop")
    assert "p@ss" not in repr(dialect_of("jdbc:postgresql:shop", "me", "p@ss"))
    given = dialect_of("jdbc:postgresql://a:1,b:2/shop?user=me&connectTimeout=3&targetServerType=primary")
    assert given.address == (  # type: ignore[attr-defined]
        "postgresql://a:1,b:2/shop?user=me&connect_timeout=3&target_session_attrs=read-write"
    )


def test_it_is_no_function() -> None:
    """P9"""
    with pytest.raises(TypeError, match="JdbcSink is not called record by record"):
        JdbcSink.sink(INSERT, PAIR, options("jdbc:sqlite:x")).invoke((1, 2), None)  # type: ignore[arg-type]


# -- statements ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "count", "other"),
    [
        ("select ?", 1, "select %s"),
        ("select '?', \"a?\", ? -- ?", 1, "select '?', \"a?\", %s -- ?"),
        ("select 'it''s ?', ?, /* ? \n ? */ ?", 2, "select 'it''s ?', %s, /* ? \n ? */ %s"),
        ("select $$?$$, $x$?$x$, ? % 5", 1, "select $$?$$, $x$?$x$, %s %% 5"),
        ("select `a?`, ?", 1, "select `a?`, %s"),
        ("select 1", 0, "select 1"),
    ],
)
def test_parameters_are_found_outside_of_strings_names_and_comments(sql: str, count: int, other: str) -> None:
    """X2"""
    assert (count_parameters(sql), with_marks(sql, "%s"), with_marks(sql, "?")) == (count, other, sql)


REPEATABLE = [
    UPSERT,
    "INSERT INTO t VALUES (?, 'x', 3) ON CONFLICT DO NOTHING;",
    "insert into t(k,\n v) values(?,?) on conflict(k) do update set v=EXCLUDED.v , k = excluded.k",
    "replace into t values (?, ?)",
    "insert or replace into a.t (k) values (?)",
    'delete from "t" where k = ? and v = ?',
    "update t set v = ?, w = null where k = ?",
    MYSQL_UPSERT,
    "insert ignore into t values (?, ?)",
    "INSERT INTO `t` (`k`, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES( v ), `k` = values(`k`);",
]
NOT_REPEATABLE = [
    INSERT,
    ADD,
    "insert into t values (?, now()) on conflict do nothing",
    "insert into t values (?, ?) on conflict (k) do update set v = excluded.w",
    "insert into t values (?, ?) on conflict (k) do update set v = excluded.v, n = n + 1",
    "update t set v = v + ? where k = ?",
    "update t set v = ?",
    "delete from t where k < (select max(k) from t) and v = ?",
    "delete from t where k = ?; update t set v = v + 1",
    "call f(?)",
    MYSQL_ADD,
    "insert into t values (?, ?) on duplicate key update v = values(w)",
]


@pytest.mark.parametrize("sql", REPEATABLE)
def test_statements_that_may_be_repeated(sql: str) -> None:
    """F7"""
    assert is_idempotent(sql)


@pytest.mark.parametrize("sql", NOT_REPEATABLE)
def test_statements_that_may_not(sql: str) -> None:
    """F7"""
    assert not is_idempotent(sql)
