"""State and records of dataclasses and named tuples go by the names of their fields (F4, S1).

Each case writes with one version of a class, puts another in its place, as an upgrade does, and reads.
"""

from __future__ import annotations

import copyreg
import enum
import pickle
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, make_dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest

from penstock.core.errors import StateError
from penstock.runtime.chunk import Payload, decode_payload, encode_payload
from penstock.runtime.codec import decode, dumps, encode, loads

T = TypeVar("T")


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> Callable[[type], type]:
    """Puts a class in the place of the one that is called `Thing`."""

    def put(cls: type) -> type:
        cls.__module__, cls.__qualname__, cls.__name__ = __name__, "Thing", "Thing"
        monkeypatch.setattr(sys.modules[__name__], "Thing", cls, raising=False)
        return cls

    return put


OPTIONS = [{"slots": s, "frozen": f, "kw_only": k} for s in (False, True) for f in (False, True) for k in (False, True)]


def made(options: dict[str, bool], *fields: Any) -> type:
    return make_dataclass("Thing", fields, **options)


def carried(value: Any) -> list[Any]:
    """By every way that a value takes into state and between stages: as a state value, and in a chunk."""
    container = {"in": [value, (value, {"deep": value})]}
    return [dumps(encode(value)), dumps(container), encode_payload(chunk(value), "op", "uid")]


def chunk(value: Any) -> Payload:
    return Payload([value, value], None, [value], [])


def arrived(data: list[Any]) -> list[Any]:
    """Every instance that `carried` has put in."""
    stored, container, payload = data
    outer = loads(container)["in"]
    records, _, keys, _ = decode_payload(payload)
    return [decode(loads(stored)), outer[0], outer[1][0], outer[1][1]["deep"], *records, *keys]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_fields_of_dataclasses_that_change_places_keep_their_values(options: dict[str, bool], version: Any) -> None:
    """F4"""
    old = version(made(options, "low", "high"))
    data = carried(old(low=1, high=2))
    version(made(options, "high", "low"))
    assert {(thing.low, thing.high) for thing in arrived(data)} == {(1, 2)}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_new_fields_of_dataclasses_take_their_defaults(options: dict[str, bool], version: Any) -> None:
    """F4: each record a list of its own from `default_factory`."""
    old = version(made(options, "low"))
    data = carried(old(low=1))
    new = version(
        made(
            options,
            "low",
            ("kind", str, "plain"),
            ("more", list, field(default_factory=list)),
            ("own", int, field(default=7, init=False)),
        )
    )
    things = arrived(data)
    assert {type(thing) for thing in things} == {new}
    assert {(t.low, t.kind, tuple(t.more), t.own) for t in things} == {(1, "plain", (), 7)}
    assert things[0].more is not things[1].more


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_would_be_lost_or_have_no_value_is_refused(options: dict[str, bool], version: Any) -> None:
    """F4: with the class, its fields and the way out."""
    old = version(made(options, "low", "high"))
    data = carried(old(low=1, high=2))
    version(made(options, "low", "top"))
    for read in (lambda: decode(loads(data[0])), lambda: loads(data[1]), lambda: decode_payload(data[2])):
        with pytest.raises(StateError) as caught:
            read()
        assert str(caught.value) == (
            "A record of class tests.runtime.test_shapes.Thing was written with the fields low, high; the class has "
            "low, top now: it no longer has 'high' and 'top' would have no value. Give new fields a default, keep old "
            "ones, or define a class method __penstock_upgrade__(cls, fields) that is given the fields as they were "
            "written, as a dict, and answers with those of the class"
        )


def test_a_field_that_is_gone_is_refused_though_nothing_is_missing(version: Any) -> None:
    old = version(made({}, "low", "high"))
    data = encode(old(1, 2))
    version(made({}, "low"))
    with pytest.raises(StateError, match=r"low, high; the class has low now: it no longer has 'high'\. Give"):
        decode(data)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_says_how_its_older_fields_are_read(options: dict[str, bool], version: Any) -> None:
    old = version(made(options, "low", "high"))
    data = carried(old(low=1, high=5))
    new = made(options, "middle", ("kind", str, "plain"))
    new.__penstock_upgrade__ = classmethod(lambda cls, fields: {"middle": (fields["low"] + fields["high"]) / 2})
    version(new)
    assert {(thing.middle, thing.kind) for thing in arrived(data)} == {(3.0, "plain")}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"low": 1}, r"answered with 'low', which it does not have: the class has the fields middle"),
        ({}, r"answered without 'middle': the class has the fields middle"),
        (3, r"must answer with a dict of fields, got int"),
    ],
)
def test_an_upgrade_that_does_not_fit_its_class_is_refused(version: Any, answer: Any, message: str) -> None:
    data = encode(version(made({}, "low"))(1))
    new = made({}, "middle")
    new.__penstock_upgrade__ = classmethod(lambda cls, fields: answer)
    version(new)
    with pytest.raises(StateError, match=rf"__penstock_upgrade__\(\) of class .*Thing {message}"):
        decode(data)


