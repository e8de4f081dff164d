"""Draws diagrams as SVG: plain text, no library, dark on light."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from penstock.drawing.diagram import Arrow, Diagram
from penstock.drawing.layout import EdgeIn, Layout, Route, lay_out
from penstock.drawing.paths import curve, digits, point
from penstock.drawing.shapes import Shape, group_shape, legend
from penstock.drawing.words import text_width

__all__ = ["STYLE", "picture", "sheet"]

MARGIN, HEAD, LEGEND = 24.0, 40.0, 34.0
_WIDEST, _RATIO = 1500.0, 3.2
_LABEL = 11.0

STYLE = """
text { font-family: "Helvetica Neue", Helvetica, Arial, "Noto Sans", "DejaVu Sans", sans-serif; fill: #1d2733 }
.title { font-size: 16px; font-weight: 600 }
.name { font-size: 13px; font-weight: 600 }
.note { font-size: 11px; fill: #4a5766 }
.times { font-size: 11px; font-weight: 600; fill: #33516e }
.label { font-size: 11px; fill: #33414f }
.frame { fill: #f4f7fa; stroke: #8fa3b6; stroke-width: 1.2 }
.box { fill: #ffffff; stroke-width: 1.4 }
.source { stroke: #2e8b57 } .operator { stroke: #3b6ea5 } .sink { stroke: #b8622b }
.bar-source { fill: #2e8b57 } .bar-operator { fill: #3b6ea5 } .bar-sink { fill: #b8622b }
.edge { fill: none; stroke: #51606f; stroke-width: 1.4 }
.link { fill: none; stroke: #8fa3b6; stroke-width: 1.2 }
.wire { fill: none; stroke: #51606f; stroke-width: 1; stroke-opacity: 0.75 }
.side { stroke-dasharray: 5 3 }
.pill { fill: #ffffff; stroke: #c9d3dc }
.icon { fill: none; stroke: #4a5766; stroke-width: 1.2 }
.icon-state { fill: #dce8f4; stroke: #33516e; stroke-width: 1.1 }
.head { fill: #51606f } .link-head { fill: #8fa3b6 }
"""


def picture(diagram: Diagram, upright: bool | None = None) -> str:
    """One graph as an SVG document. `upright`: flow from top to bottom; None: whichever way is the better read."""
    width, height, parts = drawn(diagram, upright)
    return document(width, height, parts)


def sheet(diagrams: Sequence[Diagram]) -> str:
    """Several graphs below each other in one SVG document."""
    made = [drawn(diagram) for diagram in diagrams]
    width, y, parts = max(w for w, _, _ in made), 0.0, []
    for _, height, inside in made:
        parts += [f'<g transform="translate(0 {digits(y)})">', *inside, "</g>"]
        y += height
    return document(width, y, parts)


def document(width: float, height: float, parts: Iterable[str]) -> str:
    """Parts on white paper."""
    size = f'width="{digits(width)}" height="{digits(height)}" viewBox="0 0 {digits(width)} {digits(height)}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<style>{STYLE}</style>",
            f"<defs>{_head_marker('head', 'head')}{_head_marker('link-head', 'link-head')}</defs>",
            f'<rect width="{digits(width)}" height="{digits(height)}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        )
    )


def _head_marker(name: str, kind: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7.2" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse" markerUnits="userSpaceOnUse">'
        f'<path class="{kind}" d="M0,0.6 L8,4 L0,7.4 z"/></marker>'
    )


def drawn(diagram: Diagram, upright: bool | None = None) -> tuple[float, float, list[str]]:
    """Width, height and parts of a graph with its title and legend."""
    if upright is None:
        upright = _better_upright(diagram)
    shapes, layout = _laid_out(diagram, upright)
    width, height = (layout.across, layout.along) if upright else (layout.along, layout.across)
    signs, legend_width = legend(diagram)
    title_width = text_width(diagram.title, 16, True)
    parts = [
        f'<text class="title" x="{digits(MARGIN)}" y="{digits(MARGIN + 8)}">{escape(diagram.title)}</text>',
        f'<g transform="translate({digits(MARGIN)} {digits(MARGIN + HEAD)})">',
        *_groups(shapes, layout, upright),
        *_edges(diagram, shapes, layout, upright),
        *_labels(diagram, _label_places(diagram, shapes, layout, upright), upright),
        "</g>",
        f'<g transform="translate({digits(MARGIN)} {digits(MARGIN + HEAD + height + LEGEND)})">{signs}</g>',
    ]
    return max(width, legend_width, title_width) + 2 * MARGIN, HEAD + height + LEGEND + 2 * MARGIN, parts


def _better_upright(diagram: Diagram) -> bool:
    """From left to right unless that makes a ribbon."""
    _, flat = _laid_out(diagram, False)
    return flat.along > _WIDEST or (flat.along > 900 and flat.along > _RATIO * max(flat.across, 200.0))


def _laid_out(diagram: Diagram, upright: bool) -> tuple[list[Shape], Layout]:
    shapes = [group_shape(group, upright) for group in diagram.groups]
    sizes = [(s.height, s.width) if upright else (s.width, s.height) for s in shapes]
    edges = [EdgeIn(a.source, a.target, *_label_size(a, upright)) for a in diagram.arrows]
    return shapes, lay_out(sizes, edges)


def _label_size(arrow: Arrow, upright: bool) -> tuple[float, float]:
    if not arrow.label:
        return 0.0, 0.0
    width, height = text_width(arrow.label, _LABEL) + 14, 18.0
    return (height, width) if upright else (width, height)


# -- groups ---------------------------------------------------------------------------------------------------------


def _groups(shapes: Sequence[Shape], layout: Layout, upright: bool) -> Iterator[str]:
    for shape, placed in zip(shapes, layout.boxes, strict=True):
        x, y = point((placed.along, placed.across), upright)
        yield f'<g transform="translate({digits(x)} {digits(y)})">'
        yield from shape.parts
        yield "</g>"


# -- edges ----------------------------------------------------------------------------------------------------------


def _edges(diagram: Diagram, shapes: Sequence[Shape], layout: Layout, upright: bool) -> Iterator[str]:
    for arrow, route in zip(diagram.arrows, layout.routes, strict=True):
        side = " side" if arrow.tag else ""
        if arrow.wires:
            yield from _wires(arrow, route, shapes, layout, upright, side)
        else:
            yield f'<path class="edge{side}" marker-end="url(#head)" d="{curve(route.points, upright)}"/>'


def _wires(
    arrow: Arrow, route: Route, shapes: Sequence[Shape], layout: Layout, upright: bool, side: str
) -> Iterator[str]:
    """From subtask to subtask; over a distance they run together."""
    leaving = _subtask_ports(shapes[arrow.source], layout, arrow.source, True, upright)
    coming = _subtask_ports(shapes[arrow.target], layout, arrow.target, False, upright)
    if route.direct:
        for i, j in arrow.wires:
            yield _wire([leaving[i], coming[j]], upright, side, True)
        return
    trunk = route.points[1:-1]
    for i in sorted({i for i, _ in arrow.wires}):
        yield _wire([leaving[i], trunk[0]], upright, side, False)
    yield _wire(trunk, upright, side, False)
    for j in sorted({j for _, j in arrow.wires}):
        yield _wire([trunk[-1], coming[j]], upright, side, True)


def _subtask_ports(shape: Shape, layout: Layout, index: int, leaving: bool, upright: bool) -> list[tuple[float, float]]:
    """Where wires touch the subtasks of a group, along and across."""
    placed = layout.boxes[index]
    found = []
    for x, y, width, height in shape.subtasks:
        start, middle, size = (y, x + width / 2, height) if upright else (x, y + height / 2, width)
        found.append((placed.along + start + (size if leaving else 0), placed.across + middle))
    return found


def _wire(points: Sequence[tuple[float, float]], upright: bool, side: str, head: bool) -> str:
    marker = ' marker-end="url(#head)"' if head else ""
    return f'<path class="wire{side}"{marker} d="{curve(points, upright)}"/>'


def _label_places(
    diagram: Diagram, shapes: Sequence[Shape], layout: Layout, upright: bool
) -> list[tuple[float, float]]:
    """The middles of the labels: among wires in the midst of them, unless another label is there."""
    places = [route.label for route in layout.routes]
    for number, arrow in enumerate(diagram.arrows):
        if arrow.wires and layout.routes[number].direct:
            leaving = _subtask_ports(shapes[arrow.source], layout, arrow.source, True, upright)
            coming = _subtask_ports(shapes[arrow.target], layout, arrow.target, False, upright)
            across = [(leaving[i][1] + coming[j][1]) / 2 for i, j in arrow.wires]
            moved = (places[number][0], sum(across) / len(across))
            if not any(_near(moved, other) for n, other in enumerate(places) if n != number):
                places[number] = moved
    return places


def _near(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return abs(a[0] - b[0]) < 60 and abs(a[1] - b[1]) < 24


def _labels(diagram: Diagram, places: Sequence[tuple[float, float]], upright: bool) -> Iterator[str]:
    for arrow, place in zip(diagram.arrows, places, strict=True):
        if arrow.label:
            yield _label(arrow.label, *point(place, upright))


def _label(text: str, x: float, y: float) -> str:
    width = text_width(text, _LABEL) + 10
    size = f'x="{digits(x - width / 2)}" y="{digits(y - 9)}" width="{digits(width)}" height="18"'
    words = f'<text class="label" x="{digits(x)}" y="{digits(y + 4)}" text-anchor="middle">{escape(text)}</text>'
    return f'<rect class="pill" {size} rx="9"/>{words}'
