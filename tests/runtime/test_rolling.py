"""Rolling reductions of a keyed stream: a result for each record, whatever the records are (O2, P7)."""

from collections import namedtuple
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row
from penstock.core.errors import UserFunctionError
from penstock.core.program.job import RuntimeSettings
from penstock.core.program.poison import PoisonPolicy
from penstock.datastream import KeyedStream, StreamExecutionEnvironment
from penstock.testing import collect, local_job

Numbered = namedtuple("Numbered", ["key", "n"])

SCALARS = st.integers(0, 9)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=4)
"""Immutable at first sight, immutable when looked into, and mutable."""

RECORDS = st.lists(st.tuples(st.integers(0, 2), VALUES), max_size=20)
SPLITS = st.lists(st.integers(1, 6), max_size=8)


def rolled(
    records: list[Any],
    build: Callable[[KeyedStream[Any]], Any],
    split: list[int] = [],  # noqa: B006 - only read
    parallelism: int = 1,
    settings: RuntimeSettings | None = None,
) -> list[Any]:
    env = StreamExecutionEnvironment()
    collect(build(env.from_collection(records).key_by(itemgetter(0))), "rolled")
    job = local_job(env, parallelism, settings=settings)
    job.run(split)
    return list(job.results["rolled"])


def spoil(record: tuple[int, list[Any]]) -> tuple[int, list[Any]]:
    """What comes out belongs to whoever takes it."""
    seen = deepcopy(record)
    record[1].clear()
    return seen


@given(RECORDS, SPLITS, st.sampled_from([1, 3]))
def test_each_record_gives_what_its_key_has_come_to(
    records: list[tuple[int, Any]], split: list[int], parallelism: int
) -> None:
    """O2: any split into batches, any parallelism; results and state share nothing that can be changed."""
    expected: dict[int, list[Any]] = {}
    so_far: dict[int, list[Any]] = {}
    for key, value in records:
        so_far.setdefault(key, []).append(value)
        expected.setdefault(key, []).append((key, list(so_far[key])))

    def longer(a: tuple[int, list[Any]], b: tuple[int, list[Any]]) -> tuple[int, list[Any]]:
        a[1].extend(b[1])
        return a

    found: dict[int, list[Any]] = {}
    given_lists = [(key, [value]) for key, value in records]
    for key, values in rolled(given_lists, lambda keyed: keyed.reduce(longer).map(spoil), split, parallelism):
        found.setdefault(key, []).append((key, values))
    assert found == expected


@given(RECORDS, SPLITS)
def test_the_last_record_of_a_key_is_kept_as_it_is(records: list[tuple[int, Any]], split: list[int]) -> None:
    """O2, P7"""
    assert rolled(records, lambda keyed: keyed.reduce(lambda a, b: b), split) == records


@given(RECORDS, SPLITS)
def test_a_guarded_reduction_comes_to_the_same(records: list[tuple[int, Any]], split: list[int]) -> None:
    """O2, F9: record by record there, by the chunk here."""

    def combined(a: tuple[int, Any], b: tuple[int, Any]) -> tuple[int, Any]:
        return a[0], (a[1], b[1])

    guarded = RuntimeSettings(poison=PoisonPolicy(guarded=True))
    plain = rolled(records, lambda keyed: keyed.reduce(combined), split)
    assert plain == rolled(records, lambda keyed: keyed.reduce(combined), split, settings=guarded)


ROLLING: dict[str, Callable[[int, int], int]] = {
    "sum": lambda old, new: old + new,
    "min": min,
    "max": max,
    "min_by": min,
    "max_by": max,
}


@pytest.mark.parametrize("operation", ROLLING)
@pytest.mark.parametrize("record", [tuple, list, Numbered._make, lambda fields: Row(*fields)])
@pytest.mark.parametrize("position", [1, -1])
def test_rolling_fields_of_all_kinds_of_records(
    operation: str, record: Callable[[list[int]], Any], position: int
) -> None:
    """O2"""
    numbers = [(key, n) for n in (3, 5, 5, 1, 4) for key in (0, 1)]
    so_far: dict[int, int] = {}
    expected = []
    for key, n in numbers:
        so_far[key] = ROLLING[operation](so_far[key], n) if key in so_far else n
        expected.append(record([key, so_far[key]]))
    records = [record([key, n]) for key, n in numbers]
    found = rolled(records, lambda keyed: getattr(keyed, operation)(position), [3])
    assert found == expected
    assert set(map(type, found)) == {type(records[0])}


@pytest.mark.parametrize("extreme", ["min_by", "max_by"])
def test_of_equal_extremes_the_first_record_stays(extreme: str) -> None:
    """O2: as in Flink, whose `first` is true unless said otherwise; `min` and `max` keep the other fields."""
    records = [(0, 5, "first"), (0, 5, "second"), (0, 4 if extreme == "min_by" else 6, "third")]
    found = rolled(records, lambda keyed: getattr(keyed, extreme)(1))
    assert [name for _, _, name in found] == ["first", "first", "third"]
    found = rolled(records, lambda keyed: getattr(keyed, extreme.removesuffix("_by"))(1))
    assert found == [(0, 5, "first"), (0, 5, "first"), (0, records[2][1], "first")]


@dataclass
class Reading:
    key: str
    n: int


@dataclass(frozen=True, slots=True)
class Fixed:
    key: str
    n: int


class Plain:
    def __init__(self, key: str, n: int) -> None:
        self.key, self.n = key, n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


MAKERS: dict[str, Callable[[str, int], Any]] = {
    "dict": lambda key, n: {"key": key, "n": n},
    "dataclass": Reading,
    "frozen": Fixed,
    "plain": Plain,
    "named tuple": Numbered,
    "row": lambda key, n: Row(key=key, n=n),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("sum", [("a", 2), ("a", 3), ("a", 6)]),
        ("min", [("a", 2), ("a", 1), ("a", 1)]),
        ("max", [("a", 2), ("a", 2), ("a", 3)]),
        ("min_by", [("a", 2), ("b", 1), ("b", 1)]),
        ("max_by", [("a", 2), ("a", 2), ("c", 3)]),
    ],
)
def test_fields_go_by_name_in_every_kind_of_record(kind: str, operation: str, expected: list[tuple[str, int]]) -> None:
    """O1, O2, P7: and no record is changed on the way."""
    make = MAKERS[kind]
    env = StreamExecutionEnvironment()
    records = [make("a", 2), make("b", 1), make("c", 3)]
    stream = env.from_collection(records).key_by(lambda record: 0)
    collect(getattr(stream, operation)("n"), "rolled")
    job = local_job(env)
    job.run([1])
    assert job.results["rolled"] == [make(key, n) for key, n in expected]
    assert records == [make("a", 2), make("b", 1), make("c", 3)]


@pytest.mark.parametrize("record", [{"n": 1}, Reading("a", 1), Numbered("a", 1), Row(n=1)], ids=repr)
def test_a_field_that_is_not_there_is_named(record: Any) -> None:
    """P9"""
    env = StreamExecutionEnvironment()
    collect(env.from_collection([record, record]).key_by(lambda r: 0).sum("m"), "rolled")
    with pytest.raises(UserFunctionError, match=r"sum\('m'\) on .*: (the record has no field 'm'|a plain value)"):
        local_job(env).run()


def test_a_plain_value_has_no_named_fields() -> None:
    """P9: though an int has attributes."""
    env = StreamExecutionEnvironment()
    collect(env.from_collection([1, 2]).key_by(lambda r: 0).sum("real"), "rolled")
    with pytest.raises(UserFunctionError, match="a plain value has no fields, only position 0"):
        local_job(env).run()
