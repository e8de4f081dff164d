"""Types declared for an operator's output shape its records, chained or not (P7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.common.watermark_strategy import WatermarkGenerator
from penstock.core.errors import PenstockError
from penstock.datastream import (
    AsyncFunction,
    DataStream,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    PythonSource,
    SourceFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from penstock.datastream.window import TimeWindow, Trigger, WindowAssigner

PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
PEOPLE = OutputTag("people", PERSON)


def run(build: Callable[[DataStream[Any]], DataStream[Any]], *items: Any) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "local"}))
    with build(env.from_collection(items).uid("in")).execute_and_collect() as results:
        return list(results)


class Aside(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield PEOPLE, (value, 1)


@pytest.mark.parametrize("cut", [False, True], ids=["chained", "apart"])
@pytest.mark.parametrize("record", [("Ann", 1), Row("Ann", 1), Row(age=1, name="Ann")])
def test_a_row_type_names_the_fields(record: Any, cut: bool) -> None:
    """P7: the function behind may ask by name, whether or not it runs in the same task."""

    def build(stream: DataStream[Any]) -> DataStream[Any]:
        typed = stream.map(lambda v: v, PERSON)
        return (typed.disable_chaining() if cut else typed).map(lambda p: (p.name, p["age"]))

    assert run(build, record) == [("Ann", 1)]


def test_a_float_has_32_bits_and_a_double_64() -> None:
    """P7"""
    single, double = Types.TUPLE([Types.STRING(), Types.FLOAT()]), Types.TUPLE([Types.STRING(), Types.DOUBLE()])
    assert run(lambda s: s.map(lambda v: v, single), ("a", 110.1)) == [("a", 110.0999984741211)]
    assert run(lambda s: s.map(lambda v: v, double), ("a", 110.1)) == [("a", 110.1)]


def test_a_type_goes_through_filter_and_reduce() -> None:
    """P7, O2: what a reduce function returns has the type of the stream."""

    def build(stream: DataStream[Any]) -> DataStream[Any]:
        people = stream.map(lambda v: v, PERSON).filter(lambda p: p.age > 0).key_by(lambda p: p.name)
        return people.reduce(lambda a, b: (a[0], a[1] + b[1])).map(lambda p: p.age)

    assert run(build, ("Ann", 1), ("Ann", -1), ("Ann", 2)) == [1, 3]


class People(PythonSource):
    bounded = True

    def partitions(self) -> list[str]:
        return ["all"]

    def latest_offset(self, partition: str, start: int, limit: int) -> int:
        return 2

    def is_end(self, partition: str, offset: int) -> bool:
        return offset == 2

    def read_partition(self, partition: str, start: int, end: int) -> list[Any]:
        return [("Ann", 7), ("Bob", 8)][start:end]


class Say(SourceFunction):
    def run(self, ctx: Any) -> None:
        ctx.collect(("Ann", 7))
        ctx.collect_with_timestamp(("Bob", 8), 1)

    def cancel(self) -> None:
        """It ends by itself."""


class Unwatched(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        """Says nothing."""


BY_AGE = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda p, _: p.age)
APART = WatermarkStrategy.for_generator(Unwatched).with_timestamp_assigner(lambda p, _: p.age)


@pytest.mark.parametrize("strategy", [BY_AGE, APART], ids=["beside the source", "in a stage"])
def test_a_sources_type_is_there_before_its_timestamp_assigner(strategy: WatermarkStrategy) -> None:
    """P7, T8"""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "local"}))
    people = env.from_source(People(), strategy, "people", PERSON)
    assert people.get_type() == PERSON
    with people.map(lambda p: p.name).execute_and_collect() as results:
        assert list(results) == ["Ann", "Bob"]


def test_what_a_source_function_emits_has_its_type() -> None:
    """P7"""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "local"}))
    with env.add_source(Say(), "say", PERSON).map(lambda p: p.age).execute_and_collect() as results:
        assert list(results) == [7, 8]


def test_a_sources_record_that_cannot_have_the_type_is_refused_by_name() -> None:
    """P9"""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration({"penstock.host": "local"}))
    number = Types.ROW_NAMED(["n"], [Types.INT()])
    stream = env.from_source(People(), WatermarkStrategy.no_watermarks(), "people", number).uid("p")
    with pytest.raises(PenstockError, match=r"(?s)Operator 'Source: people' \(uid p\).*Ann"):
        list(stream.execute_and_collect())


def test_a_side_output_has_the_type_of_its_tag() -> None:
    """P7, O4"""
    assert run(lambda s: s.process(Aside()).get_side_output(PEOPLE), "Ann") == [Row(name="Ann", age=1)]


def test_a_record_that_cannot_have_the_type_is_refused_by_name() -> None:
    """P9"""
    with pytest.raises(
        PenstockError, match=r"(?s)Operator 'Map' \(uid m\).*'text' \(str\) is not of type .*: give a Row"
    ):
        run(lambda s: s.map(lambda v: v, PERSON).uid("m"), "text")


@pytest.mark.parametrize("cls", [ProcessWindowFunction, WindowFunction, AsyncFunction, Trigger, WindowAssigner])
def test_classes_take_type_parameters_as_in_pyflink(cls: Any) -> None:
    """P7: they are for the reader."""
    assert issubclass(type("Mine", (cls[int, TimeWindow],), {}), cls)
    assert ProcessWindowFunction.Context[TimeWindow] is ProcessWindowFunction.Context
