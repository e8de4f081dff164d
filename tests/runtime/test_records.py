"""Records on their way: any Python object, fixed when emitted, in every kind of operator (P7, S7)."""

import copy
import datetime
import enum
from collections import namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from penstock.common import Configuration, Row
from penstock.core.program.job import RuntimeSettings
from penstock.datastream import KeyedProcessFunction, ProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.launch import plan_options
from penstock.testing import KeyedOneInputHarness, collect, local_job

Pair = namedtuple("Pair", "a b")


class Colour(enum.Enum):
    RED = 1


@dataclass
class User:
    name: str
    tags: list[str]


RECORDS: list[Any] = [
    None,
    True,
    1,
    2**100,
    1.5,
    "text",
    b"bytes",
    Decimal("1.10"),
    datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
    (1, ("a", None)),
    Pair(1, [2]),
    User("a", ["x"]),
    Row(a=1, b=[2]),
    [1, [2]],
    {"k": {1, 2}},
    Colour.RED,
    np.int64(5),
    float("inf"),
]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_records_may_be_any_object(parallelism: int) -> None:
    """P7: through map, an exchange, keyed state and a sink."""
    env = StreamExecutionEnvironment()
    stream = env.from_collection(list(enumerate(RECORDS))).map(lambda r: r).rebalance().map(lambda r: r)
    collect(stream.key_by(lambda r: r[0]).reduce(lambda a, b: b), "out")
    job = local_job(env, parallelism)
    job.run([3, 5])
    found = [value for _, value in sorted(job.results["out"], key=lambda r: r[0])]
    assert found == RECORDS
    assert list(map(type, found)) == list(map(type, RECORDS))


def test_arrays_may_be_records() -> None:
    """P7"""
    env = StreamExecutionEnvironment()
    collect(env.from_collection([np.arange(3)]).map(lambda a: a * 2).rebalance().map(lambda a: a + 1), "out")
    job = local_job(env, 2)
    job.run()
    assert job.results["out"][0].tolist() == [1, 3, 5]


def again_and_again(value: int) -> Iterator[list[int]]:
    record: list[int] = []
    for i in range(value):
        record.append(i)
        yield record


class AgainAndAgain(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Iterator[list[int]]:
        yield from again_and_again(value)


class KeyedAgainAndAgain(KeyedProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Iterator[list[int]]:
        yield from again_and_again(value)


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.flat_map(again_and_again),
        lambda s: s.process(AgainAndAgain()),
        lambda s: s.key_by(lambda v: v).process(KeyedAgainAndAgain()),
    ],
)
def test_a_generator_may_yield_the_same_list_again(build: Any) -> None:
    """S7"""
    env = StreamExecutionEnvironment()
    collect(build(env.from_collection([3])), "out")
    job = local_job(env)
    job.run()
    assert job.results["out"] == [[0], [0, 1], [0, 1, 2]]


def test_a_function_may_return_one_list_for_all_records() -> None:
    """S7"""
    shared: list[int] = []
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2]).map(lambda v: shared.append(v) or shared), "out")
    job = local_job(env)
    job.run()
    assert job.results["out"] == [[1], [1, 2]]


@pytest.mark.parametrize("parallelism", [1, 2])
def test_branches_do_not_see_what_others_do_to_a_record(parallelism: int) -> None:
    """S7, G3"""
    env = StreamExecutionEnvironment()
    stream = env.from_collection([[1], [2]]).map(lambda v: v)
    for name in ("x", "y", "z"):
        collect(stream.map(lambda v, name=name: v.append(name) or v), name)
    collect(stream, "plain")
    job = local_job(env, parallelism)
    job.run()
    assert {n: sorted(v) for n, v in job.results.items()} == {
        "plain": [[1], [2]],
        **{n: [[1, n], [2, n]] for n in "xyz"},
    }


def test_object_reuse_lifts_the_copies() -> None:
    """S7"""
    conf = Configuration({"pipeline.object-reuse": "true"})
    assert plan_options(conf, "local", 1, 128).settings.object_reuse
    env = StreamExecutionEnvironment()
    collect(env.from_collection([3]).flat_map(again_and_again), "out")
    job = local_job(env, settings=RuntimeSettings(object_reuse=True))
    job.run()
    assert job.results["out"] == [[0, 1, 2]] * 3


class Collecting:
    """An aggregate that changes its accumulator in place."""

    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> list[Any]:
        return accumulator


