"""The reference has every public name, and says what the docstrings say."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scripts.reference.members import declaration, members
from scripts.reference.names import public_names
from scripts.reference.pages import reference
from scripts.reference.source import Definition, signature
from tests.docs.pages import ROOT, headings, links, reference_pages

FOLDER = ROOT / "docs" / "guide" / "reference"
FACADES = ("common", "datastream", "cep", "metrics", "table")  # public with all their modules
ALONE = ("state", "testing")


def _public() -> set[str]:
    """All names that the facades list in `__all__`; found here in another way than the generator finds them."""
    modules = [import_module(f"penstock.{name}") for name in (*FACADES, *ALONE)]
    for module in modules[: len(FACADES)]:
        inside = pkgutil.walk_packages(module.__path__, f"{module.__name__}.")
        modules += [import_module(info.name) for info in inside]
    return {name for module in modules for name in module.__all__}


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_the_pages_are_up_to_date(tmp_path: Path) -> None:
    """Written by a process of its own, as `make reference` does: tests before this one may have changed classes."""
    subprocess.run([sys.executable, "-m", "scripts.reference", str(tmp_path)], cwd=ROOT, check=True)
    pages = {page.name: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.md")}
    assert [page.name for page in reference_pages()] == sorted(pages), "run `make reference`"
    assert [name for name in pages if _text(name) != pages[name]] == [], "run `make reference`"


def test_every_public_name_has_its_place() -> None:
    named = {heading.removeprefix("## ") for page in reference_pages() for heading in headings(page)}
    assert sorted(_public() - named) == []


def test_what_a_new_reader_looks_for_is_there() -> None:
    wanted = {
        "connectors.md": ["FileSourceBuilder.monitor_continuously", "BucketAssigner", "RollingPolicy"],
        "formats.md": ["ParquetBulkWriters", "AvroBulkWriters", "CsvBulkWriters", "OrcBulkWriters"],
        "functions.md": ["AsyncRetryStrategy", "FixedDelayRetryStrategy", "has_exception_predicate"],
        "tables.md": ["StreamTableEnvironment", "Table", "SparkTableSink"],
    }
    wanted["connectors.md"] += ["RateLimiterStrategy", "DefaultRollingPolicy"]
    missing = [name for page, names in wanted.items() for name in names if not _has_heading(page, name)]
    assert missing == []


def _has_heading(page: str, name: str) -> bool:
    return re.search(rf"^###? {re.escape(name)}$", _text(page), re.MULTILINE) is not None


def test_every_public_class_and_function_says_what_it_is() -> None:
    described = [name for name in public_names().values() if inspect.isclass(name.found) or callable(name.found)]
    assert [name.name for name in described if not (name.found.__doc__ or "").strip()] == []


def test_only_public_modules_are_named() -> None:
    imports = re.findall(r"^`from (\S+) import", "\n".join(map(_text, reference())), re.MULTILINE)
    assert {module.split(".")[1] for module in imports} == {*FACADES, *ALONE}


def test_links_between_the_pages_lead_somewhere() -> None:
    slugs = {page.name: {re.sub(r"\W", "", h).lower() for h in headings(page)} for page in reference_pages()}
    for page in reference_pages():
        for link in links(page):
            path, _, anchor = link.partition("#")
            assert not anchor or anchor.replace("_", "") in {
                slug.replace("_", "") for slug in slugs[path or page.name]
            }, f"{page.name}: {link}"


# -- how it is made ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("def f(self, a, /, b: int = 1, *, c=None) -> str: ...", "f(a, /, b: int = 1, *, c=None) -> str"),
        ("def f(self, *args: int, **kwargs: str): ...", "f(*args: int, **kwargs: str)"),
        ("def f(self, a: 'Row', _seam: int = 0) -> 'Row': ...", "f(a: Row) -> Row"),
        ("def f(self, *, _seam: int = 0): ...", "f()"),
        ("def f(self, a=_NOTHING): ...", "f(a=...)"),
    ],
)
def test_signatures_are_as_written_without_what_is_private(text: str, written: str) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, Definition)
    assert signature("f", node, bound=True) == written


def test_a_long_signature_has_a_parameter_to_a_line() -> None:
    parameters = [f"parameter_{number}: int" for number in range(7)]
    (node,) = ast.parse(f"def f({', '.join(parameters)}) -> None: ...").body
    assert isinstance(node, Definition)
    assert signature("f", node, bound=False) == "\n".join(["f(", *(f"    {p}," for p in parameters), ") -> None"])


def test_members_of_private_bases_belong_to_the_class() -> None:
    names = [member.name for member in members(public_names()["DataStream"].found)]
    assert {"map", "name", "uid"} <= set(names)
    assert not any(name.startswith("_") for name in names)


def test_what_users_do_not_construct_has_no_constructor() -> None:
    assert len(declaration(public_names()["DataStream"].found)) == 1
    assert declaration(public_names()["TimeWindow"].found)[1].startswith("TimeWindow(start: int, end: int")
