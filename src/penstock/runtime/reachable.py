"""The classes that a plan's functions and records refer to and that no import finds, always in the same order."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["importable", "unimportable_classes"]

_ATOMS = (type(None), bool, int, float, complex, str, bytes, bytearray)
_LARGE = 1000
"""Of collections with more items than this, one item of each type is looked at: a source may hold millions."""


def importable(cls: type) -> bool:
    """Whether pickle finds a class by its name: it is an attribute of its module."""
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def unimportable_classes(root: object) -> list[type]:
    """Every class that is reachable from `root` and cannot be imported, first met first.

    The program that defines them is the same in the driver and in each worker, so the order is the same there.
    """
    found: dict[type, None] = {}
    seen: dict[int, Any] = {}
    todo = [root]
    while todo:
        one = todo.pop()
        if isinstance(one, _ATOMS) or id(one) in seen:
            continue
        seen[id(one)] = one  # kept, so that no other object takes its number
        if isinstance(one, type) and not _is_foreign(one.__module__) and not importable(one):
            found[one] = None
        todo.extend(reversed(list(_parts(one))))
    return list(found)


@functools.singledispatch
def _parts(one: object) -> Iterable[object]:
    """The objects that an object of the program refers to; objects of libraries are not followed."""
    return _of_object(one)


@_parts.register(types.FunctionType)
def _(one: Any) -> Iterable[object]:
    return _of_function(one)


@_parts.register(types.MethodType)
def _(one: Any) -> Iterable[object]:
    return one.__func__, one.__self__


@_parts.register(functools.partial)
def _(one: Any) -> Iterable[object]:
    return one.func, *one.args, *one.keywords.values()


@_parts.register(type)
def _(one: Any) -> Iterable[object]:
    return _of_class(one)


@_parts.register(staticmethod)
@_parts.register(classmethod)
def _(one: Any) -> Iterable[object]:
    return (one.__func__,)


@_parts.register(property)
def _(one: Any) -> Iterable[object]:
    return one.fget, one.fset


@_parts.register(dict)
def _(one: Any) -> Iterable[object]:
    return _some([*one.keys(), *one.values()])


@_parts.register(list)
@_parts.register(tuple)
@_parts.register(set)
@_parts.register(frozenset)
def _(one: object) -> Iterable[object]:
    return type(one), *_some(one)


@_parts.register(types.ModuleType)
def _(one: object) -> Iterable[object]:
    return ()


def _some(items: Any) -> Iterable[object]:
    if len(items) <= _LARGE:
        return list(items)
    return {type(item): item for item in items}.values()


def _of_function(function: types.FunctionType) -> Iterator[object]:
    if _is_foreign(function.__module__):
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # a name that has no value yet
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def _names(code: types.CodeType) -> Iterator[str]:
    """The globals that a function, or a function inside it, may use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _of_class(cls: type) -> Iterator[object]:
    if not _is_foreign(cls.__module__):
        yield from cls.__bases__
        yield from cls.__dict__.values()


def _of_object(one: object) -> Iterator[object]:
    cls = type(one)
    yield cls
    if _is_foreign(cls.__module__) and not cls.__module__.startswith("penstock."):
        return
    yield from getattr(one, "__dict__", {}).values()
    for base in cls.__mro__:
        for member in base.__dict__.values():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield member.__get__(one)
                except AttributeError:
                    continue  # a slot that has no value


@functools.lru_cache(1024)
def _is_foreign(module: str | None) -> bool:
    """Whether a module belongs to Python, to Penstock or to an installed library rather than to the program."""
    top = (module or "").partition(".")[0]
    if top in sys.stdlib_module_names or top in ("penstock", "builtins", ""):
        return top != "__main__"
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file
