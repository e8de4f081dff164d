"""A record as a picture: bars for each case and peer, on a logarithmic scale. Plain SVG, no library."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10
from typing import Any

from benchmarks.peers.registry import PENSTOCK

LABEL, WIDTH, BAR, GAP, TOP, RIGHT = 190, 460, 16, 5, 58, 90
INK, PAPER, OURS, THEIRS, GRID = "#222", "#fff", "#c2410c", "#64748b", "#e2e8f0"


def svg(record: dict[str, Any]) -> str | None:
    """The job's own metric of everyone who has it; None if nobody has."""
    metric = record["metric"]
    measured = [r for r in record["results"] if metric in r["metrics"]]
    if not measured:
        return None
    values = [r["metrics"][metric]["median"] for r in measured]
    low, high = floor(log10(min(values) * 0.999)), ceil(log10(max(values) * 1.001))
    parts, y, case = [], float(TOP), None
    for result in measured:
        if result["case"] != case:
            case, y = result["case"], y + 2 * GAP + BAR
            parts.append(_text(8, y - GAP, case, bold=True))
        parts.append(_bar(result, metric, y, low, high))
        y += BAR + GAP
    head = [_text(8, 20, record["title"], 15, True), _text(8, 37, _subtitle(record), 11)]
    body = [*_grid(low, high, y), *head, *parts]
    size = f'width="{LABEL + WIDTH + RIGHT}" height="{y + 12:.0f}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    back = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{back}{"".join(body)}</svg>\n'


def _subtitle(record: dict[str, Any]) -> str:
    quick = ", quick run" if record["quick"] else ""
    return f"{record['metric'].replace('_', ' ')}, medians, logarithmic; {record['machine']['cores']} cores{quick}"


def _at(value: float, low: int, high: int) -> float:
    return WIDTH * (log10(value) - low) / (high - low)


def _bar(result: dict[str, Any], metric: str, y: float, low: int, high: int) -> str:
    found = result["metrics"][metric]
    colour = OURS if result["peer"] == PENSTOCK else THEIRS
    width, middle = max(1.0, _at(found["median"], low, high)), y + BAR / 2
    first, last = (LABEL + _at(found[end], low, high) for end in ("low", "high"))
    spread = f'<path d="M{first:.1f} {middle}H{last:.1f}" stroke="{INK}" stroke-width="1.5"/>'
    bar = f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>'
    name = _text(LABEL - 6, y + BAR - 4, result["peer"], anchor="end")
    return name + bar + spread + _text(LABEL + max(width, last - LABEL) + 5, y + BAR - 4, f"{found['median']:,.0f}")


def _grid(low: int, high: int, bottom: float) -> list[str]:
    places = ((LABEL + _at(10.0**power, low, high), 10**power) for power in range(low, high + 1))
    return [
        f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{GRID}"/>' + _text(x, TOP, f"{value:,}", 10, anchor="middle")
        for x, value in places
    ]


def _text(x: float, y: float, text: str, size: int = 12, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}"{weight}>'
        f"{escape(text)}</text>"
    )
