"""Joins that make no sense are refused where they are written, by name and with the way out (P9, W8)."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import Duration, Time
from penstock.core.errors import ProgramError
from penstock.datastream import (
    CoGroupFunction,
    DataStream,
    JoinFunction,
    KeyedStream,
    MapFunction,
    ProcessJoinFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.window import DeltaTrigger, EventTimeSessionWindows, TumblingEventTimeWindows

MS = Time.milliseconds
ZERO, FIVE = MS(0), MS(5)
TEN = TumblingEventTimeWindows.of(MS(10))


class Pair(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        return [(left, right)]


class Joined(JoinFunction):
    def join(self, first: Any, second: Any) -> Any: ...


class Grouped(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Any: ...


class Mapped(MapFunction):
    def map(self, value: Any) -> Any: ...


def stream(env: StreamExecutionEnvironment | None = None) -> DataStream[Any]:
    return (env or StreamExecutionEnvironment()).from_collection(["a"])


def same(value: Any) -> Any:
    return value


def pair() -> tuple[DataStream[Any], DataStream[Any]]:
    env = StreamExecutionEnvironment()
    return stream(env), stream(env)


def keyed() -> tuple[KeyedStream[Any], KeyedStream[Any]]:
    one, two = pair()
    return one.key_by(same), two.key_by(same)


def windowed(assigner: Any = TEN) -> Any:
    one, two = pair()
    return one.join(two).where(same).equal_to(same).window(assigner)


def _where(selector: Any) -> Any:
    one, two = pair()
    return one.join(two).where(selector)


def between(lower: Any = ZERO, upper: Any = FIVE) -> Any:
    one, two = keyed()
    return one.interval_join(two).between(lower, upper)


def regular() -> Any:
    one, two = keyed()
    return one.regular_join(two)


def of_processing_time() -> Any:
    one, two = keyed()
    return one.interval_join(two).in_processing_time().between(MS(0), MS(5))


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: stream().join(stream()), ProgramError, r"join\(\) joins two streams of one environment"),
    (lambda: stream().co_group(stream()), ProgramError, r"co_group\(\) joins two streams of one environment"),
    (lambda: stream().join("b"), TypeError, r"join\(\) takes a DataStream, got str"),
    (lambda: _where(3), TypeError, r"key_by\(\) takes a function or a KeySelector, got int"),
    (lambda: windowed("ten"), TypeError, r"window\(\) takes a WindowAssigner, got str"),
    (
        lambda: windowed().apply(3),
        TypeError,
        r"apply\(\) of a join takes a function of two records or a JoinFunction or a FlatJoinFunction, got int",
    ),
    (lambda: windowed().apply(Mapped()), TypeError, r"apply\(\) of a join takes .*, got Mapped"),
    (lambda: windowed().apply(Grouped()), TypeError, r"apply\(\) of a join takes .*, got Grouped"),
    (lambda: windowed().allowed_lateness(-1), ProgramError, r"allowed_lateness\(\) must not be negative, got -1 ms"),
    (lambda: windowed().trigger("t"), TypeError, r"trigger\(\) takes a Trigger, got str"),
    (lambda: windowed().evictor("e"), TypeError, r"evictor\(\) takes an Evictor, got str"),
    (
        lambda: windowed().side_output_late_data("l"),
        TypeError,
        r"side_output_late_data\(\) takes an OutputTag, got str",
    ),
    (
        lambda: windowed(EventTimeSessionWindows.with_gap(MS(5))).trigger(DeltaTrigger.of(1, lambda a, b: 0)),
        ProgramError,
        "merges windows, which DeltaTrigger cannot",
    ),
    (
        lambda: keyed()[0].interval_join(stream()),
        TypeError,
        r"interval_join\(\) takes a KeyedStream, got DataStream: call key_by on it first",
    ),
    (lambda: keyed()[0].interval_join(3), TypeError, r"interval_join\(\) takes a KeyedStream, got int$"),
    (
        lambda: keyed()[0].interval_join(keyed()[1]),
        ProgramError,
        r"interval_join\(\) joins two streams of one environment",
    ),
    (
        of_processing_time,
        ProgramError,
        r"interval_join\(\) is there in event time only: leave in_processing_time\(\) out",
    ),
    (
        lambda: between(MS(6), MS(5)),
        ProgramError,
        r"between\(6 ms, 5 ms\): the lower bound must not be greater than the upper one",
    ),
    (lambda: between(6), TypeError, r"between\(\): the lower bound must be a Time, a Duration or a timedelta, got int"),
    (
        lambda: between(MS(5), None),
        TypeError,
        r"between\(\): the upper bound must be a Time, a Duration or a timedelta, got NoneType",
    ),
    (
        lambda: between(MS(5), MS(5)).lower_bound_exclusive().process(Pair()),
        ProgramError,
        r"between\(5 ms, 5 ms\) without its bounds holds no millisecond: nothing can match",
    ),
    (
        lambda: between(MS(5), MS(6)).lower_bound_exclusive().upper_bound_exclusive().process(Pair()),
        ProgramError,
        r"between\(5 ms, 6 ms\) without its bounds holds no millisecond",
    ),
    (
        lambda: between().process(same),
        TypeError,
        r"process\(\) of an interval join takes a ProcessJoinFunction, got function",
    ),
    (
        lambda: between().side_output_left_late_data("l"),
        TypeError,
        r"side_output_left_late_data\(\) takes an OutputTag, got str",
    ),
    (
        lambda: between().side_output_right_late_data("l"),
        TypeError,
        r"side_output_right_late_data\(\) takes an OutputTag, got str",
    ),
    (
        lambda: keyed()[0].regular_join(stream()),
        TypeError,
        r"regular_join\(\) takes a KeyedStream, got DataStream: call key_by on it first",
    ),
    (
        lambda: keyed()[0].regular_join(keyed()[1]),
        ProgramError,
        r"regular_join\(\) joins two streams of one environment",
    ),
    (lambda: regular().with_time_to_live(5), TypeError, r"with_time_to_live\(\) takes a StateTtlConfig, got int"),
    (
        lambda: regular().inner(3),
        TypeError,
        r"inner\(\) of a regular join takes a function of two records or a JoinFunction, got int",
    ),
    (lambda: regular().left(Grouped()), TypeError, r"left\(\) of a regular join takes .* JoinFunction, got Grouped"),
]


@pytest.mark.parametrize(("program", "error", "text"), REFUSED)
def test_mistakes_are_refused_where_they_are_written(
    program: Callable[[], Any], error: type[Exception], text: str
) -> None:
    """P9, W8"""
    with pytest.raises(error, match=text):
        program()


@pytest.mark.parametrize("operation", ["interval_join", "regular_join"])
def test_a_stream_that_is_not_keyed_has_no_keyed_joins(operation: str) -> None:
    """P9"""
    assert not hasattr(stream(), operation)


def test_bounds_may_be_durations_and_settings_do_not_spread() -> None:
    """Each setting gives a join of its own; event time is the default."""
    one, two = keyed()
    inner = one.interval_join(two).in_event_time().between(Duration.of_millis(-1), Duration.of_seconds(1))
    outer = inner.left_outer()
    assert [s.outer for s in inner._settings.sides()] == [False, False]
    assert [(s.first, s.last, s.outer) for s in outer._settings.sides()] == [(-1, 1000, True), (-1000, 1, False)]