# -- named tuples ---------------------------------------------------------------------------------


def test_fields_of_named_tuples_go_by_name(version: Any) -> None:
    """F4: typing's and collections', in chunks, in state and as keys."""
    data = carried(version(namedtuple("Thing", "low high"))(1, 2))
    version(namedtuple("Thing", "high low", defaults=[0]))
    assert {(thing.low, thing.high) for thing in arrived(data)} == {(1, 2)}
    version(NamedTuple("Thing", [("high", int), ("low", int)]))
    assert {tuple(thing) for thing in arrived(data)} == {(2, 1)}
    version(namedtuple("Thing", "high new low", defaults=["n", 0]))
    assert {tuple(thing) for thing in arrived(data)} == {(2, "n", 1)}


def test_fields_that_a_named_tuple_has_lost_are_refused(version: Any) -> None:
    data = carried(version(namedtuple("Thing", "low high"))(1, 2))
    version(namedtuple("Thing", "low"))
    for read in (lambda: decode_payload(data[2]), lambda: loads(data[1])):
        with pytest.raises(StateError, match="it no longer has 'high'"):
            read()


def test_a_named_tuple_says_how_its_older_fields_are_read(version: Any) -> None:
    data = carried(version(namedtuple("Thing", "low high"))(1, 3))

    class Thing(NamedTuple):
        middle: float

        @classmethod
        def __penstock_upgrade__(cls, fields: dict[str, Any]) -> dict[str, Any]:
            return {"middle": sum(fields.values()) / 2}

    version(Thing)
    assert {tuple(thing) for thing in arrived(data)} == {(2.0,)}


class Loud(namedtuple("Loud", "n")):
    """Has a say in how it is made, and attributes beside its fields."""

    def __new__(cls, n: int) -> Loud:
        made = super().__new__(cls, n)
        made.calls = getattr(made, "calls", 0) + 1
        return made


def test_a_named_tuple_of_the_users_keeps_what_it_does_when_it_is_made() -> None:
    loud = Loud(3)
    loud.note = "n"
    found = loads(dumps(loud))
    assert (type(found), found.n, found.note, found.calls) == (Loud, 3, "n", 1)


# -- whatever else dataclasses may be -------------------------------------------------------------


@dataclass
class Node:
    """May refer to itself."""

    name: str
    next: Any = None
    seen: ClassVar[int] = 3


@dataclass(slots=True)
class Slotted:
    a: int
    b: Any = None


@dataclass
class Mixed(Slotted):
    """A dict beside the slots of its base."""

    c: int = 0


@dataclass(frozen=True)
class Box(Generic[T]):
    content: T


@dataclass
class Counted(dict[str, int]):
    """More than attributes: pickle knows how."""

    n: int = 0


@dataclass
class Own:
    """Says itself how it is pickled."""

    n: int

    def __getstate__(self) -> Any:
        return {"n": self.n * 10}

    def __setstate__(self, state: Any) -> None:
        self.n = state["n"] + 1


@dataclass
class Registered:
    n: int


copyreg.pickle(Registered, lambda record: (Registered, (record.n * 10,)))


@dataclass
class Unset:
    a: int
    late: int = field(init=False)


@dataclass
class Nothing:
    pass


class Colour(enum.Enum):
    RED = "red"


class Meta(type):
    pass


class OfMeta(metaclass=Meta):
    pass


@pytest.mark.parametrize(
    "value",
    [
        Node("a", Node("b")),
        Slotted(1, [2]),
        Mixed(1, 2, 3),
        Box(Box(1)),
        Nothing(),
        {Box(1): Colour.RED, Box(2): [Box(3)]},
        {Box(1)},
        OfMeta,
        Node,
        frozenset({Colour.RED}),
    ],
    ids=repr,
)
def test_what_has_not_changed_comes_back_as_it_was(value: Any) -> None:
    found = loads(dumps(value))
    assert repr(found) == repr(value)
    assert type(found) is type(value)
    assert found == value


