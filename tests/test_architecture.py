"""Who may import whom. The tables below are the rules; a breach is reported as `file:line: what`."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "penstock"

FACADES = frozenset({"common", "datastream", "cep", "metrics", "table"})

# rooms that are open to all and import nothing: the version, and the names under which things are pickled
LEAVES = frozenset({"_version", "pickled"})

# room -> rooms it may import besides itself and the leaves
ROOMS: dict[str, frozenset[str]] = {
    "core": frozenset(),
    "jobs": frozenset({"core", "savepoint"}),
    "graph": frozenset({"core"}),
    "drawing": frozenset({"core", "graph"}),
    "connectors": frozenset({"core"}),
    "api": frozenset({"core", "graph", "connectors", "jobs"}),
    "plan": frozenset({"core", "graph"}),
    "runtime": frozenset({"core"}),
    "savepoint": frozenset({"core", "runtime"}),
    "state": frozenset({"core", "runtime", "savepoint"}),
    "spark": frozenset({"core", "connectors", "plan", "runtime", "savepoint", "jobs"}),
    "local": frozenset({"core", "runtime", "savepoint", "jobs"}),
    "testing": frozenset({"core", "connectors", "plan", "runtime", "savepoint", "local", "api"}),
    "cli": frozenset({"core", "api", "jobs"}),
    "launch": frozenset(
        {"core", "graph", "drawing", "connectors", "api", "plan", "runtime", "savepoint", "jobs", "spark", "local"}
    ),
    "demo": FACADES,  # a user's program that ships with the package
    "_version": frozenset(),
    "pickled": frozenset(),
    "moved": frozenset(),
    "__init__": frozenset({"moved"}),
    **{facade: frozenset({"core", "connectors", "jobs", "api"}) for facade in FACADES},
}

# room -> packages from outside; a room that is not named here uses the standard library only
THIRD_PARTY: dict[str, frozenset[str]] = {
    "runtime": frozenset({"numpy"}),  # routes of many keys at once
    "savepoint": frozenset({"pyarrow"}),  # Parquet
    "state": frozenset({"pandas"}),  # what it shows
    "spark": frozenset({"pyspark", "py4j", "pyarrow", "pandas", "numpy"}),
    "testing": frozenset({"yaml"}),
    "cli": frozenset({"click"}),
}

# allowed inside functions only: execute() meets its host late, only Parquet and ORC need Arrow, only Avro fastavro,
# only PostgreSQL psycopg, only MySQL PyMySQL, only a terminal rich
LATE: dict[str, frozenset[str]] = {
    "api": frozenset({"launch"}),
    "cli": frozenset({"launch", "demo", "state", "rich"}),
    "state": frozenset({"launch"}),
    "testing": frozenset({"launch"}),  # settings mean in a test what they mean to execute()
    "connectors": frozenset({"pyarrow", "fastavro", "psycopg", "pymysql"}),
}

# allowed below `if TYPE_CHECKING:` only: type checkers bring it along, jobs run without it
CHECKED: dict[str, frozenset[str]] = {
    "core": frozenset({"typing_extensions"}),
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, as a dotted absolute name; `late` if inside a function, `checked` if for type checkers."""

    target: str
    line: int
    late: bool
    checked: bool


def breaches(root: Path) -> list[str]:
    """Every breach of the rules in the package whose directory is `root` (named `penstock`)."""
    return [line for path in sorted(root.rglob("*.py")) for line in _breaches_of(path, root)]


def _breaches_of(path: Path, root: Path) -> Iterator[str]:
    where = path.relative_to(root.parent)
    room = path.relative_to(root).parts[0].removesuffix(".py")
    tree = ast.parse(path.read_text())
    if room not in ROOMS:
        yield f"{where}:1: {room} is not a known room"
        return
    for found in _imports(tree, where.parts[:-1]):
        if complaint := _complaint(room, found):
            yield f"{where}:{found.line}: {complaint}"
    if room in FACADES or path.name == "__init__.py":
        for node in tree.body:
            if not _only_names(node):
                yield f"{where}:{node.lineno}: {room} may hold nothing but re-exports here"


def _complaint(room: str, found: Import) -> str | None:
    package, _, rest = found.target.partition(".")
    if package in sys.stdlib_module_names:
        return None
    if package == "penstock":
        target = rest.partition(".")[0] or "the package itself"
        allowed = ROOMS[room] | {room} | LEAVES
    else:
        target = package
        allowed = THIRD_PARTY.get(room, frozenset())
    if target in allowed or (found.checked and target in CHECKED.get(room, frozenset())):
        return None
    if target not in LATE.get(room, frozenset()):
        return f"{room} may not import {target}"
    return None if found.late else f"{room} may import {target} only inside a function"


def _imports(node: ast.AST, package: tuple[str, ...], late: bool = False, checked: bool = False) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        typed = checked or _for_checkers(node, child)
        for target in _targets(child, package):
            yield Import(target, child.lineno, late, typed)  # type: ignore[attr-defined]
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(child, package, late or inside, typed)


