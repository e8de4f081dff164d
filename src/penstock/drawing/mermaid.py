"""Diagrams as Mermaid, which Markdown viewers draw."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.drawing.diagram import Arrow, Box, Diagram, Group

__all__ = ["mermaid", "mermaid_page"]

_OPEN_CLOSE = {"source": ('(["', '"])'), "operator": ('["', '"]'), "sink": ('[("', '")]')}
_CLASSES = (
    "classDef source fill:#eef7f1,stroke:#2e8b57,color:#1d2733",
    "classDef operator fill:#eef3f9,stroke:#3b6ea5,color:#1d2733",
    "classDef sink fill:#fbf1ea,stroke:#b8622b,color:#1d2733",
)
_FRAMES = "classDef frame fill:#f3f7fb,stroke:#8fa5bb,color:#1d2733"


def mermaid(diagram: Diagram) -> str:
    """One graph."""
    return "\n".join(_lines(diagram)) + "\n"


def mermaid_page(diagrams: list[Diagram]) -> str:
    """Several graphs as Markdown."""
    return "\n".join(f"## {diagram.title}\n\n```mermaid\n{mermaid(diagram)}```\n" for diagram in diagrams)


def _lines(diagram: Diagram) -> Iterator[str]:
    yield "flowchart LR"
    for number, group in enumerate(diagram.groups):
        yield from (f"  {line}" for line in _group(number, group))
    for arrow in diagram.arrows:
        yield from (f"  {line}" for line in _arrow(diagram, arrow))
    yield from (f"  {line}" for line in _CLASSES)
    frames = [f"v{number}" for number, group in enumerate(diagram.groups) if group.framed or group.subtasks]
    if frames:
        yield f"  {_FRAMES}"
        yield f"  class {','.join(frames)} frame"


def _group(number: int, group: Group) -> Iterator[str]:
    if group.subtasks:
        yield from _parallel(number, group)
    elif group.framed:
        yield f'subgraph v{number}["× {group.parallelism}"]'
        yield "  direction TB"
        for box in group.boxes:
            yield f"  {_box(box)}"
        for source, target, label in group.links:
            yield f"  {_join(f'n{group.boxes[source].key}', f'n{group.boxes[target].key}', label, bool(label))}"
        yield "end"
    else:
        yield _box(group.boxes[0])


def _parallel(number: int, group: Group) -> Iterator[str]:
    """Subtasks carry the names: a frame's title that is wider than what is in it would lie on its neighbours."""
    names = "<br/>→ ".join(_text(box.title) for box in group.boxes)
    yield f'subgraph v{number}["× {group.parallelism}"]'
    for place, subtask in enumerate(group.subtasks):
        label = "…" if subtask is None else f"{names}<br/><small>{subtask + 1}/{group.parallelism}</small>"
        yield f'  v{number}_{place}(["{label}"]):::{group.role}'
    yield "end"


def _box(box: Box) -> str:
    begin, end = _OPEN_CLOSE[box.role]
    notes = "".join(f"<br/><small>{_text(mark.text)}</small>" for mark in box.marks)
    return f"n{box.key}{begin}{_text(box.title)}{notes}{end}:::{box.role}"


def _arrow(diagram: Diagram, arrow: Arrow) -> Iterator[str]:
    if not arrow.wires:
        ends = (_name(diagram, arrow.source), _name(diagram, arrow.target))
        yield _join(*ends, arrow.label, arrow.tag is not None)
        return
    for number, (i, j) in enumerate(arrow.wires):
        label = arrow.label if number == 0 else ""
        yield _join(f"v{arrow.source}_{i}", f"v{arrow.target}_{j}", label, arrow.tag is not None)


def _name(diagram: Diagram, number: int) -> str:
    group = diagram.groups[number]
    return f"v{number}" if group.framed else f"n{group.boxes[0].key}"


def _join(source: str, target: str, label: str, side: bool) -> str:
    line = "-.->" if side else "-->"
    return f'{source} {line}|"{_text(label)}"| {target}' if label else f"{source} {line} {target}"


def _text(text: str) -> str:
    """Mermaid takes entities for what has a meaning of its own."""
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
