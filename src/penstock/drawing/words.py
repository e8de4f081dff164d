"""How wide text is, and where to break it, without asking a font."""

from __future__ import annotations

__all__ = ["text_width", "wrapped"]

_NARROW = frozenset("iljtfrI.,:;|!'()[]{}/\\ `\"")
_WIDE = frozenset("mwMW@%—→")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Pixels that a line may take; rather too many than too few.

    >>> text_width("ill", 10) < text_width("map", 10) < text_width("WMW", 10)
    True
    """
    return sum(map(_em, text)) * size * (1.12 if bold else 1.0)


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.39
    if letter in _WIDE:
        return 0.98
    if ord(letter) > 0x2E80:
        return 1.05
    return 0.72 if letter.isupper() else 0.63


def wrapped(text: str, width: float, size: float, bold: bool = False, lines: int = 3) -> list[str]:
    """Lines of at most this width; the last one ends in an ellipsis if there was more.

    >>> wrapped("a rather long name of an operator", 95, 13)
    ['a rather long', 'name of an', 'operator']
    >>> wrapped("TumblingEventTimeWindows", 150, 13)
    ['TumblingEventTime', 'Windows']
    >>> wrapped("x" * 40, 60, 10, lines=1)
    ['xxxxxxxx…']
    """
    made: list[str] = []
    rest = text.strip()
    while rest and len(made) < lines:
        cut = _cut(rest, width, size, bold)
        made.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    if rest:
        last = made[-1]
        while last and text_width(last + "…", size, bold) > width:
            last = last[:-1]
        made[-1] = last + "…"
    return made


def _cut(text: str, width: float, size: float, bold: bool) -> int:
    """How many letters fit; between words if that is not too early."""
    fits = len(text)
    while fits > 1 and text_width(text[:fits], size, bold) > width:
        fits -= 1
    if fits == len(text):
        return fits
    between = max((i for i in range(1, fits + 1) if _may_break(text, i)), default=0)
    return between if between >= fits // 3 else fits


def _may_break(text: str, at: int) -> bool:
    """Between words, behind a stroke, and where a capital letter begins a new part of a name."""
    before, here = text[at - 1], text[at : at + 1]
    return here == " " or before in "-_./" or (before.islower() and here.isupper())
