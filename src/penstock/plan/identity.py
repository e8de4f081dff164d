"""What an operator without a uid of its own is known by in a checkpoint (docs/decisions/0011-whose-checkpoint.md).

Its generated uid is a place and a name, which another program may have too. So its *mark* goes with it: what kind of
operator it is, the functions in it, and the same of all that comes before it. A source has nothing before it, so that
the operators that it feeds stand for it. Operators with a uid of their own count by that uid alone. Names of jobs,
parallelism, and the data in functions do not count: a job may be renamed, rescaled and given other arguments.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial, singledispatch
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from penstock.core.program.marks import Mark
from penstock.core.program.specs import SourceSpec
from penstock.graph.stream_graph import StreamGraph, StreamNode

__all__ = ["marks_of"]

_DEPTH = 6
_MOST_ITEMS = 100
_Tokens = tuple[str, ...]
"""What was found, each with its code behind a tab where it has some that counts."""


def marks_of(graph: StreamGraph) -> dict[int, Mark]:
    """The mark of every operator whose uid is not the user's."""
    reading = _Reading(graph)
    return {node.node_id: _mark(reading.lineage(node)) for node in graph.nodes if node.uid is None}


def _mark(tokens: Iterable[str]) -> Mark:
    known = list(tokens)
    names = [token.partition("\t")[0] for token in known]
    return Mark(python=_python(), code=_digest(known), names=_digest(names))


def _python() -> str:
    """What compiled code depends on beside its source."""
    return f"{sys.version_info.major}.{sys.version_info.minor}{'-O' * sys.flags.optimize}"


def _digest(tokens: Iterable[str]) -> str:
    return blake2b("\n".join(tokens).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class _Reading:
    """Reads a graph, each operator once."""

    def __init__(self, graph: StreamGraph) -> None:
        self._graph = graph
        self._nodes = {node.node_id: node for node in graph.nodes}
        self._own: dict[int, _Tokens] = {}
        self._before: dict[int, _Tokens] = {}
        self._behind: dict[int, _Tokens] = {}

    def lineage(self, node: StreamNode) -> _Tokens:
        """An operator and what comes before it; a source and what comes behind it."""
        if isinstance(node.spec, SourceSpec):
            return self._from_here(node, self._behind, self._outputs)
        return self._from_here(node, self._before, self._inputs)

    def _from_here(
        self, node: StreamNode, known: dict[int, _Tokens], neighbours: Callable[[StreamNode], Iterator[_Tokens]]
    ) -> _Tokens:
        if node.uid is not None:
            return (f"uid {node.uid}",)
        if node.node_id not in known:
            known[node.node_id] = ()  # a loop, which a later pass refuses
            found = sorted(neighbours(node))
            # digests keep a graph of many branches from growing with the number of its paths
            code = _digest(token for tokens in found for token in tokens)
            names = _digest(token.partition("\t")[0] for tokens in found for token in tokens)
            known[node.node_id] = (*self._tokens(node), f"beside {names}\t{code}")
        return known[node.node_id]

    def _inputs(self, node: StreamNode) -> Iterator[_Tokens]:
        for edge in self._graph.inputs(node.node_id):
            here = (f"input {edge.input} {edge.tag}", *_found(edge.exchange))
            yield (*here, *self._from_here(self._nodes[edge.source], self._before, self._inputs))

    def _outputs(self, node: StreamNode) -> Iterator[_Tokens]:
        for edge in self._graph.outputs(node.node_id):
            here = (f"input {edge.input} {edge.tag}", *_found(edge.exchange))
            yield (*here, *self._from_here(self._nodes[edge.target], self._behind, self._outputs))

    def _tokens(self, node: StreamNode) -> _Tokens:
        if node.node_id not in self._own:
            self._own[node.node_id] = (type(node.spec).__name__, *_found(node.spec))
        return self._own[node.node_id]


# -- functions and classes in what an operator is made of -----------------------------------------


def _found(value: object) -> _Tokens:
    return tuple(_walk(value, _DEPTH, {}))


_DATA = (str, bytes, int, float, complex, ModuleType, type(None))
_Deeper = Callable[[Iterable[Any]], Iterator[str]]


def _walk(value: Any, depth: int, seen: dict[int, Any]) -> Iterator[str]:
    """Names of functions and classes, with their code if it is the user's; data is passed over."""
    if depth < 0 or id(value) in seen or isinstance(value, _DATA):
        return
    seen[id(value)] = value  # kept, so that no other object gets its id meanwhile
    yield from _tokens_of(value, partial(_walk_all, depth=depth - 1, seen=seen))


@singledispatch
def _tokens_of(value: Any, deeper: _Deeper) -> Iterator[str]:
    """The tokens of one value; `deeper` walks what it is made of."""
    yield _token(type(value).__name__, type(value), _class_code)
    if _is_ours(type(value)) or _is_users(type(value)):
        yield from _identity(value)
        yield from deeper(_attributes(value))


@_tokens_of.register(FunctionType)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    yield _token(value.__name__, value, _function_code)
    yield from deeper([cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)])


