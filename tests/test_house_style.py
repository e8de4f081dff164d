"""Time is an argument: only a module named clock.py may ask the machine for it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "penstock"
ROOMS = ("core", "graph", "drawing", "plan", "runtime", "jobs", "local")
CLOCKS = frozenset(
    {f"time.{name}" for name in ("time", "time_ns", "monotonic", "monotonic_ns", "sleep")}
    | {f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")}
    | {"datetime.date.today"}
)


def clock_uses(root: Path) -> list[str]:
    """Every use of the machine's clock in the pure rooms below `root`, called or merely referred to."""
    paths = sorted(path for room in ROOMS for path in (root / room).rglob("*.py"))
    return [
        f"{path.relative_to(root)}:{line}: {name}"
        for path in paths
        if path.name != "clock.py"
        for line, name in _uses(ast.parse(path.read_text()))
    ]


def _uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    origins = dict(_bindings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and (name := _dotted(node, origins)) in CLOCKS:
            yield node.lineno, name


def _bindings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name -> dotted origin, for every import in the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _dotted(node: ast.expr, origins: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, origins)}.{node.attr}"
    return origins.get(node.id, "") if isinstance(node, ast.Name) else ""


def test_only_clock_modules_ask_for_the_time() -> None:
    assert clock_uses(SOURCE) == []


BAD = [
    ("import time\ntime.time()", "time.time"),
    ("import time as t\nt.sleep(1)", "time.sleep"),
    ("from time import time_ns as now\nnow()", "time.time_ns"),
    ("import time\ndef f(clock=time.monotonic): ...", "time.monotonic"),
    ("import datetime\ndatetime.datetime.now()", "datetime.datetime.now"),
    ("from datetime import datetime as dt\ndt.utcnow()", "datetime.datetime.utcnow"),
    ("def f():\n    from datetime import date\n    return date.today()", "datetime.date.today"),
]


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(("text", "name"), BAD)
def test_a_use_of_the_clock_is_reported(tmp_path: Path, room: str, text: str, name: str) -> None:
    module = tmp_path / room / "deep" / "timers.py"
    module.parent.mkdir(parents=True)
    module.write_text(text)
    (found,) = clock_uses(tmp_path)
    assert found.startswith(f"{room}/deep/timers.py:")
    assert found.endswith(name)


@pytest.mark.parametrize("name", ["core/time/clock.py", "spark/host.py"])
def test_clock_modules_and_other_rooms_may(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("import time\ntime.time()")
    assert clock_uses(tmp_path) == []


def test_a_timer_is_not_a_clock(tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "timers.py").write_text("def fire(timer): return timer.time()\nimport time\ntime.gmtime(0)")
    assert clock_uses(tmp_path) == []


def test_property_tests_say_how_many_examples_they_try_by_effort() -> None:
    """`make check` takes fewer of them: a plain number would not listen to it."""
    plain = re.compile(r"max_examples=\d")
    tests = sorted(Path(__file__).parent.rglob("test_*.py"))
    assert [str(path) for path in tests if plain.search(path.read_text(encoding="utf-8"))] == []
