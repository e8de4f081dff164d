"""Chunks of named tuples and rows, which are pickled by their fields: whatever goes in comes out (P7, S7)."""

import copyreg
from collections import namedtuple
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row, RowKind
from penstock.runtime.chunk import Payload, decode_payload, encode_payload
from penstock.runtime.codec import detach
from penstock.runtime.record_packing import packed


class Pair(NamedTuple):
    """With a method and a default, which change nothing."""

    one: Any
    other: Any = None

    def swapped(self) -> "Pair":
        return Pair(self.other, self.one)


Plain = namedtuple("Plain", ["a", "b"])
CALLS: list[str] = []


class Checked(namedtuple("Checked", ["n"])):
    """Has a say in how it is made, and attributes beside its fields."""

    def __new__(cls, n: int) -> "Checked":
        CALLS.append("new")
        return super().__new__(cls, n)


class Lookalike(tuple[int]):
    """No named tuple, though it has their attributes: its own way of pickling counts."""

    _fields = ("n",)
    _make = _replace = None

    def __reduce__(self) -> Any:
        return Lookalike, ((self[0] + 1,),)


class Registered(NamedTuple):
    n: int


copyreg.pickle(Registered, lambda record: (Registered, (record.n * 10,)))


def through(values: list[Any]) -> list[Any]:
    found = decode_payload(encode_payload(Payload(values, None, values, [(1, 5)]), "op", "uid"))
    assert found.keys == found.values
    assert found.marks == [(1, 5)]
    return found.values


FIELDS = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3))
RECORDS = (
    st.builds(Pair, FIELDS, FIELDS)
    | st.builds(Plain, FIELDS, FIELDS)
    | st.builds(Row, FIELDS, FIELDS)
    | st.builds(Row, FIELDS)
    | st.builds(lambda a, b: Row(a=a, b=b), FIELDS, FIELDS)
    | st.builds(lambda a, b: Row(b=b, a=a), FIELDS, FIELDS)
    | st.builds(lambda kind, a: Row.of_kind(kind, a=a), st.sampled_from(RowKind), FIELDS)
    | FIELDS
)
ALIKE = st.sampled_from([lambda a: Pair(a), lambda a: Plain(a, 1), lambda a: Row(a, 2), lambda a: Row(x=a, y=[a])])


def shown(value: Any) -> tuple[Any, ...]:
    """Also what equality does not see: the class, the order of names."""
    return type(value), repr(value), getattr(value, "_row_kind", None)


@given(st.lists(RECORDS, max_size=8) | st.builds(lambda make, given: list(map(make, given)), ALIKE, st.lists(FIELDS)))
def test_any_mixture_of_records_comes_back(values: list[Any]) -> None:
    """P7"""
    found = through(values)
    assert found == values
    assert list(map(shown, found)) == list(map(shown, values))


@pytest.mark.parametrize("make", [Pair, lambda a: Plain(a, a), lambda a: Row(a, a), lambda a: Row(a=a, b=a)])
def test_records_alike_are_packed(make: Any) -> None:
    values = [make(n) for n in range(3)]
    assert packed(values) is not values
    assert packed([*values, 3])[-1] == 3


@pytest.mark.parametrize(("cls", "found"), [(Checked, 3), (Lookalike, 4), (Registered, 30)])
def test_what_is_made_in_its_own_way_is_left_to_pickle(cls: Any, found: int) -> None:
    values = [cls((3,)) if cls is Lookalike else cls(3)]
    CALLS.clear()
    assert through(values)[0][0] == found
    assert type(through(values)[0]) is cls
    assert (cls is Checked) == bool(CALLS)


def test_rows_of_a_chunk_share_nothing_that_can_be_changed() -> None:
    """S7"""
    given_rows = [Row(a=1, b=[2]), Row(a=3, b=[4])]
    one, other = through(given_rows)
    one["a"] = 10
    one.b.append(20)
    one.set_field_names(["x", "y"])
    assert (other, given_rows[0]) == (Row(a=3, b=[4]), Row(a=1, b=[2]))
    assert one == Row(x=10, y=[2, 20])


@pytest.mark.parametrize("inner", [5, [5], (5, [6]), Row(5)])
def test_a_fixed_row_is_another(inner: Any) -> None:
    """S7: with its names and its kind; one that holds only scalars, and one that holds more."""
    row = Row.of_kind(RowKind.DELETE, a=inner, b=1)
    fixed = detach(row)
    assert shown(fixed) == shown(row)
    row["b"] = 2
    row.set_field_names(["p", "q"])
    row.set_row_kind(RowKind.INSERT)
    if isinstance(inner, (list, Row)):
        row[0][0] = 99
    assert fixed.b == 1
    assert fixed.get_row_kind() is RowKind.DELETE
    assert 99 not in fixed.a if isinstance(inner, (list, Row)) else fixed.a == inner