def _for_checkers(node: ast.AST, child: ast.AST) -> bool:
    """Whether `child` stands in the first branch of an `if TYPE_CHECKING:`."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body):
            return child in body
    return False


def _targets(node: ast.AST, package: tuple[str, ...]) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            base = package[: len(package) - level + 1] if level else ()
            origin = ".".join([*base, *([module] if module else [])])
            # `from penstock import core` names its rooms one by one
            return [f"penstock.{alias.name}" for alias in names] if origin == "penstock" else [origin]
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return [name]
    return []


def _only_names(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False


def test_every_room_imports_only_what_it_may() -> None:
    assert list(SOURCE.rglob("*.py")), f"nothing to check in {SOURCE}"
    assert breaches(SOURCE) == []


GOOD = {
    "core/time.py": "import dataclasses\nfrom penstock.core import errors\nfrom . import errors",
    "core/variables.py": "if TYPE_CHECKING:\n    from typing_extensions import TypeVar\nelse:\n    import typing",
    "runtime/timers.py": "from penstock.core.time import Time\nfrom ..core import errors",
    "api/environment.py": "def execute():\n    from penstock.launch import launch",
    "cli/main.py": "import click\nimport penstock.api\ndef run():\n    from penstock import launch",
    "spark/host.py": "import pyspark\nfrom py4j import java_gateway\nfrom penstock.plan import stages",
    "connectors/files.py": "def write():\n    import pyarrow.parquet\n    import fastavro",
    "launch/execute.py": "from penstock import api, plan, spark, local",
    "common/__init__.py": '"""Names."""\nfrom penstock.core.types import Types\n__all__ = ["Types"]',
    "__init__.py": "from penstock._version import __version__",
}

BAD = [
    ("core/time.py", "import numpy", "core may not import numpy"),
    ("core/time.py", "from typing_extensions import TypeVar", "core may not import typing_extensions"),
    ("core/time.py", "if TYPE_CHECKING: ...\nelse:\n    import typing_extensions", "may not import typing_extensions"),
    ("core/time.py", "from penstock.graph import nodes", "core may not import graph"),
    ("core/time.py", "from penstock import runtime", "core may not import runtime"),
    ("core/time.py", "from .. import graph", "core may not import graph"),
    ("core/a/b.py", "from ...plan.stages import Stage", "core may not import plan"),
    ("graph/nodes.py", "import penstock.api.environment", "graph may not import api"),
    ("plan/passes.py", "from penstock.runtime import chunks", "plan may not import runtime"),
    ("runtime/timers.py", "def f():\n    import pyspark", "runtime may not import pyspark"),
    ("runtime/timers.py", "def f():\n    import pyarrow", "runtime may not import pyarrow"),
    ("runtime/timers.py", "import importlib\nimportlib.import_module('pyspark')", "may not import pyspark"),
    ("runtime/timers.py", "__import__('py4j')", "runtime may not import py4j"),
    ("runtime/timers.py", "if TYPE_CHECKING:\n    from penstock.plan import stages", "may not import plan"),
    ("runtime/timers.py", "import penstock", "runtime may not import the package itself"),
    ("api/environment.py", "from pyspark.sql import SparkSession", "api may not import pyspark"),
    ("api/environment.py", "from penstock.launch import launch", "launch only inside a function"),
    ("api/environment.py", "from penstock.datastream import X", "api may not import datastream"),
    ("api/environment.py", "def f():\n    from penstock.spark import host", "api may not import spark"),
    ("plan/passes.py", "def f():\n    from penstock.launch import launch", "plan may not import launch"),
    ("cli/main.py", "import penstock.launch", "launch only inside a function"),
    ("cli/main.py", "def f():\n    import pyspark", "cli may not import pyspark"),
    ("spark/host.py", "from penstock.api import environment", "spark may not import api"),
    ("jobs/client.py", "def f():\n    import pyspark", "jobs may not import pyspark"),
    ("jobs/client.py", "from penstock.spark import streaming", "jobs may not import spark"),
    ("jobs/client.py", "import pyarrow", "jobs may not import pyarrow"),
    ("runtime/task.py", "from penstock.jobs import client", "runtime may not import jobs"),
    ("plan/passes.py", "from penstock.jobs import client", "plan may not import jobs"),
    ("local/local_job.py", "from penstock.testing import harness", "local may not import testing"),
    ("local/local_job.py", "import pyspark", "local may not import pyspark"),
    ("launch/hosts.py", "from penstock.testing import harness", "launch may not import testing"),
    ("testing/local.py", "from penstock.spark import host", "testing may not import spark"),
    ("connectors/files.py", "import pyarrow", "pyarrow only inside a function"),
    ("connectors/files.py", "from fastavro import reader", "fastavro only inside a function"),
    ("launch/hosts.py", "from penstock.common import Types", "launch may not import common"),
    ("datastream/__init__.py", "from penstock.common import Types", "datastream may not import common"),
    ("common/__init__.py", "def f(): ...", "nothing but re-exports"),
    ("datastream/state.py", "X = 1", "nothing but re-exports"),
    ("runtime/__init__.py", "class A: ...", "nothing but re-exports"),
    ("lounge/sofa.py", "", "lounge is not a known room"),
]


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / "penstock" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "penstock"


def test_a_sound_tree_passes(tmp_path: Path) -> None:
    assert breaches(_write(tmp_path, GOOD)) == []


@pytest.mark.parametrize(("name", "text", "complaint"), BAD)
def test_a_breach_is_reported_with_its_place(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (found,) = breaches(_write(tmp_path, GOOD | {name: text}))
    assert found.startswith(f"penstock/{name}:")
    assert complaint in found
