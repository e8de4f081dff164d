"""The kinds of values that settings take, and how an option of Penstock is written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from penstock.core.config.option import EVERYWHERE, ConfigOption, Values
from penstock.core.time.spans import parse_duration_ms

__all__ = ["chosen", "duration_ms", "flag", "folder", "listed", "number", "one_of", "setting", "size", "text", "whole"]

T = TypeVar("T")
D = TypeVar("D")

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_SPANS = ((3_600_000, "h"), (60_000, "min"), (1000, "s"))


def setting(
    key: str,
    values: Values[T],
    default: D,
    description: str,
    hosts: tuple[str, ...] = EVERYWHERE,
    *,
    batch_default: D | None = None,
    **more: Any,
) -> ConfigOption[T | D]:
    """An option with all that must be known of it; `more` are the other fields of `ConfigOption`."""
    return ConfigOption(key, values.kind, default, values, description, hosts, batch_default=batch_default, **more)


def whole(least: int) -> Values[int]:
    """Whole numbers.

    >>> whole(1).read("5")
    5
    """
    return Values(int, f"a whole number of at least {least}", lambda text: _at_least(int(text), least))


def size(least: int = 1) -> Values[int]:
    """Numbers of bytes.

    >>> size().written(256 << 20), size().show(256 << 20), size().show(1000)
    ('268435456', '256 MiB', '1000')
    """
    return Values(int, whole(least).expected, whole(least).read, shown=_shown_size)


def number(least: float, most: float | None = None) -> Values[float]:
    """Numbers between two others, or above one."""
    expected = f"a number of at least {least}" if most is None else f"a number between {least} and {most}"
    return Values(float, expected, lambda text: _at_least(float(text), least, most))


def duration_ms() -> Values[int]:
    """Spans of time; read in milliseconds.

    >>> duration_ms().read("10 s"), duration_ms().written(90_000), duration_ms().written(60_000)
    (10000, '90 s', '1 min')
    """
    return Values(int, "a duration like '10 s', '1 min' or '500 ms'", parse_duration_ms, _shown_span)


def flag() -> Values[bool]:
    """True or false, in any case."""
    return Values(bool, "true or false", _flag, lambda value: str(value).lower())


def one_of(*names: str) -> Values[str]:
    """Names, as they are written.

    >>> one_of("quick", "full").expected
    'one of quick, full'
    """
    return Values(str, f"one of {', '.join(names)}", lambda text: _known(text, dict(zip(names, names, strict=True))))


def chosen(names: Sequence[str], also: Mapping[str, str] | None = None, expected: str = "") -> Values[str]:
    """Names in any case; read as they stand in `names`. `also`: other spellings, in lower case."""
    known = {name.lower(): name for name in names} | dict(also or {})
    return Values(str, expected or f"one of {', '.join(names)}", lambda text: _known(text.lower(), known))


def text(expected: str = "a text") -> Values[str]:
    """Any text."""
    return Values(str, expected, str)


def folder(expected: str = "a folder") -> Values[str]:
    """Paths, or addresses of a file system."""
    return Values(str, expected, _path)


def listed(separator: str) -> Values[str]:
    """Paths in one text; the code that uses them takes it apart."""
    return Values(str, f"paths with {separator!r} between them", _path)


def _at_least(value: T, least: Any, most: Any = None) -> T:
    if not (value >= least and (most is None or value <= most)):
        raise ValueError(value)
    return value


def _flag(text: str) -> bool:
    return _known(text.lower(), {"true": True, "false": False})


def _known(text: str, known: Mapping[str, T]) -> T:
    if text not in known:
        raise ValueError(text)
    return known[text]


def _path(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def _shown_size(size: int) -> str:
    found = (f"{size // unit} {name}" for unit, name in _SIZES if size and size % unit == 0)
    return next(found, str(size))


def _shown_span(span_ms: int) -> str:
    found = (f"{span_ms // unit} {name}" for unit, name in _SPANS if span_ms and span_ms % unit == 0)
    return next(found, f"{span_ms} ms")
