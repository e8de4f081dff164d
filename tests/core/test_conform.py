"""Collections with a type hint: values as PyFlink's coders hand them over (P7)."""

from typing import Any, NamedTuple

import pytest

from penstock.common import Configuration, Row, RowKind, Types
from penstock.core.errors import ProgramError, RecordError
from penstock.core.types.coercion import coerce
from penstock.core.types.type_info import TypeInformation
from penstock.datastream import StreamExecutionEnvironment

PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])


class Person(NamedTuple):
    name: str
    age: int


class Plain:
    def __init__(self) -> None:
        self.age, self.name, self.more = 7, "a", True


@pytest.mark.parametrize(
    "given",
    [("a", 7), ["a", 7], {"age": 7, "name": "a"}, Row("a", 7), Row(age=7, name="a"), Person("a", 7), Plain()],
)
def test_whatever_has_the_fields_becomes_a_row(given: Any) -> None:
    """P7: by name where there are names, else by position."""
    made = coerce(PERSON, given)
    assert made == Row(name="a", age=7)
    assert (made[0], made.age, list(made)) == ("a", 7, ["a", 7])


def test_a_row_without_names_gets_f0_f1() -> None:
    assert coerce(Types.ROW([Types.STRING(), Types.INT()]), ("a", 7)).as_dict() == {"f0": "a", "f1": 7}


def test_a_row_keeps_its_kind() -> None:
    assert coerce(PERSON, Row.of_kind(RowKind.DELETE, "a", 7)).get_row_kind() is RowKind.DELETE


@pytest.mark.parametrize(
    ("info", "given", "made"),
    [
        (Types.TUPLE([Types.INT(), PERSON]), [1, ("a", 7)], (1, Row(name="a", age=7))),
        (Types.LIST(Types.DOUBLE()), (1, 2), [1.0, 2.0]),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab", b"ab"),
        (Types.BASIC_ARRAY(Types.STRING()), ["a", None], ["a", None]),
        (Types.OBJECT_ARRAY(PERSON), [("a", 7)], [Row(name="a", age=7)]),
        (Types.MAP(Types.STRING(), Types.LIST(Types.INT())), {"a": (1,)}, {"a": [1]}),
        (Types.FLOAT(), 0.1, 0.10000000149011612),
        (Types.LONG(), 2**40, 2**40),
        (Types.PICKLED_BYTE_ARRAY(), {1, 2}, {1, 2}),
        (PERSON, None, None),
        (PERSON, ("a", None), Row(name="a", age=None)),
    ],
)
def test_values_take_the_form_of_their_type(info: TypeInformation, given: Any, made: Any) -> None:
    """P7"""
    assert repr(coerce(info, given)) == repr(made)


@pytest.mark.parametrize(
    ("info", "given", "text"),
    [
        (PERSON, ("a",), "it has 1 fields, the type 2"),
        (PERSON, 5, "give a Row, tuple, list, dict or object with these fields"),
        (Types.TUPLE([Types.INT()]), 5, "give a tuple"),
        (Types.TUPLE([Types.INT()]), (1, 2), "it has 2 fields, the type 1"),
        (Types.LIST(Types.STRING()), "abc", "give a list"),
        (Types.MAP(Types.INT(), Types.INT()), [1], "give a dict"),
        (Types.INT(), 1.5, "give a whole number"),
        (Types.INT(), True, "give a whole number"),
        (Types.BYTE(), 128, "it does not fit in 8 bits"),
        (Types.LONG(), 2**63, "it does not fit in 64 bits"),
        (Types.DOUBLE(), "x", "give a number"),
        (Types.FLOAT(), 1e300, "it does not fit in 32 bits: use DOUBLE"),
        (Types.STRING(), 7, "give a str"),
    ],
)
def test_values_that_do_not_fit_are_refused(info: TypeInformation, given: Any, text: str) -> None:
    """P9"""
    with pytest.raises(RecordError, match=rf"is not of type .*: {text}"):
        coerce(info, given)


def environment() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment(Configuration({"penstock.host": "local"})).set_parallelism(1)


def test_tuples_of_a_collection_become_rows() -> None:
    """P7: a generator serves as well."""
    stream = environment().from_collection((p for p in [("a", 1), ("b", 2)]), type_info=PERSON)
    assert list(stream.map(lambda r: f"{r.name}{r.age}").execute_and_collect()) == ["a1", "b2"]


def test_the_item_that_does_not_fit_is_named() -> None:
    """P9"""
    with pytest.raises(
        ProgramError, match=r"from_collection\(\): item 1: \('b',\) \(tuple\) is not of type .*: it has 1 fields"
    ):
        environment().from_collection([("a", 1), ("b",)], type_info=PERSON)


def test_a_collection_is_iterable() -> None:
    """P9"""
    with pytest.raises(TypeError, match=r"from_collection\(\) takes a list or another iterable, got int"):
        environment().from_collection(5)  # type: ignore[arg-type]
