"""What there is to say about a class: how it is declared and constructed, and which members it has."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import inspect
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from scripts.reference.names import public_names
from scripts.reference.source import Definition, annotation_text, call, definitions, fields, parameter, signature

__all__ = ["Member", "declaration", "inherited", "members"]

_NOT_SHOWN = ("ABC", "Protocol", "object")


@dataclass(frozen=True, slots=True)
class Member:
    """A method, property, attribute or nested class. `signatures` has a line for each overload."""

    name: str
    signatures: tuple[str, ...]
    doc: str


def declaration(found: type) -> list[str]:
    """The line with `class`, and the way it is constructed if users construct it."""
    (node,) = definitions(found)[:1]
    assert isinstance(node, ast.ClassDef)
    bases = [ast.unparse(base) for base in node.bases if _is_shown(base, found)]
    line = f"class {found.__name__}({', '.join(bases)})" if bases else f"class {found.__name__}"
    return [line, *_constructors(found)]


def _is_shown(base: ast.expr, found: type) -> bool:
    name = ast.unparse(base).partition("[")[0]
    return name not in _NOT_SHOWN and not _is_private(name, found)


def members(found: type) -> list[Member]:
    """Public members in the order of the source; those of private base classes after the class's own."""
    if issubclass(found, enum.Enum):
        values = [Member(name, (name,), "") for name in found.__members__]
        return [*values, *_written(found)]
    return list(_written(found))


def inherited(found: type) -> Iterator[tuple[str, list[str]]]:
    """(public base class, the names of its public members that this class does not define anew)."""
    own = {member.name for member in members(found)}
    for base in _public_bases(found):
        names = [member.name for member in members(base) if member.name not in own]
        own.update(names)
        if names:
            yield base.__name__, names


def _written(found: type) -> Iterator[Member]:
    seen: set[str] = set()
    for owner in _described_here(found):
        for name, value in vars(owner).items():
            if not name.startswith("_") and name not in seen and (member := _member(owner, name, value)) is not None:
                seen.add(name)
                yield member
                yield from _nested(name, value)


def _described_here(found: type) -> list[type]:
    """The class and its private bases: a reader can look up the members of a public base at that base."""
    hidden_by = [set(inspect.getmro(base)) for base in _public_bases(found)]
    return [owner for owner in _ours(found) if not any(owner in theirs for theirs in hidden_by)]


def _public_bases(found: type) -> list[type]:
    public = {id(name.found) for name in public_names().values()}
    return [base for base in _ours(found)[1:] if id(base) in public]


def _ours(found: type) -> list[type]:
    return [owner for owner in inspect.getmro(found) if owner.__module__.startswith("penstock")]


def _member(owner: type, name: str, value: Any) -> Member | None:
    if isinstance(value, property):
        return _property(owner, name, value)
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    if inspect.isfunction(function):
        bound = not isinstance(value, staticmethod)
        return Member(name, tuple(_signatures(name, function, bound)), _doc_of_method(owner, name))
    if inspect.isclass(value) and value.__module__.startswith("penstock"):
        return Member(name, (f"class {name}",), inspect.getdoc(value) or "")
    return None


def _property(owner: type, name: str, value: property) -> Member:
    returns = next(
        (node.returns for node in definitions(value.fget) if isinstance(node, Definition) and node.returns), None
    )
    line = f"{name}: {annotation_text(returns)}" if returns is not None else name
    return Member(name, (line,), _doc_of_method(owner, name))


def _nested(name: str, value: Any) -> Iterator[Member]:
    """Members of a class inside the class, such as the context of a process function."""
    if inspect.isclass(value) and value.__module__.startswith("penstock"):
        for member in _written(value):
            yield dataclasses.replace(member, name=f"{name}.{member.name}")


def _signatures(name: str, function: Any, bound: bool) -> Iterator[str]:
    """Of all overloads if there are any, else of the function."""
    nodes = [node for node in definitions(function) if isinstance(node, Definition)]
    overloads = [node for node in nodes if any(ast.unparse(d).endswith("overload") for d in node.decorator_list)]
    for node in overloads or nodes[-1:]:
        yield signature(name, node, bound)


def function_signatures(name: str, function: Any) -> list[str]:
    """Of a function outside any class."""
    return list(_signatures(name, function, bound=False))


def _doc_of_method(owner: type, name: str) -> str:
    """Its own docstring, or that of the method it overrides."""
    return inspect.getdoc(getattr(owner, name)) or ""


# -- construction -------------------------------------------------------------------------------------


def _constructors(found: type) -> list[str]:
    """Empty if users get objects of this class from elsewhere, or if it is constructed without arguments."""
    if issubclass(found, enum.Enum) or inspect.isabstract(found):
        return []
    for owner in _ours(found):
        if "__init__" in vars(owner) and not _is_made(owner):
            return _from_init(owner, found)
        if _is_made(owner):
            return [call(found.__name__, list(_field_parameters(owner)))]
    return []


def _is_made(owner: type) -> bool:
    """Its constructor was made from its fields."""
    made = "__dataclass_fields__" in vars(owner) or (issubclass(owner, tuple) and hasattr(owner, "_fields"))
    bodies = [node.body for node in definitions(owner) if isinstance(node, ast.ClassDef)]
    return made and not any(getattr(part, "name", "") == "__init__" for body in bodies for part in body)


def _from_init(owner: type, found: type) -> list[str]:
    nodes = [node for node in definitions(vars(owner)["__init__"]) if isinstance(node, Definition)]
    if not nodes or any(_is_private(name, owner) for node in nodes for name in _names_in(node.args)):
        return []
    lines = list(_signatures(found.__name__, vars(owner)["__init__"], bound=True))
    return [line.removesuffix(" -> None") for line in lines if not line.startswith(f"{found.__name__}() ")]


def _field_parameters(owner: type) -> Iterator[str]:
    wanted = (
        {field.name for field in dataclasses.fields(owner) if field.init} if dataclasses.is_dataclass(owner) else None
    )
    declared: dict[str, str] = {}
    for base in reversed(_ours(owner)):
        for node in definitions(base)[:1]:
            assert isinstance(node, ast.ClassDef)
            for field in fields(node):
                assert isinstance(field.target, ast.Name)
                if wanted is None or field.target.id in wanted:
                    declared[field.target.id] = parameter(field.target.id, field.annotation, _field_default(field))
    return iter(declared.values())


def _field_default(field: ast.AnnAssign) -> ast.expr | None:
    """The default; of `field(default_factory=...)` only that there is one."""
    if isinstance(field.value, ast.Call) and ast.unparse(field.value.func).endswith("field"):
        named = {keyword.arg: keyword.value for keyword in field.value.keywords}
        factory = ast.Constant(...) if "default_factory" in named else None
        return named.get("default", factory)
    return field.value


def _names_in(args: ast.arguments) -> Iterator[str]:
    """Names of types that parameters of a constructor have."""
    for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
        if arg.annotation is not None and not arg.arg.startswith("_"):
            tree = ast.parse(annotation_text(arg.annotation), mode="eval")
            yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _is_private(name: str, owner: type) -> bool:
    """Whether the name, as the owner's module sees it, is a class of Penstock that users cannot import."""
    if name in public_names():
        return False
    if name.startswith("_"):
        return True
    module = vars(sys.modules[owner.__module__])
    if name not in module:  # imported for type checking alone
        return not hasattr(builtins, name) and not hasattr(typing, name)
    value = module[name]
    return inspect.isclass(value) and value.__module__.startswith("penstock") and not isinstance(value, TypeVar)
