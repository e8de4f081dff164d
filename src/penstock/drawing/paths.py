"""Points and lines of a drawing: along and across become x and y."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

__all__ = ["curve", "digits", "point"]


def curve(points: Sequence[tuple[float, float]], upright: bool) -> str:
    """A smooth line that leaves and arrives in the direction of flow."""
    path = [f"M{_xy(points[0], upright)}"]
    for before, here in itertools.pairwise(points):
        if before[1] == here[1]:
            path.append(f"L{_xy(here, upright)}")
        else:
            middle = (before[0] + here[0]) / 2
            path.append(f"C{_xy((middle, before[1]), upright)} {_xy((middle, here[1]), upright)} {_xy(here, upright)}")
    return " ".join(path)


def point(at: tuple[float, float], upright: bool) -> tuple[float, float]:
    """Along and across as x and y."""
    return (at[1], at[0]) if upright else at


def _xy(at: tuple[float, float], upright: bool) -> str:
    x, y = point(at, upright)
    return f"{digits(x)},{digits(y)}"


def digits(value: float) -> str:
    """A number without needless digits."""
    return f"{value:.1f}".removesuffix(".0")
