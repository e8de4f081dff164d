"""Write tests/parity/pyflink-2.3.json: names, parameters and defaults of PyFlink's public API. Only facts.

Runs under an interpreter that has `apache-flink==2.3.0`:

    python scripts/pyflink_signatures.py tests/parity/pyflink-2.3.json

Left out is what exists for the bridge to the JVM alone: names with an underscore, `get_java_*`, `to_j_*`, parameters
named `j_*`. A constructor that cannot be called without such a parameter is not the user's to call: it is left out too.
A signature is a list: its kind, then one text per parameter (`name`, `name=default`, `*name`, `**name`).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

ROOTS = ("pyflink.common", "pyflink.datastream", "pyflink.metrics", "pyflink.util")
PLAIN = (int, float, str, bytes, bool, type(None))


def extract() -> dict[str, Any]:
    """Module (without `pyflink.`) -> name -> what it is."""
    modules = {name.partition(".")[2]: _module(importlib.import_module(name)) for name in sorted(_names())}
    return {name: content for name, content in modules.items() if content}


def _names() -> Iterator[str]:
    for root in ROOTS:
        yield root
        for found in pkgutil.walk_packages(importlib.import_module(root).__path__, f"{root}."):
            if not any(part.startswith("_") or part == "tests" for part in found.name.split(".")):
                yield found.name


def _module(module: Any) -> dict[str, Any]:
    is_package = hasattr(module, "__path__")
    assigned = _assigned(module)
    found = {}
    for name, value in sorted(vars(module).items()):
        if not is_public(name) or inspect.ismodule(value):
            continue
        if is_package:
            if (owner := getattr(value, "__module__", "")).startswith("pyflink."):
                found[name] = ["export", owner.partition(".")[2]]
        elif (name in assigned or hasattr(value, "__module__")) and (
            described := _described(value, module.__name__)
        ) is not None:
            found[name] = described
    return found


def _assigned(module: Any) -> set[str]:
    """Names that the module gives a value itself; others it has imported."""
    statements = ast.parse(inspect.getsource(module) or "").body
    targets = [t for s in statements if isinstance(s, ast.Assign) for t in s.targets]
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _described(value: Any, module: str) -> Any:
    if inspect.isclass(value):
        return _class(value) if value.__module__ == module else None
    if inspect.isfunction(value):
        return ["function", *parameters(value)] if value.__module__ == module else None
    return ["value", repr(value)] if isinstance(value, PLAIN) else None


def _class(cls: type) -> dict[str, Any]:
    bases = [f"{b.__module__.partition('.')[2]}.{b.__qualname__}" for b in cls.__bases__ if _ours(b)]
    members = {}
    for name, value in sorted(vars(cls).items()):
        if name == "__init__" and (signature := _constructor(value)) is not None:
            members[name] = signature
        elif is_public(name) and (described := _member(cls, value)) is not None:
            members[name] = described
    return {"bases": bases, "members": members, "enum": issubclass(cls, Enum)}


def _ours(base: type) -> bool:
    return base.__module__.startswith("pyflink.") and not base.__name__.startswith("_")


def _member(cls: type, value: Any) -> Any:
    if isinstance(value, (staticmethod, classmethod)):
        return [type(value).__name__, *parameters(value.__func__, isinstance(value, classmethod))]
    if isinstance(value, property):
        return ["property"]
    if inspect.isclass(value):
        return _class(value)
    if inspect.isfunction(value):
        return ["method", *parameters(value, True)]
    if isinstance(value, cls) and isinstance(value, Enum):
        return ["member", repr(value.value)]
    return ["value", repr(value)] if isinstance(value, PLAIN) else None


def _constructor(function: Any) -> list[str] | None:
    if not inspect.isfunction(function):
        return None
    bridge = [p for p in inspect.signature(function).parameters.values() if p.name.startswith("j_")]
    if any(p.default is p.empty for p in bridge):
        return None
    return ["method", *parameters(function, True)]


def parameters(function: Any, bound: bool = False) -> list[str]:
    """Parameters as texts, without self or cls if `bound`, and without those of the bridge."""
    found = list(inspect.signature(function).parameters.values())[1 if bound else 0 :]
    return [_parameter(p) for p in found if not p.name.startswith("j_")]


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
    default = "" if parameter.default is parameter.empty else f"={default_text(parameter.default)}"
    keyword = "keyword " if parameter.kind is parameter.KEYWORD_ONLY else ""
    return f"{keyword}{stars}{parameter.name}{default}"


def default_text(value: Any) -> str:
    """A default as text: its repr, of objects without a stable one the type's name."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return repr(value) if isinstance(value, (*PLAIN, tuple, list, dict)) else f"{type(value).__name__}(...)"


def is_public(name: str) -> bool:
    return not name.startswith(("_", "j_", "get_java_", "to_j_"))


def dump(modules: dict[str, Any]) -> str:
    """JSON with one line per function, member or value."""
    return "\n".join(_lines(modules, 0)) + "\n"


def _lines(value: dict[str, Any], depth: int) -> Iterator[str]:
    yield "{" if depth == 0 else ""
    indent = " " * (depth + 1)
    items = list(value.items())
    for number, (key, item) in enumerate(items):
        comma = "," if number + 1 < len(items) else ""
        if isinstance(item, dict) and item:
            inner = list(_lines(item, depth + 1))[1:]
            yield f"{indent}{json.dumps(key)}: {{"
            yield from inner[:-1]
            yield f"{indent}}}{comma}"
        else:
            yield f"{indent}{json.dumps(key)}: {json.dumps(item)}{comma}"
    yield "}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(dump(extract()), encoding="utf-8")
