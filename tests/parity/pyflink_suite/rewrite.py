"""PyFlink's test files, as they run on Penstock: nothing but their imports changes, in a copy of their own."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGES = ("common/tests", "datastream/tests", "datastream/connectors/tests", "datastream/formats/tests")
"""Folders of `pyflink` whose tests are run; those of the Table API and of PyFlink's inner workings are not."""

REPLACED = ("pyflink", "avro", "py4j.java_gateway")
"""Packages and modules that tests import and that have stand-ins."""

TAKE = "from tests.parity.pyflink_suite.stand_in.bridge import take as _take"


def test_files(pyflink: Path) -> list[Path]:
    """The test files below a folder `pyflink` of Flink's sources."""
    found = [path for package in PACKAGES for path in sorted((pyflink / package).glob("test_*.py"))]
    return [path for path in found if path.name != "test_util.py"]


def module_name(pyflink: Path, path: Path) -> str:
    """`datastream.test_window` for `datastream/tests/test_window.py`."""
    return ".".join(part for part in path.relative_to(pyflink).with_suffix("").parts if part != "tests")


def rewritten(text: str) -> str:
    """A test file with every import from the packages `REPLACED` made by `take`.

    >>> print(rewritten("from pyflink.common import Row, Types as T\\nx = Row(1)"))
    from tests.parity.pyflink_suite.stand_in.bridge import take as _take; Row, T, = _take('pyflink.common', 'Row'), \
_take('pyflink.common', 'Types'),
    x = Row(1)
    """
    lines = text.splitlines()
    for node in sorted(_imports(ast.parse(text)), key=lambda n: n.lineno, reverse=True):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        lines[first:last] = [" " * node.col_offset + _taken(node), *[""] * (last - first - 1)]
    return "\n".join(lines)


def _imports(tree: ast.AST) -> list[ast.ImportFrom]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return [node for node in nodes if f"{node.module}.".startswith(tuple(f"{name}." for name in REPLACED))]


def _taken(node: ast.ImportFrom) -> str:
    targets = "".join(f"{alias.asname or alias.name}, " for alias in node.names)
    values = " ".join(f"_take({node.module!r}, {alias.name!r})," for alias in node.names)
    return f"{TAKE}; {targets}= {values}"


def write(pyflink: Path, folder: Path) -> list[str]:
    """Write the rewritten tests into a folder; the names of the modules there."""
    names = []
    for path in test_files(pyflink):
        name = module_name(pyflink, path)
        text = rewritten(path.read_text(encoding="utf-8"))
        (folder / f"{name.replace('.', '__')}.py").write_text(text, encoding="utf-8")
        names.append(name)
    return names
