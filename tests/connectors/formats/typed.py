"""Types and values that fit them, for property tests."""

import datetime
from typing import Any

from hypothesis import strategies as st

from penstock.common import Instant, Row, TypeInformation, Types

TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=6)
MOMENTS = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2200, 1, 1))

SCALARS: list[tuple[TypeInformation, st.SearchStrategy[Any]]] = [
    (Types.STRING(), TEXT),
    (Types.BOOLEAN(), st.booleans()),
    (Types.BYTE(), st.integers(-128, 127)),
    (Types.SHORT(), st.integers(-(2**15), 2**15 - 1)),
    (Types.INT(), st.integers(-(2**31), 2**31 - 1)),
    (Types.LONG(), st.integers(-(2**63), 2**63 - 1)),
    (Types.FLOAT(), st.floats(width=32, allow_nan=False)),
    (Types.DOUBLE(), st.floats(allow_nan=False)),
    (Types.CHAR(), st.sampled_from("aü;,")),
    (Types.BIG_INT(), st.integers(-(10**37), 10**37)),
    (Types.BIG_DEC(), st.decimals(-(10**9), 10**9, places=6)),
    (Types.SQL_DATE(), st.dates(datetime.date(1900, 1, 1))),
    (Types.SQL_TIME(), st.times()),
    (Types.SQL_TIMESTAMP(), MOMENTS),
    (Types.INSTANT(), st.builds(Instant, st.integers(-(10**9), 10**10), st.integers(0, 999_999_999))),
    (Types.PRIMITIVE_ARRAY(Types.BYTE()), st.binary(max_size=5)),
]

Typed = tuple[TypeInformation, st.SearchStrategy[Any]]


def lists(inner: Typed) -> Typed:
    return Types.LIST(inner[0]), st.lists(st.none() | inner[1], max_size=3)


def maps(inner: Typed) -> Typed:
    return Types.MAP(Types.STRING(), inner[0]), st.dictionaries(TEXT, st.none() | inner[1], max_size=3)


def rows(inner: list[Typed]) -> Typed:
    names = [f"c{i}" for i in range(len(inner))]
    values = st.tuples(*(st.none() | values for _, values in inner))
    return Types.ROW_NAMED(names, [t for t, _ in inner]), values.map(lambda v: named(names, v))


def tuples(inner: list[Typed]) -> Typed:
    return Types.TUPLE([t for t, _ in inner]), st.tuples(*(st.none() | values for _, values in inner))


def named(names: list[str], values: Any) -> Row:
    row = Row(*values)
    row.set_field_names(names)
    return row


def nested(scalars: list[Typed] = SCALARS, with_tuples: bool = True) -> st.SearchStrategy[Typed]:
    """Types of any depth; the outermost is a row."""
    some = st.recursive(
        st.sampled_from(scalars),
        lambda inner: st.one_of(
            inner.map(lists),
            inner.map(maps),
            st.lists(inner, min_size=1, max_size=3).map(rows),
            *([st.lists(inner, min_size=1, max_size=3).map(tuples)] if with_tuples else []),
        ),
        max_leaves=4,
    )
    return st.lists(some, min_size=1, max_size=4).map(rows)


def mystery() -> TypeInformation:
    """A type no format knows."""
    made = object.__new__(TypeInformation)
    for name, value in (("name", "MYSTERY"), ("params", ()), ("field_names", ())):
        object.__setattr__(made, name, value)
    return made
