"""Modules that have moved: what was pickled under the old path is found under the new one.

Checkpoints and savepoints of older versions name modules, and so may pickles of users. `MOVED` is consulted when a
module of an old path is imported, and when a name is missing from a package that has taken the place of a module. It
holds paths as they were: a script that renames modules everywhere must leave this file alone, but for the new paths.
Entries are never removed.

New pickles do not need it: see `penstock/pickled.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["MOVED", "install"]

MOVED: dict[str, tuple[str, ...]] = {}
"""Old path of a module -> where its names are now, tried in order."""


class _Finder(MetaPathFinder):
    """Knows old paths. It comes first, since a package may have taken the place of a module of the same name."""

    def __init__(self, moved: dict[str, tuple[str, ...]]) -> None:
        self._moved = moved
        self._parents = {old.rsplit(".", n)[0] for old in moved for n in range(1, old.count(".") + 1)}

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        moved = fullname in self._moved
        if not moved and fullname not in self._parents:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is None:
            return ModuleSpec(fullname, _Alias(self._forward(fullname)), is_package=fullname in self._parents)
        if moved and found.loader is not None:
            _extend(found.loader, self._forward(fullname))
        return found

    def _forward(self, old: str) -> Callable[[str], Any]:
        def lookup(name: str) -> Any:
            if not name.startswith("__"):
                for module in self._moved.get(old, ()):
                    found = import_module(module)
                    if hasattr(found, name):
                        return getattr(found, name)
            raise AttributeError(f"module {old!r} has no attribute {name!r}")

        return lookup


class _Alias(Loader):
    """Stands for a module that is gone."""

    def __init__(self, lookup: Callable[[str], Any]) -> None:
        self._lookup = lookup

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__getattr__"] = self._lookup


def _extend(loader: Any, lookup: Callable[[str], Any]) -> None:
    """Let the package that this loader loads find the names of the module that it has taken the place of."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        module.__dict__.setdefault("__getattr__", lookup)

    loader.exec_module = exec_module


def install(moved: dict[str, tuple[str, ...]] = MOVED) -> MetaPathFinder:
    """Make old paths importable in this process."""
    finder = _Finder(moved)
    sys.meta_path.insert(0, finder)
    return finder


install()
