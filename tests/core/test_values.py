"""Rows, types, spans of time, settings (P7)."""

import copy
import datetime
import pickle
from typing import Any

import pytest

from penstock.common import Configuration, Duration, Row, RowKind, Time, Types, WatermarkStrategy
from penstock.core.contracts.source import Position
from penstock.core.errors import ConfigurationError
from penstock.core.state.keyed import ListStateDescriptor, ValueStateDescriptor
from penstock.core.time.clock import ManualClock
from penstock.jobs.restart import restart_strategy


def test_a_row_is_read_by_position_name_and_attribute() -> None:
    """P7"""
    row = Row(name="Alice", age=11)
    assert (row[0], row["age"], row.name, row[0:2]) == ("Alice", 11, "Alice", ["Alice", 11])
    assert (list(row), len(row), "name" in row, "Alice" in row) == (["Alice", 11], 2, True, False)
    assert "Alice" in Row("Alice", 11)
    assert row.as_dict() == {"name": "Alice", "age": 11}
    assert Row(inner=Row(a=1), many=[Row(b=2)]).as_dict(True) == {"inner": {"a": 1}, "many": [{"b": 2}]}
    assert row.get_fields_by_names(["age", "name"]) == [11, "Alice"]


def test_a_row_is_changed_by_item_only() -> None:
    """P7"""
    row = Row(name="Alice", age=11)
    row["age"] = 12
    row[0] = "Bob"
    assert repr(row) == "Row(name='Bob', age=12)"
    with pytest.raises(AttributeError):
        row.age = 5


def test_rows_compare_by_value_kind_and_names() -> None:
    """P7"""
    assert Row(a=1, b=2) == Row(b=2, a=1)
    assert hash(Row(a=1, b=2)) == hash(Row(b=2, a=1))
    assert Row(1, 2) != Row(a=1, b=2)
    assert Row(1, 2) != (1, 2)
    assert Row(1) != Row.of_kind(RowKind.DELETE, 1)
    assert [str(k) for k in RowKind] == ["+I", "-U", "+U", "-D"]


@pytest.mark.parametrize("row", [Row(1, "a"), Row(a=1), Row.of_kind(RowKind.UPDATE_AFTER, x=[1]), Row()])
def test_rows_survive_pickling_and_copying(row: Row) -> None:
    """P7"""
    for again in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
        assert again == row
        assert again.get_row_kind() is row.get_row_kind()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Row(1, a=2), ValueError, "Can not use both args and kwargs"),
        (lambda: Row(1).as_dict(), TypeError, "Cannot convert a Row class into dict"),
        (lambda: Row(a=1)["b"], KeyError, "b"),
        (lambda: Row(a=1).b, AttributeError, "b"),
        (lambda: Row("a")(1, 2), ValueError, "expected 1 values"),
        (lambda: Row(a=1).get_fields_by_names(["z"]), ValueError, "not exist in"),
    ],
)
def test_mistakes_with_rows_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_types_print_as_they_are_written() -> None:
    """P7"""
    assert (
        str(Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.STRING())]))
        == "RowTypeInfo(a: Integer, b: ListTypeInfo<String>)"
    )
    assert Types.ROW([Types.INT()]).get_field_names() == ["f0"]
    assert Types.TUPLE([Types.STRING(), Types.LONG()]).get_field_types() == [Types.STRING(), Types.LONG()]
    assert Types.TUPLE([Types.INT()]) != Types.ROW([Types.INT()])


def test_spans_of_time_are_milliseconds() -> None:
    assert Duration.of(datetime.timedelta(seconds=1.5)).to_milliseconds() == 1500
    assert Duration.of_days(1) == Duration.of_hours(24) == Duration.of_minutes(1440)
    assert Duration.of_seconds(1) > Duration.of_millis(999)
    assert Time.days(1).to_milliseconds() == Time.hours(24).to_milliseconds() == 86_400_000
    assert [Time.minutes(1), Time.seconds(1), Time.milliseconds(1)] == [Time(60_000), Time(1_000), Time(1)]


def test_settings_are_text_and_read_as_what_is_asked_for() -> None:
    """P3"""
    conf = Configuration({"n": 5, "yes": True})
    conf.set_float("f", 1.5).set_boolean("no", False).set_string("s", "x").set_integer("i", 7)
    assert (conf.get_integer("n", 0), conf.get_float("f", 0), conf.get_boolean("yes", False)) == (5, 1.5, True)
    assert (conf.get_boolean("no", True), conf.get_string("s", ""), conf.get_integer("missing", 3)) == (False, "x", 3)
    assert conf.contains_key("n")
    assert conf.remove_config("n")
    assert not conf.remove_config("n")
    assert conf.key_set() == {"yes", "f", "no", "s", "i"}
    other = Configuration()
    other.add_all(conf, "p.")
    assert other.get_string("p.s", "") == "x"
    assert Configuration(conf) == conf
    assert hash(Configuration(conf)) == hash(conf)
    assert sorted(conf) == sorted(conf.to_dict())


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda c: c.get_integer("k", 0), "Setting 'k' must be of type int, got 'five'"),
        (lambda c: c.get_float("k", 0), "Setting 'k' must be of type float, got 'five'"),
        (lambda c: c.get_boolean("k", True), "Setting 'k' must be true or false, got 'five'"),
    ],
)
def test_a_malformed_setting_is_refused(read: Any, message: str) -> None:
    """P9"""
    with pytest.raises(ConfigurationError, match=message):
        read(Configuration({"k": "five"}))


def test_watermark_strategies_refuse_what_makes_no_sense() -> None:
    """P9, T3"""
    with pytest.raises(ValueError, match="The out-of-orderness must not be negative, got -1 ms"):
        WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1))
    with pytest.raises(
        TypeError, match=r"takes a TimestampAssigner or a function \(value, record_timestamp\) -> int, got s"
    ):
        WatermarkStrategy.no_watermarks().with_timestamp_assigner("ts")  # type: ignore[arg-type]


def test_state_descriptors_need_a_name() -> None:
    """S1, P9"""
    assert ValueStateDescriptor("v", Types.INT()).get_name() == "v"
    with pytest.raises(ValueError, match="A state descriptor needs a non-empty name, got ''"):
        ListStateDescriptor("")


def test_a_restart_strategy_gives_up_unless_there_is_progress() -> None:
    """F3"""
    strategy = restart_strategy(
        Configuration({"restart-strategy.fixed-delay.attempts": 2, "restart-strategy.fixed-delay.delay": 50})
    )
    assert [strategy.next_delay_ms(0) for _ in range(3)] == [50, 50, None]
    strategy.note_progress()
    assert strategy.next_delay_ms(0) == 50
    assert restart_strategy(Configuration({"restart-strategy.type": "none"})).next_delay_ms(0) is None
    with pytest.raises(ConfigurationError, match=r"restart-strategy\.type must be none, fixed-delay, .* got 'often'"):
        restart_strategy(Configuration({"restart-strategy.type": "often"}))


def test_positions_survive_the_offset_log() -> None:
    position = Position([1, 2, "x"], True)
    assert Position.from_json(position.to_json()) == position


def test_a_manual_clock_moves_when_told() -> None:
    """T1"""
    clock = ManualClock(5)
    clock.advance_ms(2)
    assert clock.now_ms() == 7
    clock.set_ms(1)
    assert clock.now_ms() == 1
