"""A record is fixed when it is emitted and a state value when it is updated (S7)."""

import datetime
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

from penstock.common import Row
from penstock.core.errors import RecordError
from penstock.runtime.codec import Encoded, decode, detach, dumps, encode, is_immutable, loads

Point = namedtuple("Point", "x y")


class Loose(Point):
    """Has a __dict__, hence can be changed."""


class Place(NamedTuple):
    x: int
    y: Any


@dataclass
class User:
    name: str


@pytest.mark.parametrize(
    "value",
    [None, True, 1, 1.5, 1j, "a", b"a", Decimal(1), datetime.datetime(2024, 1, 1), (), (1, ("a", None)), Point(1, 2)],
)
def test_what_cannot_change_is_kept_as_it_is(value: Any) -> None:
    """S7"""
    assert is_immutable(value)
    assert detach(value) is value
    assert encode(value) is value
    assert decode(value) is value


@pytest.mark.parametrize(
    "value",
    [
        [1],
        {"a": 1},
        {1},
        ([],),
        (1, ("a", [2])),
        Place(1, []),
        Loose(1, 2),
        Row(1),
        User("a"),
        np.zeros(2),
        bytearray(1),
    ],
    ids=repr,
)
def test_what_can_change_is_copied(value: Any) -> None:
    """S7"""
    assert not is_immutable(value)
    fixed = detach(value)
    assert fixed is not value
    assert type(fixed) is type(value)
    assert repr(fixed) == repr(value)
    stored = encode(value)
    assert type(stored) is Encoded
    assert decode(stored) is not decode(stored)
    assert repr(decode(stored)) == repr(value)


def test_an_encoded_value_stays_encoded_in_a_page() -> None:
    page = loads(dumps({"k": encode([1]), "b": b"plain"}))
    assert type(page["k"]) is Encoded
    assert type(page["b"]) is bytes
    assert decode(page["k"]) == [1]


def test_bytes_of_the_user_are_not_taken_for_encoded_values() -> None:
    pickled = dumps([1])
    assert decode(encode(pickled)) == pickled


@pytest.mark.parametrize(("call", "what"), [(detach, "record"), (encode, "state value")])
def test_what_cannot_be_pickled_is_refused(call: Any, what: str) -> None:
    """P9"""
    with pytest.raises(RecordError, match=rf"a {what} cannot be pickled: \[<function.*Keep plain data instead of"):
        call([lambda: 1])
