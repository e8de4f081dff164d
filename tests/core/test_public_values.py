"""Moments, durations, type hints, futures and job states as PyFlink has them (P7, P8)."""

import pickle
import threading
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import (
    CompletableFuture,
    Configuration,
    Duration,
    InputDependencyConstraint,
    Instant,
    JobID,
    JobStatus,
    Row,
    Time,
    Types,
)
from penstock.common.constants import MAX_LONG_VALUE, MIN_LONG_VALUE
from penstock.common.serializer import VoidNamespaceSerializer
from penstock.common.typeinfo import BasicTypeInfo, LocalTimeTypeInfo, RowTypeInfo, SqlTimeTypeInfo, TypeInformation
from penstock.core.errors import ConfigurationError
from penstock.core.time.spans import parse_duration_ms
from penstock.datastream import StreamExecutionEnvironment


@given(st.integers(-(10**15), 10**15))
def test_a_moment_and_its_milliseconds_are_the_same(millis: int) -> None:
    """T1"""
    moment = Instant.of_epoch_milli(millis)
    assert 0 <= moment.nanos < 10**9
    assert moment.to_epoch_milli() == millis
    assert pickle.loads(pickle.dumps(moment)) == moment
    assert hash(moment) == hash(Instant.of_epoch_milli(millis))


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("250", 250),
        ("10 s", 10_000),
        ("1min", 60_000),
        ("2 m", 120_000),
        ("3 hours", 10_800_000),
        ("1 d", 86_400_000),
        ("5 MS", 5),
        ("2000 micros", 2),
        ("3000000 ns", 3),
        (" 7 seconds ", 7000),
    ],
)
def test_durations_in_settings(text: str, ms: int) -> None:
    """P3"""
    assert parse_duration_ms(text) == ms
    assert Configuration({"k": text}).get_duration_ms("k", -1) == ms


@pytest.mark.parametrize("text", ["", "s", "ten s", "-1 s", "1.5 s", "1 fortnight", "1 s 2 ms"])
def test_a_malformed_duration_is_refused(text: str) -> None:
    """P9"""
    with pytest.raises(
        ConfigurationError, match=r"Setting 'k' must be a duration like '10 s', '1 min' or '500 ms', got"
    ):
        Configuration({"k": text}).get_duration_ms("k", -1)


def test_spans_compare_hash_print_and_travel() -> None:
    """P7"""
    assert Duration.of_nanos(1_999_999).to_milliseconds() == 1
    assert Duration.of_nanos(1) != Duration.of_nanos(2)
    assert Duration.of_millis(5) != Time(5)
    assert str(Time.seconds(1)) == "1000 ms"
    assert repr(Duration.of_seconds(1)) == "Duration(1000 ms)"
    assert {Time(1), Time(1)} == {Time(1)}
    assert sorted([Time(2), Time(1)]) == [Time(1), Time(2)]
    assert pickle.loads(pickle.dumps(Duration.of_days(1))) == Duration.of_days(1)
    with pytest.raises(TypeError):
        assert Duration.of_millis(1) < Time(1)


ALL_TYPES: list[TypeInformation] = [
    Types.STRING(),
    Types.BYTE(),
    Types.BOOLEAN(),
    Types.SHORT(),
    Types.INT(),
    Types.LONG(),
    Types.FLOAT(),
    Types.DOUBLE(),
    Types.CHAR(),
    Types.BIG_INT(),
    Types.BIG_DEC(),
    Types.INSTANT(),
    Types.SQL_DATE(),
    Types.SQL_TIME(),
    Types.SQL_TIMESTAMP(),
    Types.PICKLED_BYTE_ARRAY(),
    Types.PRIMITIVE_ARRAY(Types.INT()),
    Types.BASIC_ARRAY(Types.INT()),
    Types.OBJECT_ARRAY(Types.INT()),
    Types.LIST(Types.INT()),
    Types.LIST(Types.LONG()),
    Types.MAP(Types.INT(), Types.LONG()),
    Types.MAP(Types.LONG(), Types.INT()),
    Types.TUPLE([Types.INT()]),
    Types.ROW([Types.INT()]),
    Types.ROW([Types.INT(), Types.ROW([Types.INT()])]),
    *(LocalTimeTypeInfo(t) for t in LocalTimeTypeInfo.TimeType),
]


def test_types_differ_from_each_other_and_equal_their_copies() -> None:
    """P7"""
    assert len(set(ALL_TYPES)) == len(ALL_TYPES)
    for one in ALL_TYPES:
        copy = pickle.loads(pickle.dumps(one))
        assert copy == one
        assert hash(copy) == hash(one)
        assert (copy.name, copy.params, copy.field_names) == (one.name, one.params, one.field_names)


