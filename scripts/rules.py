"""Write docs/rules.md and docs/rules.json: the rules of docs/rules.toml, and the tests that name each of them.

The page is for people: rule, number of tests, what they leave open. The data file has the names of the tests, one to
a line, sorted.

A test names rules in its docstring or in a comment, as `T4:`, `(T4, T5)` or a line that is `T4` alone; a
transcript in a `rules: [T4, W2]` field. A mention outside any test function stands for the whole file.
"""

import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]

_ID = r"[PGTSOWCFXU]\d{1,2}"
_IDS = rf"({_ID}(?:,\s*{_ID})*)"
_MENTION = re.compile(rf"\({_IDS}\)|\b{_IDS}:|^\s*{_IDS}\s*(?:$|[.;–—-])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A letter's rules: identifier -> one-line summary, in order."""

    title: str
    rules: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rules, and for some of them what their tests leave open."""

    sections: tuple[Section, ...]
    open: Mapping[str, str]

    def ids(self) -> set[str]:
        return {rule for section in self.sections for rule in section.rules}


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A test, or a whole file where `test` is empty, that names a rule."""

    path: str
    test: str
    rule: str

    def name(self) -> str:
        """As pytest spells it."""
        return f"{self.path}::{self.test}" if self.test else self.path


def load_catalogue(root: Path) -> Catalogue:
    tables = tomllib.loads((root / "docs" / "rules.toml").read_text(encoding="utf-8"))
    left_open = tables.pop("open")
    return Catalogue(tuple(Section(t["title"], t["rules"]) for t in tables.values()), left_open)


def find_mentions(root: Path) -> list[Mention]:
    """Every mention below tests/ and examples/, sorted, each once."""
    return sorted({mention for path in _scanned(root) for mention in _mentions_of(path, root)})


def tests_by_rule(root: Path) -> dict[str, list[str]]:
    """Rule -> the names of its tests, both in order; a rule without tests has an empty list."""
    tests: dict[str, list[str]] = {rule: [] for section in load_catalogue(root).sections for rule in section.rules}
    for mention in find_mentions(root):
        tests.setdefault(mention.rule, []).append(mention.name())
    return tests


def data(root: Path) -> str:
    """The text docs/rules.json must have."""
    return json.dumps(tests_by_rule(root), indent=1, ensure_ascii=False) + "\n"


def render(root: Path) -> str:
    """The text docs/rules.md must have."""
    catalogue, tests = load_catalogue(root), tests_by_rule(root)
    known = catalogue.ids()
    figures = {
        "total": len(known),
        "named": sum(bool(tests[rule]) for rule in known),
        "open": len(catalogue.open),
        "tests": len({test for found in tests.values() for test in found}),
    }
    parts = [_HEAD.format(**figures)]
    parts += [_table(section, tests, catalogue.open) for section in catalogue.sections]
    return "\n".join(parts)


_HEAD = """\
# Rules

What Penstock must do, rule by rule: how many tests name the rule, and what is missing. [rules.json](rules.json) has the
names of the tests. Both files are written by `make rules` from `docs/rules.toml` and the tests: edit those.

{named} of {total} rules have a test, {open} of these leave something open. {tests} tests name a rule.
"""


def _table(section: Section, tests: Mapping[str, Sequence[str]], left_open: Mapping[str, str]) -> str:
    rows = [
        f"| {rule} | {summary} | {len(tests[rule]) or ''} | {_missing(tests[rule], left_open.get(rule, ''))} |\n"
        for rule, summary in section.rules.items()
    ]
    return f"## {section.title}\n\n| Rule | What it says | Tests | Missing |\n|---|---|--:|---|\n{''.join(rows)}"


def _missing(tests: Sequence[str], left_open: str) -> str:
    return left_open if tests else "all of it: not yet"


def _scanned(root: Path) -> Iterator[Path]:
    yield from (root / "tests").rglob("test_*.py")
    yield from (root / "examples").rglob("*.py")
    for folder in ("tests", "examples"):
        yield from (root / folder).rglob("*.yaml")


def _mentions_of(path: Path, root: Path) -> Iterator[Mention]:
    name = path.relative_to(root).as_posix()
    return (Mention(name, test, rule) for test, rule in _found(path.read_text(encoding="utf-8"), path.suffix))


@cache
def _found(text: str, suffix: str) -> tuple[tuple[str, str], ...]:
    return tuple(_in_python(text) if suffix == ".py" else _in_yaml(text))


def _in_yaml(text: str) -> Iterator[tuple[str, str]]:
    for document in yaml.load_all(text, _Loader):
        yield from _rules_fields(document)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads transcripts without knowing their tags."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _rules_fields(value: Any) -> Iterator[tuple[str, str]]:
    """(name of the case, rule) for every mapping with a `rules` field, however deep."""
    if isinstance(value, list):
        for item in value:
            yield from _rules_fields(item)
    elif isinstance(value, dict):
        rules = value.get("rules") or []
        yield from ((str(value.get("name", "")), str(rule)) for rule in rules)
        yield from _rules_fields([item for key, item in value.items() if key != "rules"])


def _in_python(text: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(text)
    tests = list(_tests(tree))
    for line, words in [*_docstrings(tree), *_comments(text)]:
        owner = next((test.name for test in tests if test.first <= line <= test.last), "")
        yield from ((owner, rule) for rule in _named_in(words))


@dataclass(frozen=True, slots=True)
class _Test:
    name: str
    first: int
    last: int


def _tests(node: ast.AST, prefix: str = "") -> Iterator[_Test]:
    """The test functions, with the lines they span, decorators included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _tests(child, f"{prefix}{child.name}::")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and child.name.startswith("test"):
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            yield _Test(prefix + child.name, first, child.end_lineno or child.lineno)


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            words := ast.get_docstring(node)
        ):
            yield node.body[0].lineno, words


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Comments with the line they speak of: those on lines of their own speak of the code that follows."""
    waiting: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            words = token.string.lstrip("#").strip()
            if token.line.lstrip().startswith("#"):
                waiting.append(words)
            else:
                yield token.start[0], words
        elif token.type not in _BLANK:
            yield from ((token.start[0], words) for words in waiting)
            waiting.clear()


_BLANK = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def _named_in(words: str) -> Iterator[str]:
    for match in _MENTION.finditer(words):
        ids = next(group for group in match.groups() if group)
        yield from re.split(r",\s*", ids)


def main() -> None:
    (ROOT / "docs" / "rules.md").write_text(render(ROOT), encoding="utf-8")
    (ROOT / "docs" / "rules.json").write_text(data(ROOT), encoding="utf-8")


if __name__ == "__main__":
    main()
