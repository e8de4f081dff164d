"""Reads a page of the guide: its headings, its links, and its blocks with what is said about them.

A page's blocks are one program. What a block is for is said by its language and by a comment before it:

- ``python`` is run, in the page's one namespace. What it prints must be the ``text`` block that follows, if one
  follows directly; else it must print nothing. ``...`` stands for anything.
- ``python title="job.py"`` becomes a file beside the program, and is run by a ``console`` block; so does
  ``yaml title="penstock.conf"``.
- ``console``: lines that begin with ``$`` are commands (``penstock`` and ``python``, which may have settings like
  ``NAME=value`` before them), the others their output.
- ``<!-- fails: ProgramError -->``: the block must fail so; the text that follows is the message.
- ``<!-- host: streaming -->``: the block needs Spark; it is run by the tests that have one.
- ``sh``, ``yaml`` and others are not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "blocks", "headings", "links", "pages", "reference_pages"]

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(
    r"(?:^<!-- (?P<note>fails|host): (?P<value>\w+) -->\n)?"
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^(?P=indent)```$',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block. `output` is the text block directly behind it; `line` its first line on the page."""

    language: str
    text: str
    line: int
    title: str | None = None
    fails: str | None = None
    host: str = "local"
    output: str | None = None


def pages() -> list[Path]:
    """Every page whose snippets are run; the README has a test of its own, and the reference is made of docstrings."""
    found = [*(ROOT / "docs" / "guide").glob("*.md"), *(ROOT / "docs" / "zh").rglob("*.md")]
    return sorted(page for page in found if page.name != "README.md")


def reference_pages() -> list[Path]:
    """The pages that `make reference` writes."""
    return sorted((ROOT / "docs" / "guide" / "reference").glob("*.md"))


def blocks(page: Path) -> Iterator[Block]:
    """The page's blocks in order, outputs joined to what prints them."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    taken = -1
    for place, match in enumerate(found):
        if place == taken:
            continue
        output = None
        if place + 1 < len(found) and _is_output(text, match, found[place + 1]):
            output, taken = found[place + 1]["text"], place + 1
        yield _block(match, text.count("\n", 0, match.start("text")) + 1, output)


def _is_output(text: str, before: re.Match[str], block: re.Match[str]) -> bool:
    gap = text[before.end() : block.start()]
    return before["language"] == "python" and block["language"] == "text" and not gap.strip()


def _block(match: re.Match[str], line: int, output: str | None) -> Block:
    notes = {match["note"]: match["value"]} if match["note"] else {}
    return Block(
        match["language"], match["text"], line, match["title"], notes.get("fails"), notes.get("host", "local"), output
    )


def headings(page: Path) -> list[str]:
    """The page's headings with their level, blocks left out."""
    return re.findall(r"^#+ .*$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)


def links(page: Path) -> list[str]:
    """Where links and pictures of the page lead."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text)
