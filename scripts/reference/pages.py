"""Which public name stands on which page, and what a page says."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from scripts.reference.layout import PAGES, Page
from scripts.reference.members import Member, declaration, function_signatures, inherited, members
from scripts.reference.names import PublicName, public_names

__all__ = ["reference"]

_NOTE = "<!-- Written by `make reference` from the docstrings in the source: edit those. -->"
_DOCTEST = re.compile(r"(?:^>>> .*\n?)(?:^(?!\s*$).*\n?)*", re.MULTILINE)


def reference() -> dict[str, str]:
    """File name -> text, for all pages of the reference."""
    shared = _shared_out()
    pages = {page.file: _page(page, shared[page.file]) for page in PAGES}
    return {"index.md": _index(shared), **pages}


# -- which page -----------------------------------------------------------------------------------------


@cache
def _shared_out() -> Mapping[str, Sequence[PublicName]]:
    """Page -> its names: those that the layout names come first, the others follow in the order of the alphabet."""
    names = public_names()
    unknown = [name for page in PAGES for name in page.first if name not in names]
    if unknown:
        raise ValueError(f"scripts/reference/layout.py has names that are not public: {', '.join(unknown)}")
    named = {name: page for page in PAGES for name in page.first}
    pages: dict[str, list[PublicName]] = defaultdict(list)
    for page in PAGES:
        pages[page.file] += [names[name] for name in page.first]
    for name in names.values():
        if name.name not in named:
            pages[_page_of(name).file].append(name)
    return pages


def _page_of(name: PublicName) -> Page:
    """The page with the longest of its modules; the first of them, if several have it."""
    places = [(len(module), page) for page in PAGES for module in page.modules if module in _with_parents(name)]
    if not places:
        raise ValueError(f"No page of the reference takes {name.name} of {name.modules[0]}: see PAGES")
    return max(places, key=lambda place: place[0])[1]


def _with_parents(name: PublicName) -> set[str]:
    return {
        module.rsplit(".", depth)[0] if depth else module
        for module in name.modules
        for depth in range(module.count("."))
    }


# -- what it says -----------------------------------------------------------------------------------------


def _index(shared: Mapping[str, Sequence[PublicName]]) -> str:
    rows = "".join(f"| [{page.title}]({page.file}) | {page.about} | {len(shared[page.file])} |\n" for page in PAGES)
    where = {name.name: page.file for page in PAGES for name in shared[page.file]}
    every = ", ".join(f"[{name}]({where[name]}#{_slug(name)})" for name in public_names())
    head = (
        "Every public name with its signature and its docstring. The examples in the docstrings are run by the tests."
    )
    table = f"| Page | What is there | Names |\n|---|---|--:|\n{rows}"
    return f"# Reference\n\n{_NOTE}\n\n{head}\n\n{table}\n## All names\n\n{every}\n"


def _page(page: Page, names: Sequence[PublicName]) -> str:
    rows = "".join(f"| [{name.name}](#{_slug(name.name)}) | {_cell(_first_sentence(_doc(name)))} |\n" for name in names)
    table = f"| Name | |\n|---|---|\n{rows}"
    return "\n".join(
        [f"# {page.title}\n\n{_NOTE}\n\n{page.about[0].upper()}{page.about[1:]}.\n\n{table}", *map(_entry, names)]
    )


def _entry(name: PublicName) -> str:
    return "\n".join(part for part in _parts(name) if part)


def _parts(name: PublicName) -> Iterator[str]:
    yield f"## {name.name}\n"
    yield f"{_imports(name)}\n"
    if inspect.isclass(name.found):
        yield _code(declaration(name.found))
        yield _prose(_doc(name))
        yield from (_member(name.name, member) for member in members(name.found) if member.signatures != (member.name,))
        values = [member.name for member in members(name.found) if member.signatures == (member.name,)]
        yield f"Values: {', '.join(f'`{value}`' for value in values)}.\n" if values else ""
        for base, inherits in inherited(name.found):
            yield f"From {_link(base)}: {', '.join(f'`{member}`' for member in inherits)}.\n"
    elif inspect.isfunction(name.found):
        yield _code(function_signatures(name.name, name.found))
        yield _prose(_doc(name))
    else:
        yield _code([_value(name)])


def _value(name: PublicName) -> str:
    """A constant with its value, another object with its class."""
    if isinstance(name.found, str | bytes | int):
        return f"{name.name} = {name.found!r}"
    return f"{name.name}: {type(name.found).__name__}"


def _member(owner: str, member: Member) -> str:
    return f"### {owner}.{member.name}\n\n{_code(member.signatures)}\n{_prose(member.doc)}".rstrip("\n") + "\n"


def _imports(name: PublicName) -> str:
    others = ", ".join(f"`{module}`" for module in name.modules[1:])
    return f"`{name.statement()}`" + (f" (also in {others})" if others else "")


def _link(name: str) -> str:
    page = next(page.file for page in PAGES if any(found.name == name for found in _shared_out()[page.file]))
    return f"[{name}]({page}#{_slug(name)})"


def _doc(name: PublicName) -> str:
    """The docstring; values have that of their class, which says nothing about them."""
    if inspect.isclass(name.found) or inspect.isfunction(name.found):
        return inspect.cleandoc(name.found.__doc__ or "")
    return ""


def _code(lines: Sequence[str]) -> str:
    return "```python\n{}\n```\n".format("\n".join(lines))


def _prose(doc: str) -> str:
    """The docstring with a fence around each example: Markdown would take `>>>` for a quotation."""
    fenced = _DOCTEST.sub(lambda match: f"```python\n{match[0].rstrip()}\n```\n", doc)
    return f"{fenced.rstrip()}\n" if fenced else ""


def _first_sentence(doc: str) -> str:
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return re.split(r"(?<=[.:!?]) (?=[A-Z`>])", paragraph)[0]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _slug(name: str) -> str:
    return name.lower()
