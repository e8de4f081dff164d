"""Every public name of PyFlink 2.3 is there with the same parameters, or listed as a gap (P12)."""

import importlib
import subprocess
import sys
import types
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from scripts import parity
from scripts.parity import Gap, Item, compare, complaints, topmost

ROOT = Path(__file__).parents[2]


def test_no_gap_is_unlisted_and_no_listed_gap_is_closed() -> None:
    assert complaints(compare(parity.load_reference()), parity.load_gaps()) == []


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "parity.md").read_text(encoding="utf-8")
    assert page == parity.render(), "run `make parity`"


def test_the_reference_is_not_empty() -> None:
    """A broken extraction would make every comparison pass."""
    reference = parity.load_reference()
    assert len(compare(reference)) > 1_500
    environment = reference["datastream.stream_execution_environment"]["StreamExecutionEnvironment"]
    assert environment["members"]["execute"] == ["method", "job_name=None"]
    assert reference["common.job_status"]["JobStatus"]["members"]["FINISHED"] == ["member", "6"]


def test_every_public_module_says_what_it_exports() -> None:
    for name in parity._our_modules():
        module = importlib.import_module(f"penstock.{name}")
        assert sorted(module.__all__) == sorted(set(module.__all__)), name
        assert all(hasattr(module, n) for n in module.__all__), name


# -- what the comparison sees, with a package made for it ----------------------------------------------


class Colour(Enum):
    RED = 0


class Thing:
    SIZE = 5

    def __init__(self, a: int, b: int = 2) -> None: ...
    def plain(self, a: Any, b: Any = None, *rest: Any) -> None: ...
    @staticmethod
    def static(a: Any) -> None: ...
    @classmethod
    def made(cls, a: Any) -> None: ...
    @property
    def shown(self) -> None: ...


def function(a: Any, extra: Any = 1) -> None: ...


@pytest.fixture
def package() -> Iterator[str]:
    module = types.ModuleType("their.mod")
    module.__dict__.update(Thing=Thing, Colour=Colour, function=function, LIMIT=7)
    sys.modules["their.mod"] = module
    yield "their"
    del sys.modules["their.mod"]


def _problems(package: str, names: dict[str, Any]) -> dict[str, str | None]:
    return {i.name.removeprefix("mod."): i.problem for i in compare({"mod": names}, package) if i.problem}


def _thing(**members: Any) -> dict[str, Any]:
    return {"Thing": {"bases": [], "enum": False, "members": members}}


@pytest.mark.parametrize(
    "names",
    [
        _thing(plain=["method", "a", "b=None", "*rest"], static=["staticmethod", "a"], made=["staticmethod", "a"]),
        _thing(plain=["method", "a"], shown=["property"], SIZE=["value", "5"]),
        _thing(__init__=["method", "a", "b=2"]),
        _thing(__init__=["method", "a"]),
        _thing(plain=["method", "a", "b"]),  # what they require may be optional here
        {"function": ["function", "a"], "LIMIT": ["value", "7"]},
        {"Colour": {"bases": [], "enum": True, "members": {"RED": ["member", "0"]}}},
        {"Thing": {"bases": ["mod.Thing", "mod.Gone"], "enum": False, "members": {}}},
        {"Thing": ["export", "mod"]},
    ],
)
def test_what_is_alike_passes(package: str, names: dict[str, Any]) -> None:
    assert _problems(package, names) == {}


@pytest.mark.parametrize(
    ("names", "name", "problem"),
    [
        (_thing(gone=["method"]), "Thing.gone", "missing"),
        ({"Gone": {"bases": [], "enum": False, "members": {}}}, "Gone", "missing"),
        ({"gone": ["function"]}, "gone", "missing"),
        ({"Gone": ["export", "mod"]}, "Gone", "missing"),
        (_thing(plain=["method", "b", "a=None"]), "Thing.plain()", "takes (a, b=None, *rest), not (b, a=None)"),
        (_thing(plain=["method", "x"]), "Thing.plain()", "takes (a, b=None, *rest), not (x)"),
        (_thing(plain=["method", "a", "b=0"]), "Thing.plain()", "takes (a, b=None, *rest), not (a, b=0)"),
        (_thing(static=["staticmethod"]), "Thing.static()", "takes (a), not ()"),
        (_thing(static=["staticmethod", "a", "b"]), "Thing.static()", "takes (a), not (a, b)"),
        (_thing(__init__=["method", "b"]), "Thing.__init__()", "takes (a, b=2), not (b)"),
        (_thing(static=["method", "a"]), "Thing.static()", "is a staticmethod, not a method"),
        (_thing(shown=["method"]), "Thing.shown()", "is a property, not a method"),
        (_thing(SIZE=["value", "6"]), "Thing.SIZE()", "is 5, not 6"),
        ({"LIMIT": ["value", "8"]}, "LIMIT()", "is 7, not 8"),
        ({"Thing": {"bases": [], "enum": True, "members": {}}}, "Thing", "is not an Enum"),
        ({"Thing": {"bases": ["mod.Colour"], "enum": False, "members": {}}}, "Thing", "is not derived from mod.Colour"),
        ({"Colour": {"bases": [], "enum": True, "members": {"RED": ["member", "1"]}}}, "Colour.RED()", "is 0, not 1"),
    ],
)
def test_what_differs_is_seen(package: str, names: dict[str, Any], name: str, problem: str) -> None:
    assert _problems(package, names) == {name: problem}


def test_the_same_name_must_be_the_same_thing_on_every_path(package: str) -> None:
    other = types.ModuleType("their.other")
    other.Thing = object  # type: ignore[attr-defined]
    sys.modules["their.other"] = other
    try:
        assert _problems(package, {"Thing": ["export", "other"]}) == {"Thing": "is not the Thing of their.other"}
    finally:
        del sys.modules["their.other"]


# -- what the build fails for -------------------------------------------------------------------------

ITEMS = [
    Item("m.A", "m", None),
    Item("m.A.x", "m", "missing"),
    Item("m.B", "m", "missing"),
    Item("m.B.y", "m", "missing"),
]


def test_members_of_a_missing_class_are_not_listed_one_by_one() -> None:
    assert [item.name for item in topmost(ITEMS)] == ["m.A", "m.A.x", "m.B"]


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([Gap(("m.A.x", "m.B*"), "not yet", "later")], []),
        ([Gap(("m.B*",), "never", "why not")], ["m.A.x: missing"]),
        ([], ["m.A.x: missing", "m.B: missing"]),
        (
            [Gap(("m.*",), "not yet", "later")],
            ["m.*: listed in gaps.toml, but there is no gap at m.A"],
        ),
        (
            [Gap(("m.A.x", "m.B*", "m.C"), "not yet", "later")],
            ["m.C: listed in gaps.toml, but PyFlink has no such name"],
        ),
        (
            [Gap(("m.A.x", "m.B*"), "perhaps", "later")],
            ["('m.A.x', 'm.B*'): a gap's status is one of ('not yet', 'never'), and it says why"],
        ),
    ],
)
def test_the_build_fails_for_unlisted_and_for_closed_gaps(gaps: list[Gap], expected: list[str]) -> None:
    assert complaints(ITEMS, gaps) == expected


def test_the_extraction_needs_nothing_but_the_package(tmp_path: Path) -> None:
    """The script runs in PyFlink's environment: it may import neither Penstock nor anything of the tests."""
    script = ROOT / "scripts" / "pyflink_signatures.py"
    code = f"import runpy, sys; runpy.run_path({str(script)!r}); assert 'penstock' not in sys.modules"
    subprocess.run([sys.executable, "-I", "-c", code], check=True, cwd=tmp_path)
