"""The glossary leads to files that are there, and to every term once."""

import re

import pytest

from tests.docs.pages import ROOT, links

SOURCE = ROOT / "src" / "penstock"
COLUMNS = ["Term", "What it is here", "In Flink's words", "In Spark's words", "File"]


def _rows() -> list[list[str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert all(row == COLUMNS for row in rows if row[0] == "Term")
    return [row for row in rows if row != COLUMNS]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row[0])
def test_a_term_says_what_it_is_and_where_it_lives(row: list[str]) -> None:
    assert len(row) == len(COLUMNS)
    assert all(row), "a cell is empty; a dash says that there is no such thing"
    files = re.findall(r"`([^`]+\.\w+)`", row[-1])
    assert files, f"{row[0]}: no file in backticks"
    assert [file for file in files if not (SOURCE / file).is_file()] == []


def test_a_term_has_one_place() -> None:
    terms = [row[0].lower() for row in _rows()]
    assert sorted(terms) == sorted(set(terms))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/index.md", "docs/architecture.md"])
def test_readers_find_it(page: str) -> None:
    assert any(link.endswith("glossary.md") for link in links(ROOT / page))
