"""Finds the public names: all that the facades list in `__all__`, wherever the code behind them lives."""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["PublicName", "public_names"]

# Facades that are public with all their modules, and modules that are public alone.
PACKAGES = ("penstock.common", "penstock.datastream", "penstock.cep", "penstock.metrics", "penstock.table")
MODULES = ("penstock.state", "penstock.testing", "penstock.testing.trace")


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name that users import. `modules` are the modules that have it, the shortest path first."""

    name: str
    found: Any
    modules: tuple[str, ...]

    def statement(self) -> str:
        return f"from {self.modules[0]} import {self.name}"


@cache
def public_names() -> dict[str, PublicName]:
    """Name -> what it is and where it is imported from, sorted by name."""
    modules: dict[str, list[str]] = defaultdict(list)
    found: dict[str, Any] = {}
    for module in facades():
        for name in module.__all__:
            value = getattr(module, name)
            if found.setdefault(name, value) is not value:
                raise ValueError(f"{name} is one thing in {modules[name][0]} and another in {module.__name__}")
            modules[name].append(module.__name__)
    return {name: PublicName(name, found[name], _by_length(modules[name])) for name in sorted(found, key=str.lower)}


def facades() -> Iterator[ModuleType]:
    """Every public module."""
    for name in PACKAGES:
        package = import_module(name)
        yield package
        for info in pkgutil.walk_packages(package.__path__, f"{name}."):
            yield import_module(info.name)
    yield from (import_module(name) for name in MODULES)


def _by_length(modules: list[str]) -> tuple[str, ...]:
    return tuple(sorted(modules, key=lambda module: (module.count("."), module)))
