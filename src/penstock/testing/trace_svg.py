"""Draws a trace as SVG: processing time to the right, event time upwards. Plain text, no library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.testing.trace import Firing, Trace

__all__ = ["draw"]

WIDTH, HEIGHT = 960, 620
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 64, 92
_COLOURS = ("#3b76b0", "#5b9a68", "#8a6bb1", "#b0813b")
_STYLE = """
text { font: 12px sans-serif; fill: #333 }
.title { font-size: 16px; font-weight: bold }
.axis { stroke: #333; fill: none }
.grid { stroke: #ddd }
.watermark { stroke: #c0392b; stroke-width: 2; fill: none }
.record { fill: #222 }
.late { fill: #fff; stroke: #e67e22; stroke-width: 2.5 }
.lost { stroke: #c0392b; stroke-width: 2.5 }
.waiting { fill-opacity: 0.12; stroke-dasharray: 4 3 }
.fired { stroke-width: 5 }
.count { font-weight: bold }
"""


@dataclass(frozen=True, slots=True)
class _Scale:
    """From milliseconds to places on the page."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.begin + share * (self.end - self.begin), 1)

    def ticks(self) -> list[int]:
        """About eight round numbers."""
        rough = max(1.0, (self.high - self.low) / 8)
        power = 10 ** (len(str(int(rough))) - 1)
        step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough)
        first = -(-self.low // step) * step
        return [int(first + n * step) for n in range(int((self.high - first) // step) + 1)]


def draw(trace: Trace, title: str) -> str:
    """The whole picture."""
    x, y = _scales(trace)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_axes(x, y, title),
        *_windows(trace, x, y),
        *_watermark(trace, x, y),
        *_records(trace, x, y),
        *_legend(trace),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _scales(trace: Trace) -> tuple[_Scale, _Scale]:
    arrivals = [r.at_ms for r in trace.records] + [at for at, _ in trace.watermarks] + [f.at_ms for f in trace.firings]
    stamps = [r.timestamp for r in trace.records] + [edge for f in trace.firings for edge in (f.start, f.end)]
    x = _padded([*arrivals, trace.end_ms])
    y = _padded(stamps or [0])
    return _Scale(*x, LEFT, WIDTH - RIGHT), _Scale(*y, HEIGHT - BOTTOM, TOP)


def _padded(values: Sequence[int]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = max(1.0, (high - low) * 0.04)
    return low - margin, high + margin


# -- paper ------------------------------------------------------------------------------------------------


def _axes(x: _Scale, y: _Scale, title: str) -> Iterator[str]:
    bottom, left, right = HEIGHT - BOTTOM, LEFT, WIDTH - RIGHT
    for at in x.ticks():
        yield _line(x(at), TOP, x(at), bottom, "grid")
        yield _text(x(at), bottom + 18, str(at), "middle")
    for at in y.ticks():
        yield _line(left, y(at), right, y(at), "grid")
        yield _text(left - 8, y(at) + 4, str(at), "end")
    yield f'<path class="axis" d="M{left},{TOP} V{bottom} H{right}"/>'
    yield _text((left + right) / 2, bottom + 38, "processing time (ms): when a record arrived", "middle")
    middle = (TOP + bottom) / 2
    yield (
        f'<text text-anchor="middle" transform="translate(20 {middle}) rotate(-90)">'
        "event time (ms): when it happened</text>"
    )
    yield f'<text class="title" x="{left}" y="28">{escape(title or "Event time against processing time")}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str, more: str = "") -> str:
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{more}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


# -- what happened --------------------------------------------------------------------------------------------


def _windows(trace: Trace, x: _Scale, y: _Scale) -> Iterator[str]:
    """A band for each window, from its first record until it is gone; a bar for each time it fired."""
    spans = sorted({(f.start, f.end) for f in trace.firings})
    for number, (start, end) in enumerate(spans):
        colour = _COLOURS[number % len(_COLOURS)]
        firings = [f for f in trace.firings if (f.start, f.end) == (start, end)]
        yield from _window(trace, firings, colour, x, y)


def _window(trace: Trace, firings: Sequence[Firing], colour: str, x: _Scale, y: _Scale) -> Iterator[str]:
    start, end = firings[0].start, firings[0].end
    first_fired, last_fired = min(f.at_ms for f in firings), max(f.at_ms for f in firings)
    opened = min((r.at_ms for r in trace.records if start <= r.timestamp < end), default=first_fired)
    gone = max(last_fired, _passed(trace, end - 1 + trace.lateness_ms))
    tip = f"window [{start}, {end}): " + ", ".join(f"{f.records} of {f.key!r} at {f.at_ms}" for f in firings)
    yield f'<g fill="{colour}" stroke="{colour}"><title>{escape(tip)}</title>'
    yield _box(x(opened), x(first_fired), y(end), y(start), ' fill-opacity="0.2"')
    if gone > first_fired:
        yield _box(x(first_fired), x(gone), y(end), y(start), ' class="waiting"')
    yield from (_line(x(at), y(start), x(at), y(end), "fired") for at in sorted({f.at_ms for f in firings}))
    yield "</g>"
    for at in sorted({f.at_ms for f in firings}):
        yield _text(x(at) - 6, y(start) - 6, str(sum(f.records for f in firings if f.at_ms == at)), "end", "count")


def _passed(trace: Trace, moment: int) -> int:
    """When the watermark had reached a moment: at the end of the input at the latest."""
    return min((at for at, mark in trace.watermarks if mark >= moment), default=trace.end_ms)


def _box(x1: float, x2: float, y1: float, y2: float, more: str) -> str:
    return f'<rect x="{x1}" y="{y1}" width="{round(x2 - x1, 1)}" height="{round(y2 - y1, 1)}"{more}/>'


def _watermark(trace: Trace, x: _Scale, y: _Scale) -> Iterator[str]:
    """Steps; below the picture it is at the bottom edge."""
    if not trace.watermarks:
        return
    bottom = y(y.low)
    path = [f"M{x(x.low)},{bottom}"]
    for at, mark in trace.watermarks:
        path.append(f"H{x(at)} V{min(bottom, max(y(y.high), y(mark)))}")
    path.append(f"H{x(trace.end_ms)} V{y(y.high)}")
    yield f'<path class="watermark" d="{" ".join(path)}"><title>watermark</title></path>'


def _records(trace: Trace, x: _Scale, y: _Scale) -> Iterator[str]:
    for record in trace.records:
        fate = "lost: all its windows were gone" if record.lost else "late" if record.late else "on time"
        tip = f"{record.key!r} at {record.timestamp}, arrived {record.at_ms}, {fate}"
        mark = _cross if record.lost else _ring if record.late else _dot
        yield f"<g><title>{escape(tip)}</title>{mark(x(record.at_ms), y(record.timestamp))}</g>"


def _dot(x: float, y: float) -> str:
    return f'<circle class="record" cx="{x}" cy="{y}" r="4"/>'


def _ring(x: float, y: float) -> str:
    return f'<circle class="late" cx="{x}" cy="{y}" r="5"/>'


def _cross(x: float, y: float) -> str:
    return f'<path class="lost" d="M{x - 5},{y - 5} l10,10 m0,-10 l-10,10"/>'


# -- legend -------------------------------------------------------------------------------------------------------


def _legend(trace: Trace) -> Iterator[str]:
    y = HEIGHT - 22
    colour = _COLOURS[0]
    lateness = f' class="waiting" fill="{colour}" stroke="{colour}"'
    entries: Sequence[tuple[str, str, int]] = (
        (_dot(0, -4), "record", 78),
        (_ring(0, -4), "late record, taken", 148),
        (_cross(0, -4), "too late, lost", 118),
        (_line(-8, -4, 8, -4, "watermark"), "watermark", 100),
        (_box(-9, 9, -10, 2, f' fill="{colour}" fill-opacity="0.3"'), "window fills", 106),
        (_line(0, -11, 0, 3, "fired", f' stroke="{colour}"'), "fires (records)", 120),
        (_box(-9, 9, -10, 2, lateness), f"allowed lateness, {trace.lateness_ms} ms", 0),
    )
    x = LEFT + 10
    for symbol, text, width in entries if trace.lateness_ms else entries[:-1]:
        yield f'<g transform="translate({x} {y})">{symbol}{_text(15, 0, text)}</g>'
        x += width
