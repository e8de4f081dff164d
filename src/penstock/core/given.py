"""Words for an argument of the wrong kind, used in refusals."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["a_class_of", "described", "instance_of"]

T = TypeVar("T")


def described(given: object) -> str:
    """The type of what was given; of a class, what to write instead: most often the brackets were forgotten.

    >>> described(1), described(int)
    ('int', 'the class int itself: create an instance, int(...)')
    """
    if isinstance(given, type):
        return f"the class {given.__name__} itself: create an instance, {given.__name__}(...)"
    return type(given).__name__


def a_class_of(given: object, *kinds: type) -> bool:
    """Whether something is a class where an instance is meant. It can be called, so it would pass as a function."""
    return isinstance(given, type) and issubclass(given, kinds)


def instance_of(given: T, expected: type, where: str) -> T:
    """What was given, if it is an instance of `expected`; else a `TypeError` that says what `where` takes.

    >>> instance_of(1, str, "name()")
    Traceback (most recent call last):
    TypeError: name() takes a str, got int
    """
    if not isinstance(given, expected):
        raise TypeError(f"{where} takes a {expected.__name__}, got {described(given)}")
    return given
