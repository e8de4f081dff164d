"""Records of classes that are defined inside a function (P7): one class for a job's functions and its records."""

import enum
import re
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.core.errors import PenstockError, RecordError
from penstock.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.runtime.reachable import unimportable_classes
from penstock.testing import collect, local_job


def kinds() -> dict[str, Any]:
    """Makers of records, each of a class of this very call."""

    class Plain:
        def __init__(self, n: int) -> None:
            self.n = n

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Plain) and self.n == other.n

        def __hash__(self) -> int:
            return hash(self.n)

    @dataclass
    class Data:
        n: int

    @dataclass(frozen=True, slots=True)
    class Frozen:
        n: int

    class Named(NamedTuple):
        n: int

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    class Wrong(ValueError):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Wrong) and self.args == other.args

        __hash__ = ValueError.__hash__

    pair = namedtuple("pair", "n")
    return {
        "plain": Plain,
        "dataclass": Data,
        "frozen": Frozen,
        "named": Named,
        "enum": Colour,
        "exception": Wrong,
        "namedtuple": pair,
    }


NAMES = sorted(kinds())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_records_of_local_classes_go_everywhere(name: str, parallelism: int) -> None:
    """P7: out of a source, between chained operators, over an exchange, out of a job; isinstance holds."""
    make = kinds()[name]
    env = StreamExecutionEnvironment()
    stream = env.from_collection([make(1), make(2)]).map(lambda r: r).map(lambda r: (isinstance(r, make), r))
    stream = stream.rebalance().map(lambda r: (r[0] and isinstance(r[1], make), r[1])).set_parallelism(parallelism)
    collect(stream, "out")
    job = local_job(env, parallelism)
    job.run([1])
    found = job.results["out"]
    assert len(found) == 2
    assert (True, make(1)) in found
    assert (True, make(2)) in found
    assert all(type(record) is type(make(1)) for _, record in found)


class Keep(KeyedProcessFunction):
    """Keeps the last record in every kind of state, and says whether they are of its class."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def open(self, runtime_context: RuntimeContext) -> None:
        self.value = runtime_context.get_state(ValueStateDescriptor("value"))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list"))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        kept = [self.value.value(), *self.list.get(), *self.map.values()]
        yield [type(k) is self.cls for k in kept if k is not None], all(k in (None, value) for k in kept)
        self.value.update(value)
        self.list.add(value)
        self.map.put("last", value)


def keeping(name: str) -> StreamExecutionEnvironment:
    """The same program each time, with a class of its own each time."""
    make = kinds()[name]
    env = StreamExecutionEnvironment()
    stream = env.from_collection([1, 1]).uid("items").map(lambda n: make(n)).uid("make").key_by(lambda r: 0)
    collect(stream.process(Keep(type(make(1)))).uid("keep"), "out")
    return env


@pytest.mark.parametrize("name", NAMES)
def test_state_of_local_classes_survives_a_restart_of_the_program(name: str, tmp_path: Path) -> None:
    """P7, F4: after the restart values are of the class that the program defines now."""
    first = local_job(keeping(name))
    first.run_batch(1)
    first.savepoint(str(tmp_path / "one"))
    again = local_job(keeping(name), savepoint=str(tmp_path / "one"))
    again.run()
    assert first.results["out"] == [([], True)]
    assert again.results["out"] == [([True] * 3, True)]


@pytest.mark.parametrize("name", ["frozen", "named", "enum", "namedtuple"])
def test_local_classes_may_be_keys(name: str) -> None:
    """P7, G5"""
    make = kinds()[name]
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2, 1, 2]).key_by(lambda n: make(n)).reduce(lambda a, b: a + b), "out")
    job = local_job(env, 2)
    job.run([1] * 4)
    assert sorted(job.results["out"]) == [1, 2, 2, 4]


def test_classes_of_one_name_are_told_apart() -> None:
    """P7"""

    def make(offset: int) -> Any:
        @dataclass
        class Record:
            n: int

            def shifted(self) -> int:
                return self.n + offset

        return Record

    ten, hundred = make(10), make(100)
    env = StreamExecutionEnvironment()
    stream = env.from_collection([1, 2]).map(lambda n: (ten(n), hundred(n))).rebalance()
    collect(stream.map(lambda r: (r[0].shifted(), r[1].shifted())), "out")
    job = local_job(env, 2)
    job.run()
    assert sorted(job.results["out"]) == [(11, 101), (12, 102)]


def test_two_jobs_of_one_program_do_not_mix_their_classes() -> None:
    """P7: batches of two jobs alternate in one process."""
    jobs = []
    for _ in range(2):
        make = kinds()["dataclass"]
        env = StreamExecutionEnvironment()
        stream = env.from_collection([1, 2, 3]).map(lambda n, make=make: make(n)).rebalance()
        collect(stream.map(lambda r, make=make: type(r) is make), "out")
        jobs.append(local_job(env))
    for _ in range(3):
        for job in jobs:
            job.run_batch(1)
    assert [job.results["out"] for job in jobs] == [[True] * 3] * 2


def test_a_class_may_be_made_by_a_function_while_it_runs() -> None:
    """P7"""

    def parse(n: int) -> Any:
        return namedtuple("parsed", "n")(n)

    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2]).map(parse).rebalance().map(lambda r: r.n), "out")
    job = local_job(env, 2)
    job.run([1])
    assert sorted(job.results["out"]) == [1, 2]


def test_state_of_a_local_class_that_is_gone_names_it(tmp_path: Path) -> None:
    """F4, P9"""
    first = local_job(keeping("dataclass"))
    first.run_batch(1)
    first.savepoint(str(tmp_path / "one"))
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 1]).uid("items").key_by(lambda r: 0).process(Keep(int)).uid("keep"), "out")
    again = local_job(env, savepoint=str(tmp_path / "one"))
    with pytest.raises(PenstockError, match=r"test_local_classes\.kinds\.<locals>\.Data, which is defined inside"):
        again.run()


def test_what_cannot_be_pickled_is_still_refused() -> None:
    """P9"""

    class Holder:
        def __init__(self) -> None:
            self.function = lambda: 1

    env = StreamExecutionEnvironment()
    collect(env.from_collection([1]).map(lambda n: Holder()), "out")
    with pytest.raises(RecordError, match=r"a record cannot be pickled: .*Holder.*lambda"):
        local_job(env).run()


def test_only_classes_of_the_program_are_found() -> None:
    """P7: in the order in which the program refers to them, and nothing of Python's or of a library."""
    made = list(kinds().values())
    found = unimportable_classes(made)
    assert [cls for cls in found if cls in made] == made
    assert {cls.__name__ for cls in found} == {cls.__name__ for cls in made}  # slots make a second class of a name
    assert unimportable_classes([dataclass, Path, pytest, Keep, re.compile("a"), 1, NAMES]) == []


def test_a_large_collection_is_not_looked_through() -> None:
    """P7: one record of each type tells."""
    make = kinds()["dataclass"]
    assert unimportable_classes([make(1)] + [(n, str(n)) for n in range(100_000)]) == [make]
