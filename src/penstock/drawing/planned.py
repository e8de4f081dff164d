"""A program's graphs, to be shown in any form."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from penstock.drawing.diagram import Diagram, execution_diagram, job_diagram, stream_diagram
from penstock.drawing.explain import execution_graph_text, job_graph_text, stream_graph_text
from penstock.drawing.graph_json import execution_graph_json, job_graph_json, stream_graph_json
from penstock.drawing.html import page
from penstock.drawing.mermaid import mermaid, mermaid_page
from penstock.drawing.svg import picture, sheet
from penstock.graph.job_graph import JobGraph
from penstock.graph.stream_graph import StreamGraph

__all__ = ["FORMATS", "GRAPHS", "PlannedGraphs"]

FORMATS = ("text", "mermaid", "svg", "html", "json")
GRAPHS = ("stream", "job", "execution")


@dataclass(frozen=True, slots=True)
class PlannedGraphs:
    """Stream graph and job graph of a program. `guarantees`: lines about its paths, as (path, guarantee)."""

    stream: StreamGraph
    job: JobGraph
    guarantees: tuple[tuple[str, str], ...] = ()

    def render(self, form: str = "text", which: str | None = None) -> str:
        """One graph, or all, in a form; ValueError for one that is not known."""
        known = {"text": self._text, "mermaid": self._mermaid, "svg": self._svg, "html": self._html, "json": self._json}
        if form not in known or (which is not None and which not in GRAPHS):
            raise ValueError(f"Forms are {', '.join(FORMATS)}, graphs {', '.join(GRAPHS)}; got {form!r} and {which!r}")
        made: Callable[[tuple[str, ...]], str] = known[form]
        return made(GRAPHS if which is None else (which,))

    def _text(self, which: tuple[str, ...]) -> str:
        texts = {
            "stream": lambda: stream_graph_text(self.stream),
            "job": lambda: job_graph_text(self.job),
            "execution": lambda: execution_graph_text(self.job),
        }
        parts = [texts[graph]() for graph in which]
        if self.guarantees and len(which) > 1:
            title = f"== Guarantees: {self.stream.name} =="
            parts.append("\n".join([title, *(f"{path}: {given}" for path, given in self.guarantees)]))
        return "\n\n".join(parts)

    def diagrams(self, which: tuple[str, ...] = GRAPHS) -> list[Diagram]:
        """The graphs as things to draw."""
        made = {
            "stream": lambda: stream_diagram(self.stream),
            "job": lambda: job_diagram(self.job),
            "execution": lambda: execution_diagram(self.job),
        }
        return [made[graph]() for graph in which]

    def _mermaid(self, which: tuple[str, ...]) -> str:
        found = self.diagrams(which)
        return mermaid(found[0]) if len(found) == 1 else mermaid_page(found)

    def _svg(self, which: tuple[str, ...]) -> str:
        found = self.diagrams(which)
        return picture(found[0]) if len(found) == 1 else sheet(found)

    def _html(self, which: tuple[str, ...]) -> str:
        operators, vertices, subtasks = len(self.stream.nodes), len(self.job.vertices), self.job.subtasks
        subtitle = f"{operators} operators in {vertices} vertices, {subtasks} parallel subtasks"
        return page(self.stream.name, subtitle, self.diagrams(which), self.guarantees)

    def _json(self, which: tuple[str, ...]) -> str:
        made = {
            "stream": lambda: stream_graph_json(self.stream),
            "job": lambda: job_graph_json(self.job),
            "execution": lambda: execution_graph_json(self.job),
        }
        shown = {f"{graph}_graph": made[graph]() for graph in which}
        guarantees = [{"path": path, "guarantee": given} for path, given in self.guarantees]
        return json.dumps({"name": self.stream.name, **shown, "guarantees": guarantees}, indent=2)