@_tokens_of.register(MethodType)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    return deeper([value.__func__, value.__self__])


@_tokens_of.register(partial)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    return deeper([value.func, *value.args, *value.keywords.values()])


@_tokens_of.register(type)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    yield _token(value.__name__, value, _class_code)


@_tokens_of.register(list)
@_tokens_of.register(tuple)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    return deeper(value[:_MOST_ITEMS])


@_tokens_of.register(dict)
def _(value: Any, deeper: _Deeper) -> Iterator[str]:
    return deeper(list(value.values())[:_MOST_ITEMS])


def _walk_all(values: Iterable[object], depth: int, seen: dict[int, object]) -> Iterator[str]:
    for value in values:
        yield from _walk(value, depth, seen)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _identity(value: object) -> Iterator[str]:
    """What a source says that tells it from others of its class."""
    said = getattr(value, "identity", None)
    if _is_ours(type(value)) and callable(said):
        yield f"is {said()}"


def _attributes(value: object) -> list[object]:
    if is_dataclass(value):
        return [getattr(value, field.name, None) for field in fields(value)]
    return [found for _, found in sorted(getattr(value, "__dict__", {}).items())]


def _token(name: str, owner: object, code: Callable[[Any], Iterator[str]]) -> str:
    return f"{name}\t{_digest(code(owner))}" if _is_users(owner) else name


def _is_ours(owner: object) -> bool:
    return str(getattr(owner, "__module__", "")).startswith("penstock.")


def _is_users(owner: object) -> bool:
    """Whether something belongs to the program, not to Python, Penstock or a library that is installed."""
    if _is_ours(owner):
        return False
    module = sys.modules.get(str(getattr(owner, "__module__", "")))
    if module is None or module.__name__ == "__main__":
        return module is not None or isinstance(owner, (FunctionType, type))
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    installed = any(part in file for part in ("site-packages", "dist-packages"))
    return not installed and not file.startswith(f"{sys.base_prefix}/lib/python")


# -- code -----------------------------------------------------------------------------------------


def _function_code(function: Any) -> Iterator[str]:
    return _code(function.__code__, function.__doc__)


def _class_code(cls: type) -> Iterator[str]:
    """The methods of a class and of those of its bases that are the user's."""
    for base in cls.__mro__:
        if not _is_users(base):
            continue
        for name, value in sorted(vars(base).items()):
            function = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(function, FunctionType):
                yield name
                yield from _function_code(function)


def _code(code: CodeType, doc: str | None = None) -> Iterator[str]:
    """What code does, without where it stands and what is said about it."""
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        elif constant is not None and constant != doc:  # None stands where a docstring could
            yield _constant(constant)


def _constant(value: object) -> str:
    """As text that is the same in every process: the order of a set is not."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    return f"{type(value).__name__} {value!r}"
