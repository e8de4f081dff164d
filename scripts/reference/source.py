"""Finds the definition of a class or a function in its file, and writes signatures as the file has them.

The text of the source is taken rather than `inspect.signature`: it is the same under every version of Python, and names
in annotations stay as short as the author wrote them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Definition", "annotation_text", "call", "definitions", "fields", "parameter", "signature"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_WIDTH = 110


def definitions(found: Any) -> list[ast.stmt]:
    """All statements that define it: a class has one, an overloaded function or a property may have several."""
    places: list[ast.stmt] = []
    scope: Sequence[ast.stmt] = _parsed(sys.modules[found.__module__]).body
    for part in found.__qualname__.split("."):
        places = [node for node in scope if isinstance(node, ast.ClassDef | Definition) and node.name == part]
        scope = places[0].body if places and isinstance(places[0], ast.ClassDef) else ()
    return places


@cache
def _parsed(module: Any) -> ast.Module:
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign]:
    """Public attributes that the class declares with a type."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign):
            name, kind = ast.unparse(statement.target), ast.unparse(statement.annotation)
            if not name.startswith("_") and not kind.startswith("ClassVar"):
                yield statement


def signature(name: str, node: Definition, bound: bool) -> str:
    """`name(parameters) -> type`; without the first parameter where the function is bound to it."""
    parameters = list(_parameters(node.args))[bound:]
    return call(name, parameters) + (f" -> {annotation_text(node.returns)}" if node.returns is not None else "")


def call(name: str, parameters: list[str]) -> str:
    """One line, or a parameter to a line where that would be too long."""
    while parameters and parameters[-1] in ("/", "*"):
        parameters.pop()
    if parameters and parameters[0] == "/":
        parameters = parameters[1:]
    line = f"{name}({', '.join(parameters)})"
    if len(line) <= _WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + ")"


def _parameters(args: ast.arguments) -> Iterator[str]:
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    for place, (arg, default) in enumerate(zip(positional, [*defaults, *args.defaults], strict=True)):
        if not _hidden(arg, place):
            yield parameter(arg.arg, arg.annotation, default)
        if place + 1 == len(args.posonlyargs):
            yield "/"
    if args.vararg is not None:
        yield parameter(f"*{args.vararg.arg}", args.vararg.annotation, None)
    elif any(not _hidden(arg, 1) for arg in args.kwonlyargs):
        yield "*"
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if not _hidden(arg, 1):
            yield parameter(arg.arg, arg.annotation, default)
    if args.kwarg is not None:
        yield parameter(f"**{args.kwarg.arg}", args.kwarg.annotation, None)


def _hidden(arg: ast.arg, place: int) -> bool:
    """Parameters that begin with an underscore are for Penstock's own use; the first one is `self` or `cls`."""
    return place > 0 and arg.arg.startswith("_")


def parameter(name: str, annotation: ast.expr | None, default: ast.expr | None) -> str:
    typed = f"{name}: {annotation_text(annotation)}" if annotation is not None else name
    if default is None:
        return typed
    return f"{typed} = {_default(default)}" if annotation is not None else f"{typed}={_default(default)}"


def annotation_text(node: ast.expr) -> str:
    """The type as it is written; one in quotes without them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _default(node: ast.expr) -> str:
    """The default as it is written; one that has a private name stays private."""
    text = ast.unparse(node)
    return "..." if text.startswith("_") else text
