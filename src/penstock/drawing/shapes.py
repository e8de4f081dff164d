"""The boxes of a drawing: operators, chains as boxes in boxes, parallel subtasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from penstock.drawing.diagram import Box, Diagram, Group
from penstock.drawing.labels import NOTE, STATE, WATERMARK, Mark
from penstock.drawing.layout import EdgeIn, lay_out
from penstock.drawing.paths import curve
from penstock.drawing.words import text_width, wrapped

__all__ = ["Shape", "group_shape", "legend"]

_TEXT, _NAME, _NOTE = 210.0, 13.0, 11.0
_PAD, _BAR = 10.0, 5.0
_NAME_LINE, _NOTE_LINE, _ICON = 17.0, 16.0, 16.0
_FRAME, _FRAME_HEAD = 12.0, 22.0
_TASK_WIDTH, _TASK_HEIGHT, _TASK_GAP = 64.0, 30.0, 10.0


@dataclass(frozen=True, slots=True)
class Shape:
    """Something drawn at the origin. `subtasks`: x, y, width, height of each, where there are any."""

    width: float
    height: float
    parts: tuple[str, ...]
    subtasks: tuple[tuple[float, float, float, float], ...] = ()


def group_shape(group: Group, upright: bool) -> Shape:
    """A group as it stands in a drawing whose flow is to the right, or downwards."""
    if group.subtasks:
        return _parallel(group, upright)
    if not group.framed:
        return _alone(group)
    return _chain(group)


# -- operators ------------------------------------------------------------------------------------------------------


def _alone(group: Group) -> Shape:
    (box,) = group.boxes
    note = () if group.parallelism is None else (Mark(NOTE, f"parallelism {group.parallelism}"),)
    return _operator(box, (*box.marks, *note))


def _operator(box: Box, marks: tuple[Mark, ...]) -> Shape:
    """A name, and a line for each mark."""
    title = wrapped(box.title, _TEXT, _NAME, True)
    notes = [(mark, wrapped(mark.text, _TEXT - _indent(mark), _NOTE, lines=1)[0]) for mark in marks if mark.text]
    widths = [text_width(line, _NAME, True) for line in title]
    widths += [text_width(text, _NOTE) + _indent(mark) for mark, text in notes]
    width = max([84.0, *widths]) + 2 * _PAD + _BAR
    height = 2 * 8.0 + _NAME_LINE * len(title) + _NOTE_LINE * len(notes)
    return Shape(width, height, tuple(_operator_parts(box, title, notes, width, height)))


def _operator_parts(
    box: Box, title: list[str], notes: list[tuple[Mark, str]], width: float, height: float
) -> Iterator[str]:
    yield f"<g><title>{escape(box.tip or box.title)}</title>"
    yield f'<rect class="box {box.role}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    edge = f"M5,0 H{_BAR} V{height:.1f} H5 A5,5 0 0 1 0,{height - 5:.1f} V5 A5,5 0 0 1 5,0 z"
    yield f'<path class="bar-{box.role}" d="{edge}"/>'
    x, y = _BAR + _PAD, 8.0
    for line in title:
        yield f'<text class="name" x="{x}" y="{y + 13}">{escape(line)}</text>'
        y += _NAME_LINE
    for mark, text in notes:
        yield _icon(mark.kind, x, y + 8)
        yield f'<text class="note" x="{x + _indent(mark)}" y="{y + 12}">{escape(text)}</text>'
        y += _NOTE_LINE
    yield "</g>"


def _indent(mark: Mark) -> float:
    return 0.0 if mark.kind == NOTE else _ICON


def _icon(kind: str, x: float, y: float) -> str:
    """A drum for state, a clock for watermarks; its left middle is at (x, y)."""
    if kind == STATE:
        return (
            f'<path class="icon-state" d="M{x},{y - 4} v8 a5,2 0 0 0 10,0 v-8"/>'
            f'<ellipse class="icon-state" cx="{x + 5}" cy="{y - 4}" rx="5" ry="2"/>'
        )
    if kind == WATERMARK:
        return (
            f'<circle class="icon" cx="{x + 5}" cy="{y}" r="5"/>'
            f'<path class="icon" d="M{x + 5},{y - 3} V{y} L{x + 7.4},{y + 1.6}"/>'
        )
    return ""


# -- chains ---------------------------------------------------------------------------------------------------------


def _chain(group: Group) -> Shape:
    """Operators below each other, in a frame that says how parallel they run."""
    shapes = [_operator(box, box.marks) for box in group.boxes]
    edges = [EdgeIn(s, t, 0.0 if not label else 14.0, text_width(label, _NOTE)) for s, t, label in group.links]
    layout = lay_out([(shape.height, shape.width) for shape in shapes], edges, 11.0)
    head = _times(group)
    width = max(layout.across, text_width(head, _NOTE, True)) + 2 * _FRAME
    height = layout.along + _FRAME_HEAD + _FRAME
    left = (width - layout.across) / 2
    parts = [*_frame(width, height, head, group.title), f'<g transform="translate({left:.1f} {_FRAME_HEAD})">']
    for (_, _, label), route in zip(group.links, layout.routes, strict=True):
        parts.append(_link(route.points, route.label, label))
    for shape, placed in zip(shapes, layout.boxes, strict=True):
        parts += [f'<g transform="translate({placed.across:.1f} {placed.along:.1f})">', *shape.parts, "</g>"]
    return Shape(width, height, (*parts, "</g>"))


def _times(group: Group) -> str:
    return f"× {group.parallelism}"


def _frame(width: float, height: float, head: str, tip: str) -> Iterator[str]:
    yield f"<g><title>{escape(tip)}</title>"
    yield f'<rect class="frame" width="{width:.1f}" height="{height:.1f}" rx="8"/></g>'
    yield f'<text class="times" x="{width - 10:.1f}" y="15" text-anchor="end">{escape(head)}</text>'


def _link(points: tuple[tuple[float, float], ...], middle: tuple[float, float], label: str) -> str:
    side = " side" if label else ""
    line = f'<path class="link{side}" marker-end="url(#link-head)" d="{curve(points, True)}"/>'
    if not label:
        return line
    x, y, width = middle[1], middle[0], text_width(label, _NOTE)
    paper = f'<rect fill="#f4f7fa" x="{x - width / 2:.1f}" y="{y - 7:.1f}" width="{width:.1f}" height="14"/>'
    return f'{line}{paper}<text class="label" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(label)}</text>'


# -- subtasks -------------------------------------------------------------------------------------------------------


def _parallel(group: Group, upright: bool) -> Shape:
    """The names of a chain and its subtasks: stacked below where the flow is to the right, else side by side."""
    titles = [f"→ {box.title}" if number else box.title for number, box in enumerate(group.boxes)]
    names = [line for title in titles for line in wrapped(title, _TEXT, _NAME, True, 2)]
    names_width = max(text_width(name, _NAME, True) for name in names)
    places = tuple(_side_by_side(group, names_width) if upright else _stacked(group, names, names_width))
    width = max(x + w for x, _, w, _ in places) + _FRAME
    height = max(max(y + h for _, y, _, h in places), 12.0 + len(names) * _NAME_LINE) + _FRAME
    if upright:
        places = tuple((x, (height - h) / 2, w, h) for x, _, w, h in places)
    top = (height - len(names) * _NAME_LINE) / 2 if upright else 12.0
    parts = [*_plain_frame(width, height, group.title)]
    for number, name in enumerate(names):
        parts.append(f'<text class="name" x="{_FRAME}" y="{top + 12 + number * _NAME_LINE:.1f}">{escape(name)}</text>')
    for subtask, place in zip(group.subtasks, places, strict=True):
        parts += _task(subtask, group, place, group.role)
    return Shape(width, height, tuple(parts), places)


def _stacked(group: Group, names: list[str], names_width: float) -> Iterator[tuple[float, float, float, float]]:
    top, width = 18.0 + len(names) * _NAME_LINE, max(names_width, 120.0)
    for number in range(len(group.subtasks)):
        yield _FRAME, top + number * (_TASK_HEIGHT + _TASK_GAP), width, _TASK_HEIGHT


def _side_by_side(group: Group, names_width: float) -> Iterator[tuple[float, float, float, float]]:
    """Right of the names: wires come from above and must not cross them."""
    for number in range(len(group.subtasks)):
        yield _FRAME + names_width + 16 + number * (_TASK_WIDTH + _TASK_GAP), _FRAME, _TASK_WIDTH, _TASK_HEIGHT


def _plain_frame(width: float, height: float, tip: str) -> Iterator[str]:
    yield f"<g><title>{escape(tip)}</title>"
    yield f'<rect class="frame" width="{width:.1f}" height="{height:.1f}" rx="8"/></g>'


def _task(subtask: int | None, group: Group, place: tuple[float, float, float, float], role: str) -> list[str]:
    x, y, width, height = place
    middle = f'x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" text-anchor="middle"'
    if subtask is None:
        hidden = (group.parallelism or 0) - sum(number is not None for number in group.subtasks)
        return [f'<text class="note" {middle}>{hidden} more</text>']
    tip = f"<title>{escape(group.title)} ({subtask + 1}/{group.parallelism})</title>"
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return [
        f'<g>{tip}<rect class="box {role}" {size} rx="{height / 2}"/>'
        f'<text class="times" {middle}>{subtask + 1}/{group.parallelism}</text></g>'
    ]


# -- legend ---------------------------------------------------------------------------------------------------------


def legend(diagram: Diagram) -> tuple[str, float]:
    """What the signs of a drawing mean, and how wide it is to say so."""
    parts, x = [], 0.0
    for symbol, text in _entries(diagram):
        parts.append(
            f'<g transform="translate({x:.1f} 0)">{symbol}<text class="note" x="20" y="4">{escape(text)}</text></g>'
        )
        x += 20 + text_width(text, _NOTE) + 18
    return "".join(parts), x


def _entries(diagram: Diagram) -> Iterator[tuple[str, str]]:
    for role in ("source", "operator", "sink"):
        yield f'<rect class="box {role}" y="-6" width="13" height="12" rx="3"/>', role
    boxes = [box for group in diagram.groups for box in group.boxes]
    kinds = {mark.kind for box in boxes for mark in box.marks} if not diagram.groups[0].subtasks else set()
    if WATERMARK in kinds:
        yield _icon(WATERMARK, 1, 0), "watermarks are made here"
    if STATE in kinds:
        yield _icon(STATE, 1, 0), "keeps state"
    if any(arrow.tag for arrow in diagram.arrows):
        yield '<path class="edge side" d="M0,0 H15"/>', "side output"
    if diagram.groups[0].framed and not diagram.groups[0].subtasks:
        yield '<rect class="frame" y="-6" width="13" height="12" rx="3"/>', "a chain: one task, one thread"
