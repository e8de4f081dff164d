"""Marks: tell an operator with a generated uid from another operator at the same place of another program."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Mark"]


class Mark(NamedTuple):
    """Digests of an operator and what comes before it: with the code of its functions, and by their names alone.

    `python`: the version that compiled the code; another compiles the same source to other code.

    >>> old = Mark.read("3.11/ab12/77")
    >>> old.same(Mark("3.11", "cd34", "77")), old.same(Mark("3.12", "cd34", "77"))
    (False, True)
    """

    python: str
    code: str
    names: str

    def __str__(self) -> str:
        return "/".join(self)

    @staticmethod
    def read(text: str) -> Mark:
        """A mark as notes have it; ValueError if it is none."""
        python, code, names = text.split("/")
        return Mark(python, code, names)

    def same(self, other: Mark) -> bool:
        """Whether both may be of the same operator: by code where it can be compared, else by names."""
        return self.code == other.code if self.python == other.python else self.names == other.names
