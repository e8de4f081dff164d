"""Graphs as one web page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from penstock.drawing.diagram import Diagram
from penstock.drawing.svg import picture

__all__ = ["page"]

_STYLE = """
body { margin: 0; font: 15px/1.45 "Helvetica Neue", Helvetica, Arial, "Noto Sans", sans-serif; color: #1d2733;
       background: #fff }
header { padding: 20px 28px 0 }
h1 { font-size: 22px; margin: 0 0 4px }
p { margin: 0; color: #4a5766 }
nav { padding: 16px 28px 0; border-bottom: 1px solid #c9d3dc; display: flex; gap: 4px; flex-wrap: wrap }
input { position: absolute; opacity: 0 }
nav label { padding: 8px 14px; border: 1px solid transparent; border-bottom: 0; border-radius: 6px 6px 0 0;
            cursor: pointer; color: #33516e }
section { display: none; padding: 8px 12px; overflow-x: auto }
section svg { max-width: none; height: auto }
h2 { font-size: 16px; margin: 16px 36px 0 }
table { border-collapse: collapse; margin: 6px 36px 28px; font-size: 14px }
th, td { text-align: left; padding: 5px 14px 5px 0; border-bottom: 1px solid #e3e9ee; vertical-align: top }
th { color: #4a5766; font-weight: 600 }
"""


def page(name: str, subtitle: str, diagrams: Sequence[Diagram], notes: Sequence[tuple[str, str]] = ()) -> str:
    """A tab for each graph, and below them what each path guarantees (path, text). No script, no network."""
    kinds = [diagram.kind for diagram in diagrams]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(name)}</title>",
            f"<style>{_STYLE}{_tabs(len(kinds))}</style></head><body>",
            f"<header><h1>{escape(name)}</h1><p>{escape(subtitle)}</p></header>",
            *(_input(number) for number in range(len(kinds))),
            f"<nav>{''.join(_label(number, kind) for number, kind in enumerate(kinds))}</nav>",
            *(_section(number, diagram) for number, diagram in enumerate(diagrams)),
            _table(notes) if notes else "",
            "</body></html>\n",
        )
    )


def _tabs(count: int) -> str:
    """The chosen tab shows its section: a radio button each, so no script is needed."""
    return "\n".join(
        f"#t{n}:checked ~ #s{n} {{ display: block }} "
        f"#t{n}:focus-visible ~ nav label[for=t{n}] {{ outline: 2px solid #3b6ea5 }} "
        f"#t{n}:checked ~ nav label[for=t{n}] "
        "{ background: #fff; border-color: #c9d3dc; margin-bottom: -1px; font-weight: 600; color: #1d2733 }"
        for n in range(count)
    )


def _input(number: int) -> str:
    return f'<input type="radio" name="tab" id="t{number}"{" checked" if number == 0 else ""}>'


def _label(number: int, kind: str) -> str:
    return f'<label for="t{number}">{escape(kind)}</label>'


def _section(number: int, diagram: Diagram) -> str:
    """Ids of markers must be unique in a page."""
    drawing = picture(diagram).replace('id="head"', f'id="head{number}"').replace("url(#head)", f"url(#head{number})")
    drawing = drawing.replace('id="link-head"', f'id="link-head{number}"')
    return f'<section id="s{number}">{drawing.replace("url(#link-head)", f"url(#link-head{number})")}</section>'


def _table(notes: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>" for what, text in notes)
    return f"<h2>Guarantees</h2><table>{rows}</table>"