class Aliasing(KeyedProcessFunction):
    """Changes, after the fact, everything it put into state or got out of it."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value"))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list"))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map"))
        self.reduced = runtime_context.get_reducing_state(ReducingStateDescriptor("reduced", lambda a, b: a + b))
        self.aggregated = runtime_context.get_aggregating_state(AggregatingStateDescriptor("agg", Collecting()))
        self.shared: list[Any] = []

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.shared.append(value)
        self.value.update(self.shared)
        self.list.add(self.shared)
        self.map.put("k", self.shared)
        self.reduced.add([value])
        self.aggregated.add(value)
        for read in (self.value.value(), *self.list, *self.map.values(), self.reduced.get(), self.aggregated.get()):
            read.append("changed")  # type: ignore[union-attr]
        yield value, self.value.value(), list(self.list), self.map["k"], self.reduced.get(), self.aggregated.get()


def test_state_is_fixed_when_it_is_updated() -> None:
    """S7: nor do keys share what was one object."""
    harness = KeyedOneInputHarness(Aliasing(), lambda v: v[0])
    with harness.batch():
        harness.push("a1")
        harness.push("b1")
        harness.push("a2")
    assert harness.output() == [
        ("a1", ["a1"], [["a1"]], ["a1"], ["a1"], ["a1"]),
        ("b1", ["a1", "b1"], [["a1", "b1"]], ["a1", "b1"], ["b1"], ["b1"]),
        ("a2", ["a1", "b1", "a2"], [["a1"], ["a1", "b1", "a2"]], ["a1", "b1", "a2"], ["a1", "a2"], ["a1", "a2"]),
    ]


MIXED: list[Any] = [1, "a", [1], True, (1, [2]), 2.5, {"k": [1]}, (1, 2), Pair(1, [2]), b"b", [], 7]


def _spoil(value: Any) -> None:
    """Change whatever can be changed in a record of `MIXED`."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, list):
            part.append("spoilt")
        elif isinstance(part, dict):
            part["spoilt"] = True


class Spoiling(KeyedProcessFunction):
    """Emits and stores values of ever other classes, and spoils each afterwards; then shows what state holds."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("last"))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        for template in MIXED:
            for made in (copy.deepcopy(template), (0, copy.deepcopy(template))):
                self.state.update(made)
                yield made
                for part in made if type(made) is tuple else (made,):
                    _spoil(part)
                yield self.state.value()
        self.state.update(None)
        yield self.state.value()


def test_records_and_values_of_changing_classes_are_fixed() -> None:
    """S7: what was immutable once does not decide about the next record or value."""
    harness = KeyedOneInputHarness(Spoiling(), lambda v: 0)
    for _ in range(2):
        with harness.batch():
            harness.push("go")
    expected = [made for t in MIXED for made in (t, t, (0, t), (0, t))]
    assert harness.output() == 2 * [*expected, None]


class Plenty(KeyedProcessFunction):
    """Makes many records of one."""

    def process_element(self, value: int, ctx: Any) -> Iterator[tuple[int, int]]:
        for number in range(value):
            assert len(SEEN) >= number - 200, "what was made waits in memory"
            yield value, number


SEEN: list[Any] = []


def test_a_call_that_yields_much_is_taken_in_chunks() -> None:
    """F13: what one call makes of one record goes on before the call has ended."""
    env = StreamExecutionEnvironment()
    env.from_collection([1000]).key_by(lambda v: 0).process(Plenty()).map(lambda v: SEEN.append(v) or v).print()
    SEEN.clear()
    local_job(env, settings=RuntimeSettings(chunk_records=100), printer=lambda text: None).run()
    assert [(1000, number) for number in range(1000)] == SEEN


@dataclass(frozen=True)
class Step:
    by: int


class Stepping(KeyedProcessFunction):
    def __init__(self) -> None:
        self.step, self.calls = Step(5), [0]

    def process_element(self, value: int, ctx: Any) -> Iterator[int]:
        self.calls[0] += 1
        yield value + self.step.by * self.calls[0]


def test_each_subtask_has_a_function_of_its_own() -> None:
    """P6: attributes of a function are copied, and those of objects that it holds; the program's own stays."""
    function = Stepping()
    for _ in range(2):
        harness = KeyedOneInputHarness(function, lambda v: 0)
        with harness.batch():
            harness.push(1)
            harness.push(1)
        assert harness.output() == [6, 11]
    assert function.calls == [0]
