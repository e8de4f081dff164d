"""Which operators a program has built and never run, for the command line to tell."""

from __future__ import annotations

from itertools import count

__all__ = ["Programs", "programs"]


class Programs:
    """Operators that the environments of this process have built and not yet executed.

    >>> seen = Programs()
    >>> environment = seen.enter()
    >>> seen.built(environment, "Source")
    >>> seen.forgotten(), seen.any_used
    (['Source'], False)
    >>> seen.used(environment)
    >>> seen.forgotten(), seen.any_used
    ([], True)
    """

    def __init__(self) -> None:
        self._numbers = count()
        self.begin()

    def begin(self) -> None:
        """A script starts: what was built before does not concern it."""
        self._waiting: dict[int, list[str]] = {}
        self.any_used = False

    def enter(self) -> int:
        """The number of a new environment."""
        return next(self._numbers)

    def built(self, environment: int, operator: str) -> None:
        """An environment has got another operator."""
        self._waiting.setdefault(environment, []).append(operator)

    def used(self, environment: int) -> None:
        """The operators were run, shown as a plan, or given up."""
        self._waiting.pop(environment, None)
        self.any_used = True

    def forgotten(self) -> list[str]:
        """Names of operators with which nothing was done."""
        return [name for names in self._waiting.values() for name in names]


programs = Programs()
