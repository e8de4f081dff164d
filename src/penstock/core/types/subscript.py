"""Classes that PyFlink writes with type parameters."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["Subscriptable"]


class Subscriptable:
    """May be written with type parameters; they are for the reader.

    >>> class Parse(Subscriptable): ...
    >>> Parse[str, int] is Parse
    True
    """

    __slots__ = ()

    def __class_getitem__(cls, parameters: Any) -> type[Self]:
        return cls
