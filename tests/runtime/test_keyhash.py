"""The route of a key depends on its value alone (G5)."""

import datetime
import enum
import os
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row
from penstock.core.errors import KeyTypeError
from penstock.runtime.keyhash import key_group, route_ints, stable_hash, subtask_of_group

Point = namedtuple("Point", "x y")


class Place(NamedTuple):
    x: int
    y: str


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 7


class Name(str, enum.Enum):  # noqa: UP042 - older programs write it so
    A = "a"


@dataclass(frozen=True)
class User:
    name: str
    age: int
    note: Any = field(default=None, compare=False)


@dataclass
class Thawed:
    name: str


UTC = datetime.UTC
BERLIN = ZoneInfo("Europe/Berlin")
TWICE = datetime.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN)
NEVER = datetime.datetime(2024, 3, 31, 2, 30, tzinfo=BERLIN)

EQUAL = [
    (1, 1.0, True, Decimal(1), Fraction(1), np.int64(1), np.uint8(1), np.float32(1), np.bool_(True), 1 + 0j),
    (0, 0.0, -0.0, False, Decimal("-0"), np.float64(-0.0)),
    (2**70, float(2**70), Decimal(2**70)),
    (-(2**63), np.int64(-(2**63))),
    ("a", np.str_("a"), Name.A),
    (b"a", np.bytes_(b"a")),
    (7, Level.LOW, Decimal("7.00")),
    ((1, "a"), Place(1, "a"), (True, "a"), (np.int64(1), "a")),
    ((1, 2), Point(1, 2)),
    (Row(1, "a"), Row(1.0, "a")),
    (Row(x=1, y=2), Row(y=2, x=1)),
    (User("a", 1), User("a", 1, note=[1, 2])),
    (
        datetime.datetime(2024, 1, 1, 12, tzinfo=UTC),
        datetime.datetime(2024, 1, 1, 13, tzinfo=BERLIN),
        datetime.datetime(2024, 1, 1, 14, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ),
    (
        datetime.time(12, tzinfo=UTC),
        datetime.time(14, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
    ),
    (datetime.datetime(2024, 1, 1), np.datetime64("2024-01-01T00:00:00")),
    (np.datetime64("2024-01-01T00", "ns"), np.datetime64("2024-01-01T00", "h"), np.datetime64("2024-01-01")),
    (
        datetime.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN),
        datetime.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1),
    ),
    (
        datetime.datetime(2024, 3, 31, 2, 30, tzinfo=BERLIN),
        datetime.datetime(2024, 3, 31, 2, 30, tzinfo=BERLIN, fold=1),
    ),
    (datetime.datetime(2024, 1, 1, fold=1), datetime.datetime(2024, 1, 1)),
    (datetime.time(2, 30, tzinfo=BERLIN, fold=1), datetime.time(2, 30, tzinfo=BERLIN)),
    (
        datetime.datetime(2024, 1, 1, 0, 0, 0, 1),
        pd.Timestamp("2024-01-01T00:00:00.000001"),
        pd.Timestamp(2024, 1, 1, 0, 0, 0, 1).as_unit("ns"),
    ),
    (
        datetime.datetime(2024, 1, 1, 12, tzinfo=UTC),
        pd.Timestamp("2024-01-01T12", tz="UTC"),
        pd.Timestamp("2024-01-01T13", tz="Europe/Berlin").as_unit("ns"),
    ),
    (TWICE.replace(fold=1), pd.Timestamp(TWICE.replace(fold=1))),
    (pd.Timestamp("2024-01-01T00:00:00.000000007"), np.datetime64("2024-01-01T00:00:00.000000007")),
    ([1, "a"], [1.0, "a"], [True, "a"]),
    ([[1], (2, [3])], [[1], (2.0, [3])]),
    (datetime.date(2024, 1, 1), np.datetime64("2024-01-01"), np.datetime64("2024-01")),
]

KEYS = [
    *(group[0] for group in EQUAL),
    None,
    float("inf"),
    Colour.RED,
    "ümlaut",
    "\ud800",
    "",
    b"",
    (),
    ((), None, ("a", (1, b"b"))),
    datetime.datetime.max,
    datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=14))),
    datetime.time(23, 59, 59, 999999),
    np.datetime64("2024-01-01T00:00:00.000000001"),
    pd.Timestamp("2024-01-01T00:00:00.000000001"),
    pd.Timestamp(1),
    pd.Timestamp.max,
    pd.Timestamp(1, tz="Europe/Berlin"),
    [1, [2, ()]],
]