def test_attributes_beside_the_fields_are_kept() -> None:
    node, mixed = Node("a"), Mixed(1)
    node.__dict__["extra"] = mixed.__dict__["extra"] = [1]
    assert vars(loads(dumps(node))) == {"name": "a", "next": None, "extra": [1]}
    assert (loads(dumps(mixed)).a, vars(loads(dumps(mixed)))) == (1, {"c": 0, "extra": [1]})


def test_a_field_that_was_not_set_stays_so() -> None:
    assert vars(loads(dumps(Unset(1)))) == {"a": 1}
    slotted = Slotted(1)
    del slotted.b
    assert not hasattr(loads(dumps(slotted)), "b")


def test_a_record_that_refers_to_itself() -> None:
    node = Node("a")
    node.next = [node]
    found = loads(dumps(node))
    assert found.next[0] is found


def test_classes_that_say_how_they_are_pickled_are_left_to_it() -> None:
    assert loads(dumps(Own(1))).n == 11
    assert loads(dumps(Registered(2))).n == 20
    counted = Counted(n=3)
    counted["a"] = 1
    found = loads(dumps(counted))
    assert (dict(found), found.n) == ({"a": 1}, 3)


def test_a_class_that_has_been_given_a_setstate_reads_by_it(version: Any) -> None:
    data = encode(version(made({"slots": True, "frozen": True}, "low", "high"))(1, 2))

    class Thing:
        def __setstate__(self, state: dict[str, Any]) -> None:
            self.sum = state["low"] + state["high"]

    version(Thing)
    assert decode(data).sum == 3


@pytest.mark.parametrize("value", [Node("a", [1]), Slotted(1), Box(2), Loud(4), Mixed(1, 2, 3)], ids=repr)
def test_what_plain_pickle_wrote_is_still_read(value: Any) -> None:
    """F4: state of earlier versions."""
    assert repr(loads(pickle.dumps(value, 5))) == repr(value)


def test_a_reduce_that_pickles_something_itself_does_no_harm() -> None:
    class Inner:
        def __reduce__(self) -> Any:
            return bytes, (dumps([1, 2]),)

    found = loads(dumps([Inner(), "x"]))
    assert (loads(found[0]), found[1]) == ([1, 2], "x")
    assert loads(dumps([1])) == [1]


def test_after_a_failure_pickling_goes_on() -> None:
    for _ in range(20):
        with pytest.raises(Exception, match="pickle"):
            dumps([1, "word", lambda: 0])
        assert loads(dumps(["word", "word"])) == ["word", "word"]


# -- classes that are gone ------------------------------------------------------------------------


def test_a_class_that_is_gone_is_named(version: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """F4"""
    data = encode(version(made({}, "low"))(1))
    monkeypatch.delattr(f"{__name__}.Thing")
    with pytest.raises(StateError) as caught:
        decode(data)
    text = str(caught.value)
    assert text.startswith(
        f"State or a record was written with the class {__name__}.Thing, which is not there any more"
    )
    assert text.endswith(f"keep its old name too: Thing = <the new class> in {__name__}")


def test_a_module_that_is_gone_is_named() -> None:
    data = pickle.dumps(Node("a")).replace(__name__.encode(), __name__.replace("shapes", "formss").encode())
    with pytest.raises(StateError, match=r"the class tests\.runtime\.test_formss\.Node, .*No module named"):
        loads(data)


def test_a_member_that_an_enum_has_lost_is_named(version: Any) -> None:
    """F4"""
    data = dumps(version(enum.Enum("Thing", {"RED": "red"}, module=__name__)).RED)
    version(enum.Enum("Thing", {"BLUE": "blue"}, module=__name__))
    with pytest.raises(StateError, match=r"cannot be read with the classes of this program: .*red.*Thing"):
        loads(data)


def test_a_record_of_scalars_is_told_from_one_of_an_earlier_version() -> None:
    """F4: what plain pickle wrote may have attributes beside its fields; they are none that are gone."""
    node = Node("a")
    node.__dict__["beside"] = 1
    assert vars(loads(pickle.dumps(node, 5))) == {"name": "a", "next": None, "beside": 1}
    assert vars(decode(encode(node))) == {"name": "a", "next": None, "beside": 1}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("before", OPTIONS, ids=str)
def test_slots_and_frozen_may_come_and_go(before: dict[str, bool], options: dict[str, bool], version: Any) -> None:
    """F4"""
    data = carried(version(made(before, "low", "high"))(low=1, high=2))
    version(made(options, "high", "low", ("more", list, field(default_factory=list))))
    assert {(t.low, t.high, tuple(t.more)) for t in arrived(data)} == {(1, 2, ())}