def test_types_print_as_in_pyflink() -> None:
    """P7"""
    assert [repr(t) for t in ALL_TYPES[:12]] == [
        "String",
        "Byte",
        "Boolean",
        "Short",
        "Integer",
        "Long",
        "Float",
        "Double",
        "Char",
        "BigInteger",
        "BigDecimal",
        "Instant",
    ]
    assert [repr(t) for t in ALL_TYPES[12:20]] == [
        "DateTypeInfo",
        "TimeTypeInfo",
        "TimestampTypeInfo",
        "PickledByteArrayTypeInfo",
        "PrimitiveArrayTypeInfo<Integer>",
        "BasicArrayTypeInfo<Integer>",
        "ObjectArrayTypeInfo<Integer>",
        "ListTypeInfo<Integer>",
    ]
    assert repr(Types.MAP(Types.INT(), Types.LONG())) == "MapTypeInfo<Integer, Long>"
    assert repr(Types.TUPLE([Types.INT(), Types.LONG()])) == "TupleTypeInfo(Integer, Long)"
    assert repr(Types.ROW([Types.INT()])) == "RowTypeInfo(Integer)"
    assert repr(ALL_TYPES[-1]) == "LocalTimeTypeInfo<LOCAL_DATE_TIME>"


def test_every_basic_type_has_two_names() -> None:
    """P7"""
    for name in ("STRING", "BYTE", "BOOLEAN", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "CHAR", "BIG_INT", "BIG_DEC"):
        assert getattr(BasicTypeInfo, f"{name}_TYPE_INFO")() == getattr(Types, name)()
    assert BasicTypeInfo.INSTANT_TYPE_INFO() == Types.INSTANT()
    assert [SqlTimeTypeInfo.DATE(), SqlTimeTypeInfo.TIME(), SqlTimeTypeInfo.TIMESTAMP()] == ALL_TYPES[12:15]


def test_row_types_know_their_fields() -> None:
    """P7"""
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    assert (named.get_field_names(), named.get_field_types()) == (["a", "b"], [Types.INT(), Types.STRING()])
    assert (named.get_field_index("b"), Types.ROW([Types.INT()]).get_field_index("f0")) == (1, -1)
    assert named == RowTypeInfo([Types.INT(), Types.STRING()])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Types.PRIMITIVE_ARRAY(Types.STRING()),
            TypeError,
            r"Types\.PRIMITIVE_ARRAY takes BOOLEAN, .* got String",
        ),
        (lambda: Types.BASIC_ARRAY(Types.ROW([])), TypeError, r"Types\.BASIC_ARRAY takes .* STRING, got RowTypeInfo"),
        (lambda: Types.ROW_NAMED(["a"], []), ValueError, r"A row type has 0 types but 1 names: \['a'\]"),
    ],
)
def test_types_that_cannot_be_are_refused(make: Any, error: type[Exception], message: str) -> None:
    """P9"""
    with pytest.raises(error, match=message):
        make()


def test_a_row_without_names_prints_as_in_pyflink() -> None:
    """P7"""
    assert repr(Row(1, "a")) == "<Row(1, 'a')>"


def test_constants() -> None:
    """P7"""
    assert (MIN_LONG_VALUE, MAX_LONG_VALUE) == (-(2**63), 2**63 - 1)
    assert [c.name for c in InputDependencyConstraint] == ["ANY", "ALL"]
    stream = BytesIO()
    VoidNamespaceSerializer().serialize(b"", stream)
    assert stream.getvalue() == b""
    assert VoidNamespaceSerializer() == VoidNamespaceSerializer()
    assert hash(VoidNamespaceSerializer()) == hash(VoidNamespaceSerializer())


# -- futures ------------------------------------------------------------------------------------------


def test_a_future_completes_once() -> None:
    """P8"""
    go = threading.Event()
    future = CompletableFuture.run(lambda: go.wait() and 5)
    assert (future.done(), future.cancel(), future.cancelled(), future.exception()) == (False, False, False, None)
    assert repr(future) == "CompletableFuture(pending)"
    go.set()
    assert (future.result(), future.done(), future.exception()) == (5, True, None)
    assert repr(future) == "CompletableFuture(done)"


def test_a_future_carries_what_went_wrong() -> None:
    """P8"""
    future: CompletableFuture[float] = CompletableFuture.run(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        future.result()
    assert isinstance(future.exception(), ZeroDivisionError)


def test_job_states_that_end_a_job() -> None:
    """P8"""
    ended = {s.name for s in JobStatus if s.is_terminal_state()}
    assert ended == {"FAILED", "CANCELED", "FINISHED", "SUSPENDED"}
    assert not JobStatus.SUSPENDED.is_globally_terminal_state()


def test_a_job_client_answers_with_futures() -> None:
    """P8"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    env.from_collection([1]).map(str).print()
    client = env.execute_async("job")
    assert client.get_job_status().result() is JobStatus.RUNNING
    result = client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert client.get_job_id() == result.get_job_id() == JobID("local")
    assert (result.get_accumulator_result("n"), result.get_all_accumulator_results()) == (None, {})
    assert result.get_net_runtime() >= 0
    assert str(result).startswith("Job 'job' (local) ran for ")


def test_a_cancelled_job_says_so() -> None:
    """P8"""
    env = StreamExecutionEnvironment(Configuration({"penstock.host": "local"}))
    env.from_collection([1]).print()
    client = env.execute_async()
    assert client.cancel().result() is None
    assert client.wait().batches == 0
    assert client.get_job_status().result() is JobStatus.CANCELED