@pytest.mark.parametrize("group", EQUAL, ids=lambda group: repr(group[0])[:40])
def test_equal_keys_have_equal_routes(group: tuple[Any, ...]) -> None:
    """G5: whatever their types."""
    assert all(key == group[0] for key in group)
    assert len({stable_hash(key) for key in group}) == 1


def test_nanoseconds_are_part_of_a_key() -> None:
    """G5: moments that differ in nanoseconds alone spread as other keys do."""
    assert len({stable_hash(pd.Timestamp(n)) for n in range(1000)}) > 990
    assert stable_hash(pd.Timestamp(1)) == stable_hash(pd.Timestamp(1, tz="UTC").tz_convert("Asia/Tokyo"))


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
@pytest.mark.process
def test_the_route_is_the_same_in_every_process(seed: str) -> None:
    """G5: Python's own hash of strings changes from process to process, ours does not."""
    script = "from tests.runtime.test_keyhash import KEYS, stable_hash; print([stable_hash(k) for k in KEYS])"
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    answer = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str([stable_hash(key) for key in KEYS])


def test_the_route_never_changes() -> None:
    """G5: these numbers are in checkpoints; a change of them loses state."""
    keys = (0, 1, "a", b"a", None, ("a", 1), 2.5, datetime.datetime(2024, 1, 1))
    assert [stable_hash(k) for k in keys] == [
        0,
        2654435769,
        1380973833,
        1666658556,
        2220486748,
        2003648444,
        610507572,
        1487342505,
    ]
    assert stable_hash("penstock") == 1542907546


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ({1}, "a set cannot be a key"),
        ([1, {2}], "cannot be a key: it is unhashable"),
        ([float("nan")], "nan cannot be a key: it is not equal to itself"),
        ({"a": 1}, "a dict cannot be a key"),
        (frozenset([1]), "a frozenset cannot be a key"),
        (object(), "a object cannot be a key"),
        (Thawed("a"), "a Thawed cannot be a key"),
        (np.array([1]), "a ndarray cannot be a key"),
        (datetime.timedelta(1), "a timedelta cannot be a key"),
        (pd.NaT, "NaT cannot be a key: it is not equal to itself"),
        (("a", pd.NaT), "NaT cannot be a key: it is not equal to itself"),
        (pd.NA, "a NAType cannot be a key"),
        (pd.Timedelta(1), "a Timedelta cannot be a key"),
        (Row(1, {2}), "a set cannot be a key"),
        (float("nan"), "nan cannot be a key: it is not equal to itself"),
        (("a", Decimal("NaN")), "cannot be a key: it is not equal to itself"),
        (np.float64("nan"), "cannot be a key: it is not equal to itself"),
        (np.datetime64("NaT"), "cannot be a key"),
        (np.timedelta64(1, "s"), "cannot be a key"),
    ],
)
def test_other_keys_are_refused_by_name(key: Any, found: str) -> None:
    """G5: with what may be used instead."""
    with pytest.raises(KeyTypeError, match=found):
        stable_hash(key)


def test_a_refusal_says_what_keys_may_be() -> None:
    with pytest.raises(KeyTypeError, match="Keys may be None, bool, int, float, str, bytes, Decimal, date, time"):
        stable_hash(object())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50), st.sampled_from([1, 2, 3, 4, 128]))
def test_many_ints_are_routed_as_each_alone(keys: list[int], parallelism: int) -> None:
    """G5"""
    alone = [subtask_of_group(key_group(stable_hash(k), 128), parallelism, 128) for k in keys]
    assert route_ints(keys, parallelism, 128).tolist() == alone


@pytest.mark.parametrize("make", [int, str, lambda i: (i, "x"), float, lambda i: i * 1000, lambda i: f"user-{i:08d}"])
def test_keys_spread_over_all_groups(make: Any) -> None:
    """G5: consecutive numbers, strides and numbered names alike."""
    counts = [0] * 128
    for i in range(12_800):
        counts[key_group(stable_hash(make(i)), 128)] += 1
    assert min(counts) > 30
    assert max(counts) < 250


@given(st.integers(1, 128))
def test_every_subtask_owns_a_run_of_groups(parallelism: int) -> None:
    owners = [subtask_of_group(g, parallelism, 128) for g in range(128)]
    assert owners == sorted(owners)
    assert set(owners) == set(range(parallelism))
