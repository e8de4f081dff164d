"""A pattern's automaton as text and as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from penstock.core.cep.automaton import END, START, Automaton, Edge
from penstock.core.cep.patterns import Contiguity

__all__ = ["as_svg", "as_text"]

_WORDS = {
    Contiguity.STRICT: "next",
    Contiguity.RELAXED: "followed by",
    Contiguity.ANY: "followed by any",
}
_STEP, _MARGIN, _RADIUS, _LIFT, _FONT = 230, 70, 26, 50, 11


def as_text(automaton: Automaton, within_ms: int | None = None) -> str:
    """A line for every transition, from the start on; then what binds the whole match."""
    lines = [
        f"{_name(automaton, edge.source)} ─{f'({label})' if (label := _label(edge)) else ''}▶ "
        f"{_name(automaton, edge.target)}"
        for edge in _edges(automaton)
    ]
    return "\n".join([*lines, *_whole(within_ms)])


def _whole(within_ms: int | None) -> list[str]:
    """What `within` says of the time between the first and the last event."""
    return [] if within_ms is None else [f"from the first event to the last: within {within_ms} ms"]


def _edges(automaton: Automaton) -> list[Edge]:
    return [*automaton.starts, *(edge for edges in automaton.edges for edge in edges)]


def _name(automaton: Automaton, place: int) -> str:
    if place in (START, END):
        return "start" if place == START else "match"
    slot = automaton.slots[place]
    return slot.name if slot.repetition == 1 else f"{slot.name}#{slot.repetition}"


def _label(edge: Edge) -> str:
    """What is to be heeded on the way, in words."""
    return ", ".join(filter(None, _parts(edge)))


def _parts(edge: Edge) -> Iterable[str]:
    if edge.source != START and edge.target != END:
        yield f"again, {_WORDS[edge.contiguity]}" if edge.inner else _WORDS[edge.contiguity]
    for step in edge.not_next:
        yield f"not next {step.name}"
    for step in edge.not_before:
        yield f"no {step.name} until time is up" if edge.target == END else f"no {step.name} before"
    if any(edge.untils):
        yield "not past until"
    if edge.greedy:
        yield "a greedy loop goes first"
    if edge.gap_ms is not None:
        yield f"within {edge.gap_ms} ms"


def as_svg(automaton: Automaton, within_ms: int | None = None) -> str:
    """States in a row, transitions as arcs: forwards above, repetitions below; at the bottom what binds the match."""
    drawing = _Drawing(automaton, _whole(within_ms))
    return drawing.svg()


class _Drawing:
    def __init__(self, automaton: Automaton, notes: list[str]) -> None:
        self._automaton, self._notes = automaton, notes
        self._places = [START, *range(len(automaton.slots)), END]
        self._edges = _edges(automaton)
        highest = max(self._span(edge) for edge in self._edges)
        self._middle = _MARGIN + _RADIUS + _LIFT * highest
        self._width = 2 * _MARGIN + _STEP * (len(self._places) - 1)
        lowest = max(-self._span(edge) for edge in self._edges)
        self._height = self._middle + 16 + _LIFT * (2 + max(0, lowest)) + _MARGIN

    def svg(self) -> str:
        parts = [self._arc(edge) for edge in self._edges] + [self._state(place) for place in self._places]
        parts += [_texts(self._width // 2, self._height - 40, [note], up=False) for note in self._notes]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{self._height}" '
            f'viewBox="0 0 {self._width} {self._height}" font-family="sans-serif" font-size="{_FONT}">\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="#456"/></marker></defs>\n'
            f'<rect width="{self._width}" height="{self._height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
        )

    def _x(self, place: int) -> int:
        return _MARGIN + _STEP * self._places.index(place)

    def _span(self, edge: Edge) -> int:
        return self._places.index(edge.target) - self._places.index(edge.source)

    def _state(self, place: int) -> str:
        x, y, ends = self._x(place), self._middle, place in (START, END)
        fill = "#e8f0e4" if place == END else "#eef2f7"
        name = escape(_name(self._automaton, place))
        width = 2 * self._half(place)
        return (
            f'<rect x="{x - width // 2}" y="{y - 16}" width="{width}" height="32" rx="{16 if ends else 6}" '
            f'fill="{fill}" stroke="#456"/>'
            f'<text x="{x}" y="{y + 4}" text-anchor="middle">{name}</text>'
        )

    def _half(self, place: int) -> int:
        """Half the width of a state."""
        return max(_RADIUS, 4 * len(_name(self._automaton, place)) + 8)

    def _arc(self, edge: Edge) -> str:
        """Forwards above the row, the higher the farther; a loop, or a way back, below it."""
        span, y = self._span(edge), self._middle
        a, b = self._x(edge.source), self._x(edge.target)
        if span == 1:
            left, right = a + self._half(edge.source), b - self._half(edge.target)
            path, text = f"M{left} {y} L{right} {y}", y
        elif span > 0:
            top = y - 16 - _LIFT * span
            path, text = f"M{a + 6} {y - 16} C{a + 40} {top} {b - 40} {top} {b - 6} {y - 16}", top + (y - 16 - top) // 4
        else:
            low = y + 16 + _LIFT + _LIFT * -span
            path, text = f"M{a + 10} {y + 16} C{a + 50} {low} {b - 50} {low} {b - 10} {y + 16}", low - (low - y) // 4
        return f'<path d="{path}" fill="none" stroke="#456" marker-end="url(#tip)"/>' + _texts(
            (a + b) // 2, text, list(_parts(edge)), up=span > 0
        )


def _texts(x: int, y: int, lines: list[str], up: bool) -> str:
    first = y - 5 - 13 * (len(lines) - 1) if up else y + 16
    return "".join(
        f'<text x="{x}" y="{first + 13 * n}" text-anchor="middle" fill="#345">{escape(line)}</text>'
        for n, line in enumerate(lines)
    )
